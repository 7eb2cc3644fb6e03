import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { bundleForNode } from "../peers/bundle.ts";

/** The system calls of a program by which bytes become durable, in order, each with its file below the directory. */
function syncsOf(program: string, directory: string): string[] | undefined {
  const trace = join(directory, "trace");
  const calls = "trace=fsync,fdatasync,ftruncate";
  const args = ["-f", "-y", "-e", calls, "-o", trace, process.execPath, program, directory];
  const { status, error } = spawnSync("strace", args, { stdio: ["ignore", "ignore", "inherit"] });
  if (error !== undefined) return undefined;
  expect(status).toBe(0);
  return [...readFileSync(trace, "utf8").matchAll(/ (fsync|fdatasync|ftruncate)\(\d+<([^>]*)>.*= 0$/gm)].map(
    ([, call, path]) => `${call} ${relative(directory, path ?? "") || "the directory"}`,
  );
}

// Everything that is tried with a disk in memory counts on these.
test("what is synced on the real disk is synced by the system: a file, a directory, and a cut", async (context) => {
  const program = await bundleForNode("test/peers/sync-peer.ts");
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-syncs-")));
  try {
    const syncs = syncsOf(program, directory);
    if (syncs === undefined)
      return context.skip("the program `strace`, which shows system calls, is not installed");
    expect(syncs).toEqual(["fdatasync file", "fsync the directory", "ftruncate file", "fsync file"]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
