import { spawn } from "node:child_process";
import type { Ended, Place } from "./program.ts";

/** The commands that messages offer, run as they stand. */

/** The command lines of ours in a text; those that go on over several lines as one. */
export function commandsIn(text: string): string[] {
  const joined = text.replaceAll(/\\\n\s*/g, "");
  const lines = joined.matchAll(
    /holdfast (?:--\S+ (?:'[^']*'|\S+) )*(?:--help|agent|run|resume|send|queue|session|store|demo)\b[^\n]*/g,
  );
  return [...lines].map(([line]) => line.replace(/\s+$/, ""));
}

/** Runs the first command that a hint names, in a shell as whoever copies it does. */
export async function runHint(place: Place, hint: string, more: readonly string[] = []): Promise<Ended> {
  const [command = ""] = commandsIn(hint);
  // What follows a command in a sentence is set off by a dash.
  const [words = ""] = command.split(" — ");
  if (words === "") throw new Error(`there is no command in ${JSON.stringify(hint)}`);
  return await runInShell(place, [words, ...more].join(" "));
}

/** Runs a line in a shell that knows our program by its name. */
export async function runInShell(place: Place, line: string): Promise<Ended> {
  const program = `holdfast() { '${process.execPath}' '${place.program}' "$@"; }`;
  const child = spawn("sh", ["-c", `${program}\n${line}`], { cwd: place.folder, env: place.env() });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.end();
  return await new Promise((done) => child.on("close", (code) => done({ code, stdout, stderr })));
}
