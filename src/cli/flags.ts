import { resolve } from "node:path";
import { HoldfastError } from "../model/errors.ts";
import type { Call, GlobalFlags, OutputForm } from "./call.ts";
import { shellWord } from "./call.ts";
import type { LightOutside } from "./outside.ts";

/** From flags to a call. */

/** Commands that tell what happens as it happens: their output goes to a program where it goes to no terminal. */
const progressKinds = new Set(["run", "resume"]);

/** The call that a command's global flags make. Throws `usage` where they contradict each other. */
export function callOf<O extends LightOutside>(outside: O, kind: string, flags: GlobalFlags): Call<O> {
  const { stateDir, singleWriter = false, json = false, format } = flags;
  if (stateDir?.trim() === "") throw new HoldfastError("usage", "--state-dir names no directory");
  if (json && format !== undefined) {
    throw new HoldfastError("usage", "--json and --format contradict each other", { hint: "Leave one out." });
  }
  if (format === "jsonl" && !progressKinds.has(kind)) {
    throw new HoldfastError("usage", "--format jsonl is for run and resume", {
      hint: "Other commands answer with one document: --json.",
    });
  }
  const stateDirectory =
    stateDir === undefined ? outside.stateDirectory : resolve(outside.currentDirectory, stateDir);
  const words = [
    "holdfast",
    ...(stateDir === undefined ? [] : ["--state-dir", shellWord(stateDirectory)]),
    ...(singleWriter ? ["--single-writer"] : []),
  ];
  const form = json ? "json" : formOf(outside, kind, format);
  return { outside, kind, form, stateDirectory, singleWriter, program: words.join(" ") };
}

function formOf(outside: LightOutside, kind: string, format: string | undefined): OutputForm {
  if (format === "text" || format === "jsonl") return format;
  return progressKinds.has(kind) && !outside.stdout.isTerminal ? "jsonl" : "text";
}

/** The call as far as it can be told where the command line could not be understood. */
export function brokenCall<O extends LightOutside>(
  outside: O,
  kind: string,
  args: readonly string[],
): Call<O> {
  const end = args.indexOf("--");
  const words = end === -1 ? args : args.slice(0, end);
  const json = words.includes("--json");
  const format = valueOf(words, "--format");
  return {
    outside,
    kind,
    form: json ? "json" : formOf(outside, kind, format),
    stateDirectory: outside.stateDirectory,
    singleWriter: false,
    program: "holdfast",
  };
}

function valueOf(words: readonly string[], flag: string): string | undefined {
  const index = words.indexOf(flag);
  if (index !== -1) return words[index + 1];
  return words.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
}
