import type { CommanderError } from "commander";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Call, GlobalFlags } from "./call.ts";
import { callOf } from "./flags.ts";
import type { FlagRow } from "./list-words.ts";
import { globalFlagRows } from "./list-words.ts";
import type { Outside } from "./outside.ts";

/** What all commands have in common: global flags, help with examples, and how a command is called. */

/** One command line on its way: where output of the parser goes, and what the command came to. */
export interface Reading {
  readonly outside: Outside;
  /** Help or the version, as the parser wrote it. */
  printed: string;
  exitCode: number;
  /** The command's call, as soon as its flags are understood; what fails after that is told as it asks. */
  call?: Call;
}

/** The parser stopped: it showed help or the version, or it did not understand. */
export class ParserStop extends Error {
  override readonly name = "ParserStop";
  /** The command whose words were read. */
  readonly command: Command;
  readonly stop: CommanderError;

  constructor(command: Command, stop: CommanderError) {
    super(stop.message, { cause: stop });
    this.command = command;
    this.stop = stop;
  }
}

/** Longer lines are harder to read, also where there is room. */
const helpColumnsMax = 80;
const globalGroup = "Global options:";

/** Makes a command. `examples` are command lines without the program's name, each with what it does. */
export function declareCommand(
  reading: Reading,
  name: string,
  about: { readonly description: string; readonly examples: readonly (readonly [string, string])[] },
): Command {
  const [summary = ""] = about.description.split("\n");
  const command = new Command(name).description(about.description).summary(summary);
  const helpColumns = () => Math.min(reading.outside.stdout.columns, helpColumnsMax);
  command
    .enablePositionalOptions()
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (one) => one.name() })
    .exitOverride((stop) => {
      throw new ParserStop(command, stop);
    })
    .configureOutput({
      writeOut: (text) => void (reading.printed += text),
      writeErr: (text) => void (reading.printed += text),
      // What it says of an error is in the error as well.
      outputError: () => undefined,
      getOutHelpWidth: helpColumns,
      getErrHelpWidth: helpColumns,
    })
    .addHelpOption(new Option("-h, --help", "show this help").helpGroup(globalGroup));
  const lines = about.examples.flatMap(([line, what]) => [`  # ${what}`, `  holdfast ${line}`]);
  if (lines.length > 0) command.addHelpText("after", ["", "Examples:", ...lines].join("\n"));
  return command;
}

/** Adds the flags that every command takes; they work before and after a command's name. */
export function addGlobalFlags(command: Command): Command {
  command.optionsGroup(globalGroup);
  addFlags(command, globalFlagRows);
  return command.addOption(new Option("--format <form>", "how progress is told").choices(["text", "jsonl"]));
}

/** Adds flags as a table declares them. */
export function addFlags(command: Command, rows: readonly FlagRow[]): void {
  for (const { flag, value, about } of rows) {
    if (value === undefined) command.option(flag, about);
    else command.option(`${flag} <${value}>`, about, once);
  }
}

/** Lets a command do its work: `perform` gets the call that the global flags make, and resolves to the exit code. */
export function perform(
  reading: Reading,
  command: Command,
  work: (call: Call, ...args: string[]) => Promise<number>,
): Command {
  return command.action(async (...given: unknown[]) => {
    const args = given.slice(0, command.registeredArguments.length) as string[];
    const call = callOf(reading.outside, kindOf(command), globalFlags(command));
    reading.call = call;
    reading.exitCode = await work(call, ...args);
  });
}

/** How a command is named in documents: its words, joined; the program itself is `holdfast`. */
export function kindOf(command: Command): string {
  const words: string[] = [];
  for (let one: Command | null = command; one?.parent; one = one.parent) words.unshift(one.name());
  return words.length === 0 ? "holdfast" : words.join("_");
}

/** A parser for a flag that may be given once. */
export function once(value: string, before: string | undefined): string {
  if (before !== undefined) throw new InvalidArgumentError("It is given twice.");
  return value;
}

/** Adds a further value of a flag that may be given again and again. */
export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

/** What a command was given, the nearest word winning over those before it. */
function globalFlags(command: Command): GlobalFlags {
  const flags = {};
  for (let one: Command | null = command; one !== null; one = one.parent) {
    const { stateDir, singleWriter, json, format } = one.opts<GlobalFlags>();
    const given = { stateDir, singleWriter, json, format };
    for (const [name, value] of Object.entries(given)) {
      if (value !== undefined && !Object.hasOwn(flags, name)) Object.assign(flags, { [name]: value });
    }
  }
  return flags;
}
