import type { GlobalFlags } from "./call.ts";
import type { ListFlags } from "./commands/session-list.ts";

/**
 * The words of `session list`, read without the parser of all commands: a list is asked for again and again, and that
 * parser costs more than the list. What is unusual is left to it.
 */

/** One flag as the parser of all commands declares it. */
export interface FlagRow {
  /** As in `--state-dir`. */
  readonly flag: string;
  readonly name: string;
  /** What help calls its value; absent where it takes none. */
  readonly value?: string;
  readonly about: string;
}

/** The flags of `session list`. */
export const listFlagRows: readonly (FlagRow & { readonly name: keyof ListFlags })[] = [
  { flag: "--resumable", name: "resumable", about: "only those that can be resumed" },
  { flag: "--active", name: "active", about: "only those that a process runs" },
  { flag: "--archived", name: "archived", about: "the archived ones instead" },
  { flag: "--workspace", name: "workspace", value: "dir", about: "only those of this directory" },
  { flag: "--limit", name: "limit", value: "count", about: "at most so many (default: 50)" },
  { flag: "--cursor", name: "cursor", value: "cursor", about: "where the page before ended" },
  { flag: "--plain", name: "plain", about: "one line each: id, path, title" },
];

/** The flags that every command takes; `--format` has a form of its own. */
export const globalFlagRows: readonly (FlagRow & { readonly name: keyof GlobalFlags })[] = [
  {
    flag: "--state-dir",
    name: "stateDir",
    value: "dir",
    about: "where sessions are kept (HOLDFAST_STATE_DIR)",
  },
  {
    flag: "--single-writer",
    name: "singleWriter",
    about: "promise that nothing else writes the state directory",
  },
  { flag: "--json", name: "json", about: "answer with one JSON document" },
];

/** What `session list` was asked. */
export interface ListWords {
  readonly globals: GlobalFlags;
  readonly flags: ListFlags;
}

/** What the words ask, or undefined where they are not, or not simply, those of `session list`. */
export function parseListWords(words: readonly string[]): ListWords | undefined {
  const commands = ["session", "list"];
  const globals: Record<string, string | true> = {};
  const flags: Record<string, string | true> = {};
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (!word.startsWith("-")) {
      if (word !== commands.shift()) return undefined;
      continue;
    }
    const global = globalFlagRows.find((row) => row.flag === word);
    const row =
      global ?? (commands.length === 0 ? listFlagRows.find(({ flag }) => flag === word) : undefined);
    if (row === undefined) return undefined;
    const into = global === undefined ? flags : globals;
    const value = row.value === undefined ? true : words[++index];
    // A flag that is given twice, or lacks its value, is a question for the other parser.
    if (value === undefined || Object.hasOwn(into, row.name)) return undefined;
    into[row.name] = value;
  }
  return commands.length === 0 ? { globals, flags } : undefined;
}
