import type { Command } from "commander";
import { HoldfastError } from "../model/errors.ts";
import type { Call } from "./call.ts";
import { shellWord } from "./call.ts";
import type { Reading } from "./declare.ts";
import { addGlobalFlags, declareCommand, kindOf, ParserStop } from "./declare.ts";
import { declareAgent } from "./declare-agent.ts";
import { declareDemo } from "./declare-demo.ts";
import { declareQueue, declareSend } from "./declare-queue.ts";
import { declareResume, declareRun } from "./declare-runs.ts";
import { declareSession, declareStore } from "./declare-sessions.ts";
import { documentOf } from "./document.ts";
import { failureOf, reportFailure, reportStack, wrote } from "./failure.ts";
import { brokenCall } from "./flags.ts";
import type { Outside } from "./outside.ts";
import { nearestName } from "./text/nearest.ts";

/** Runs one command; resolves to the exit code. Never rejects: this is the edge where every error is told. */
export async function runCommandLine(args: readonly string[], outside: Outside): Promise<number> {
  const reading: Reading = { outside, printed: "", exitCode: 0 };
  const program = declareProgram(reading);
  const words = withRun(program, args);
  try {
    return await obey(program, reading, words);
  } catch (error) {
    const call = reading.call ?? brokenCall(outside, kindOfWords(program, words), words);
    await reportStack(call, error);
    return await reportFailure(call, failureOf(error, call));
  }
}

async function obey(program: Command, reading: Reading, words: readonly string[]): Promise<number> {
  try {
    await program.parseAsync([...words], { from: "user" });
    return reading.exitCode;
  } catch (error) {
    if (error instanceof ParserStop) return await stopParsing(reading, words, error);
    throw error;
  }
}

function declareProgram(reading: Reading): Command {
  const program = declareCommand(reading, "holdfast", {
    description:
      "Durable sessions for coding agents: kill them at any instant, resume from\nfacts on disk; what is known to have happened is never done again.",
    examples: [
      [`run --task "Fix the failing test" --model anthropic/claude-sonnet-4-5`, "start"],
      ["session list", "see what there is"],
      ["resume ses_01m8przqmpfx81qrqzwwv0wwr3", "go on after whatever happened"],
    ],
  });
  program.optionsGroup("Options:").version(reading.outside.version, "-V, --version", "show the version");
  addGlobalFlags(program);
  program.commandsGroup("Commands:");
  const talking = [declareRun, declareResume, declareSend, declareQueue];
  for (const declare of [...talking, declareSession, declareAgent, declareStore, declareDemo]) {
    program.addCommand(declare(reading));
  }
  return program;
}

/** `--resume SES` before any command means `run --resume SES`. */
function withRun(program: Command, args: readonly string[]): readonly string[] {
  const run = program.commands.find((command) => command.name() === "run");
  const options = [...program.options, ...(run?.options ?? [])];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? "";
    if (word === "--" || !word.startsWith("-")) return args;
    if (word === "--resume" || word.startsWith("--resume=")) return ["run", ...args];
    const option = options.find((one) => one.long === word || one.short === word);
    if (option?.required === true) index++;
  }
  return args;
}

async function stopParsing(reading: Reading, words: readonly string[], stopped: ParserStop): Promise<number> {
  const { command, stop } = stopped;
  const kind = kindOf(command);
  const call = brokenCall(reading.outside, kind, words);
  if (stop.exitCode === 0) return await show(call, reading, stop.code);
  if (stop.code === "commander.help") {
    const missing = new HoldfastError("usage", "there is no command", { hint: `See: ${helpOf(kind)}` });
    if (call.form === "text") await wrote(reading.outside.stderr.write(reading.printed));
    return await reportFailure(call, failureOf(missing, call));
  }
  const { message, suggestion } = misunderstanding(stopped, words);
  const hint = [suggestion, `See: ${helpOf(kind)}`].filter((part) => part !== "").join("\n");
  return await reportFailure(call, failureOf(new HoldfastError("usage", message, { hint }), call));
}

/** What was not understood, and what may have been meant. */
function misunderstanding(
  { command, stop }: ParserStop,
  words: readonly string[],
): { message: string; suggestion: string } {
  const names = command.commands.map((one) => one.name());
  const [word = ""] = command.args;
  if (stop.code === "commander.excessArguments" && names.length > 0) {
    // `run` takes no words but the names of its commands, so any other word is meant to be one.
    const near = nearestName(word, names);
    const suggestion = near === undefined ? taskSuggestion(command, word, words) : `Did you mean ${near}?`;
    return { message: `unknown command '${word}'`, suggestion };
  }
  const [message = "", ...more] = stop.message.replace(/^error: /, "").split("\n");
  return { message, suggestion: more.join(" ").replace(/^\((.*)\)$/, "$1") };
}

/** A word behind `run` that is no command at all may be the task: the same line, with the word as one. */
function taskSuggestion(command: Command, word: string, words: readonly string[]): string {
  const isCommand = command.parent?.commands.some((one) => one.name() === word) === true;
  if (command.name() !== "run" || isCommand) return "";
  const at = words.lastIndexOf(word);
  const meant = words.map((one, index) => (index === at ? `--task ${shellWord(one)}` : shellWord(one)));
  return `A task is given with: holdfast ${meant.join(" ")}`;
}

async function show(call: Call, reading: Reading, code: string): Promise<number> {
  const { stdout, version } = reading.outside;
  const isDocument = call.form === "json" && code === "commander.version";
  const document = documentOf("version", { data: { version } });
  await stdout.write(isDocument ? `${JSON.stringify(document)}\n` : reading.printed);
  return 0;
}

function helpOf(kind: string): string {
  return kind === "holdfast" ? "holdfast --help" : `holdfast ${kind.replaceAll("_", " ")} --help`;
}

/** The command that words name, as far as they name one. */
function kindOfWords(program: Command, words: readonly string[]): string {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (next !== undefined) command = next;
  }
  return kindOf(command);
}
