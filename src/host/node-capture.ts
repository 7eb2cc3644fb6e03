import { execFile } from "node:child_process";
import { DiskError } from "./disk.ts";
import type { SpawnRequest } from "./processes.ts";

const outputBytesMax = 16 * 1024 * 1024;

/** Runs a short program to its end; see {@link Processes.capture}. */
export function captureOutput(
  request: SpawnRequest,
  timeoutMs: number,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { file, args, cwd, env } = request;
  return new Promise((resolve, reject) => {
    execFile(
      file,
      [...args],
      { cwd, env, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: outputBytesMax, encoding: "utf8" },
      (error, stdout, stderr) => {
        if (error === null) return resolve({ code: 0, stdout, stderr });
        if (typeof error.code === "number") return resolve({ code: error.code, stdout, stderr });
        const code = error.killed === true ? "ETIMEDOUT" : (error.code ?? "ESPAWN");
        reject(new DiskError(code, "run", file, error));
      },
    );
  });
}
