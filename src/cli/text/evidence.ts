import type { Json } from "../../model/values.ts";
import { isRecord } from "../../model/values.ts";
import { oneLine } from "./clean.ts";
import { formatBytes, formatTime } from "./units.ts";

/** What was found of an operation whose outcome is unknown, in sentences; whoever must judge reads these first. */

/** A process of a command that was still there when it was looked for. */
export interface Survivor {
  readonly pid: number;
  readonly command: string;
}

/** The processes that evidence names as still running. */
export function survivorsOf(evidence: Json | undefined): readonly Survivor[] {
  const survivors = isRecord(evidence) ? evidence["survivors"] : undefined;
  if (!Array.isArray(survivors)) return [];
  return survivors.flatMap((one): Survivor[] => {
    if (!isRecord(one) || typeof one["pid"] !== "number") return [];
    return [{ pid: one["pid"], command: typeof one["command"] === "string" ? one["command"] : "" }];
  });
}

/** One line for each survivor. */
export function survivorLines(evidence: Json | undefined): readonly string[] {
  return survivorsOf(evidence).map(({ pid, command }) => oneLine(`pid ${pid}: ${command}`));
}

/** What the evidence says, in a few sentences; none where it is of a kind that has none. `at`: when it was found. */
export function evidenceSentences(evidence: Json | undefined, at: number | undefined): readonly string[] {
  if (!isRecord(evidence)) return [];
  const when = at === undefined ? "" : ` (at ${formatTime(at)})`;
  if (Array.isArray(evidence["survivors"])) return commandSentences(evidence, when);
  return typeof evidence["path"] === "string" ? fileSentences(evidence, when) : [];
}

function commandSentences(evidence: Readonly<Record<string, Json>>, when: string): readonly string[] {
  const { supervisor, output } = evidence;
  const count = survivorsOf(evidence).length;
  const began = isRecord(supervisor)
    ? "The command was handed over to be started"
    : "It is not known who started it";
  const boot =
    isRecord(supervisor) && supervisor["isSameBoot"] === false ? ", and the machine was restarted since" : "";
  const bytes = isRecord(output) && typeof output["bytes"] === "number" ? output["bytes"] : 0;
  const kept =
    bytes === 0 ? "nothing of its output was kept" : `${formatBytes(bytes)} of its output were kept`;
  return [
    `${began}${boot}; no end of it is on record.`,
    count === 0
      ? `No process of it was found${when}; ${kept}.`
      : `${count === 1 ? "A process of it was" : `${count} processes of it were`} still running${when}; ${kept}.`,
  ];
}

function fileSentences(evidence: Readonly<Record<string, Json>>, when: string): readonly string[] {
  const { path, found, equals_before: isAsBefore, error } = evidence;
  const name = typeof path === "string" ? oneLine(path) : "the file";
  if (typeof error === "string") return [`${name} could not be looked at${when}: ${oneLine(error)}.`];
  const kind = isRecord(found) ? found["kind"] : undefined;
  if (isAsBefore === true) return [`${name} is as it was before the change${when}.`];
  if (kind === "absent") return [`${name} does not exist${when}.`];
  if (Object.hasOwn(evidence, "trash")) return [`Something else is in the place of ${name}${when}.`];
  return [`What is at ${name} is neither what was there before nor what was to be written${when}.`];
}
