import type { RunView } from "../../model/views.ts";
import type { Span } from "../screen.ts";
import { oneLine } from "./clean.ts";
import { wrapText } from "./wrap.ts";

/** How a session goes on from here: a command, or in words why none does. */
export type WayOn =
  | { readonly command: string; readonly words?: undefined }
  | { readonly words: string; readonly command?: undefined };

/** What is known of the session beside its run. */
export interface WayOnPlace {
  readonly program: string;
  /** True while a process holds it. */
  readonly active?: boolean;
  /** Which of its files is damaged. */
  readonly damaged?: "log" | "queue" | undefined;
  /** The workspace's path, where it is not there. */
  readonly missing?: string | undefined;
  /** True where messages wait: they come before a next task. */
  readonly waiting?: boolean;
}

/** The way on of a session whose newest run this is; undefined while a process is at work. */
export function wayOnOf(run: RunView, place: WayOnPlace): WayOn | undefined {
  const { program, active = false, damaged, missing, waiting = false } = place;
  const { session, status } = run;
  const isOver = ["completed", "failed", "canceled"].includes(status);
  if (active) return undefined;
  if (damaged !== undefined)
    return { words: `It cannot go on: its ${damaged} is damaged. What is intact can be read.` };
  if (missing !== undefined)
    return { words: `It cannot go on until its workspace is there again: ${missing}` };
  if (isExhausted(run)) {
    return {
      words: "Its recorded model has no further answer, so a next task fails too; start a new session.",
    };
  }
  if (isOver) return { command: `${program} resume ${session}${waiting ? "" : ' --task "…"'}` };
  if (hasUnknown(run)) return { command: `${program} run show ${session}` };
  return { command: `${program} resume ${session}` };
}

/** The lines that tell the way on, below an empty one. */
export function wayOnLines(
  run: RunView,
  place: WayOnPlace & { readonly columns: number },
): (readonly Span[])[] {
  const way = wayOnOf(run, place);
  if (way === undefined) return [];
  if (way.command !== undefined) return [[], [["dim", "next  "], way.command]];
  return [
    [],
    ...wrapText(oneLine(way.words), place.columns).map((line): readonly Span[] => [["warn", line]]),
  ];
}

/** True where a person must say what happened before it goes on. */
export function hasUnknown(run: RunView): boolean {
  return run.operations.some(({ state }) => state === "unknown");
}

function isExhausted({ status, error }: RunView): boolean {
  return status === "failed" && error?.startsWith("cassette_exhausted") === true;
}
