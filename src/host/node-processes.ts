import { spawn, type ChildProcess as NodeChild } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import { delimiter, resolve } from "node:path";
import { DiskError } from "./disk.ts";
import { captureOutput } from "./node-capture.ts";
import { codeOf } from "./node-disk.ts";
import type {
  ChildExit,
  ChildProcess,
  FoundProcess,
  ProcessIdentity,
  Processes,
  SpawnRequest,
} from "./processes.ts";

/** The processes of this machine. */
export function nodeProcesses(): Processes {
  let self: ProcessIdentity | undefined;
  return {
    get self() {
      return (self ??= identify());
    },
    capture: captureOutput,
    spawn: startChild,
    spawnDetached: startDetached,
    findByEnvironment: async (name, value) => findByEnvironment(`${name}=${value}`),
    isAlive: (pid) => isPid(pid) && (kill(pid, 0) ?? "EPERM") === "EPERM",
    signal: (pid, signal) => isPid(pid) && kill(pid, signal) === undefined,
  };
}

function identify(): ProcessIdentity {
  return {
    pid: process.pid,
    startTime: startTicksOf("self") ?? String(Math.round(performance.timeOrigin)),
    bootId: readText("/proc/sys/kernel/random/boot_id")?.trim() ?? "",
    host: os.hostname(),
    user: userName(),
  };
}

function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`; // A container may run under a number that no user has.
  }
}

function startTicksOf(pid: string): string | undefined {
  return statField(pid, 22);
}

/** A field of the kernel's line about a process, from 3 on, as proc(5) counts them. */
function statField(pid: string, field: number): string | undefined {
  const text = readText(`/proc/${pid}/stat`);
  // The name of the command, in parentheses, may hold blanks and parentheses itself; state is the field after it.
  return text
    ?.slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .at(field - 3);
}

function readText(path: string): string | undefined {
  try {
    return fs.readFileSync(path, "utf8");
  } catch {
    return undefined; // No such platform, no such process any more, or not ours to read.
  }
}

/** 0 and below mean groups and everybody to kill(2). */
function isPid(pid: number): boolean {
  return Number.isSafeInteger(pid) && pid > 0;
}

/** The code of the failure, or undefined where the signal was sent. */
function kill(pid: number, signal: NodeJS.Signals | 0): string | undefined {
  try {
    process.kill(pid, signal);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

// Node gives a child one pipe for each stream, and their order is lost. The shell joins them and becomes the command,
// so the pid stays the command's own. What the shell adds to the environment by itself goes again.
const joinStreams = (env: SpawnRequest["env"]): string => {
  const added = ["PWD", "OLDPWD", "SHLVL"].filter((name) => !(name in env));
  return `exec 2>&1; ${added.length > 0 ? `unset ${added.join(" ")}; ` : ""}exec "$0" "$@"`;
};

function startChild(request: SpawnRequest): ChildProcess {
  try {
    const file = findProgram(request);
    const child = spawn("/bin/sh", ["-c", joinStreams(request.env), file, ...request.args], {
      cwd: request.cwd,
      env: request.env,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return followChild(child, request.file);
  } catch (error) {
    return failedChild(
      error instanceof DiskError ? error : new DiskError(codeOf(error), "start", request.file, error),
    );
  }
}

/**
 * The program's absolute path, found as a shell would. Looked up before the start since afterwards a missing program,
 * a missing directory and a program that ended with 127 look the same.
 */
function findProgram({ file, cwd, env }: SpawnRequest): string {
  try {
    if (!fs.statSync(cwd).isDirectory()) throw new DiskError("ENOTDIR", "start in", cwd);
    fs.accessSync(cwd, fs.constants.X_OK);
  } catch (error) {
    throw error instanceof DiskError ? error : new DiskError(codeOf(error), "start in", cwd, error);
  }
  const candidates = file.includes("/")
    ? [resolve(cwd, file)]
    : (env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin")
        .split(delimiter)
        .map((directory) => resolve(cwd, directory, file));
  let code = "ENOENT";
  for (const candidate of candidates) {
    const fault = faultOfProgram(candidate);
    if (fault === undefined) return candidate;
    if (fault !== "ENOENT" && fault !== "ENOTDIR") code = fault;
  }
  throw new DiskError(code, "start", file);
}

function faultOfProgram(path: string): string | undefined {
  try {
    fs.accessSync(path, fs.constants.X_OK);
    return fs.statSync(path).isFile() ? undefined : "EACCES";
  } catch (error) {
    return codeOf(error);
  }
}

function followChild(child: NodeChild, file: string): ChildProcess {
  const exited = new Promise<ChildExit>((settle, reject) => {
    child.once("error", (error) => reject(new DiskError(codeOf(error), "start", file, error)));
    child.once("exit", (code, signal) =>
      settle({ ...(code === null ? {} : { code }), ...(signal === null ? {} : { signal }) }),
    );
  });
  exited.catch(() => undefined); // Whoever asks gets the rejection; whoever never asks must not end the process by it.
  const output = child.stdout;
  output?.on("error", () => output.destroy()); // Read errors end the output as its end does.
  const group = child.pid;
  return {
    pid: group ?? 0,
    exited,
    onOutput(chunk, ended) {
      if (output === null || output.destroyed) {
        queueMicrotask(ended);
        return;
      }
      output.on("data", chunk);
      output.once("close", ended);
    },
    signalGroup: (signal) => group !== undefined && kill(-group, signal) === undefined,
    detachOutput() {
      output?.removeAllListeners("data").removeAllListeners("close");
      output?.destroy();
      child.unref();
    },
  };
}

function failedChild(error: DiskError): ChildProcess {
  const exited = Promise.reject(error);
  exited.catch(() => undefined); // As above.
  return {
    pid: 0,
    exited,
    onOutput: (_chunk, ended) => queueMicrotask(ended),
    signalGroup: () => false,
    detachOutput: () => undefined,
  };
}

function startDetached(request: SpawnRequest & { readonly errorFile?: string }): { readonly pid: number } {
  const file = findProgram(request);
  const errors = request.errorFile === undefined ? undefined : openForErrors(request.errorFile);
  try {
    const child = spawn(file, request.args, {
      cwd: request.cwd,
      env: request.env,
      detached: true,
      stdio: ["ignore", "ignore", errors ?? "ignore"],
    });
    child.once("error", () => undefined); // Told by the missing pid already.
    child.unref();
    if (child.pid === undefined) throw new DiskError("EAGAIN", "start", request.file);
    return { pid: child.pid };
  } catch (error) {
    throw error instanceof DiskError ? error : new DiskError(codeOf(error), "start", request.file, error);
  } finally {
    if (errors !== undefined) fs.closeSync(errors);
  }
}

function openForErrors(path: string): number {
  try {
    return fs.openSync(path, "a", 0o600);
  } catch (error) {
    throw new DiskError(codeOf(error), "open", path, error);
  }
}

function findByEnvironment(entry: string): FoundProcess[] {
  return listPids().flatMap((pid) => {
    if (pid === process.pid) return [];
    const environment = readText(`/proc/${pid}/environ`);
    if (environment === undefined || !environment.split("\0").includes(entry)) return [];
    const command = readText(`/proc/${pid}/cmdline`)?.split("\0").join(" ").trim();
    return [{ pid, group: Number(statField(String(pid), 5) ?? 0), command: command ?? "" }];
  });
}

function listPids(): number[] {
  try {
    return fs
      .readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return []; // No such platform.
  }
}
