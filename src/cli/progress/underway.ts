import type { Clock } from "../../host/index.ts";
import type { OperationStarted } from "../../model/facts.ts";
import type { OperationView } from "../../model/views.ts";
import type { Json } from "../../model/values.ts";
import type { Screen } from "../screen.ts";
import { oneLine } from "../text/clean.ts";
import { formatDuration } from "../text/units.ts";
import { fitEnd } from "../text/width.ts";
import type { LiveLine } from "./live-region.ts";
import { summariseArgs, toolLine } from "./tool-line.ts";

/** What is under way: the tool calls that run, and what is waited for. */

/** A tool call, as far as it is told. */
export interface ToolCall {
  readonly tool: string;
  readonly args: Json | undefined;
}

interface RunningCall extends ToolCall {
  readonly startedMs: number;
  /** The end of its output so far. */
  tail: string;
}

const tailCharacters = 2000;
const indent = "    ";

/** Keeps it, and makes the lines that show it. */
export class Underway {
  readonly #screen: Screen;
  readonly #clock: Clock;
  readonly #calls = new Map<string, ToolCall>();
  readonly #running = new Map<string, RunningCall>();
  #waiting: { readonly what: string; readonly sinceMs: number } | undefined;

  constructor(screen: Screen, clock: Clock, earlier: readonly OperationView[]) {
    this.#screen = screen;
    this.#clock = clock;
    for (const { id, tool, args } of earlier) this.#calls.set(id, { tool, args });
  }

  /** Takes a call that was asked for. */
  learn(operation: string, call: ToolCall): void {
    this.#calls.set(operation, call);
  }

  /** The call of an operation. */
  call(operation: string): ToolCall {
    return this.#calls.get(operation) ?? { tool: operation, args: undefined };
  }

  /** What an earlier process started and nobody saw the end of is waited for, or found out about. */
  takeUp(earlier: readonly OperationView[]): void {
    const nowMs = this.#clock.monotonicMs();
    for (const { id, tool, args, state, startedAt = this.#clock.now() } of earlier) {
      if (state !== "started") continue;
      this.#running.set(id, { tool, args, startedMs: nowMs - (this.#clock.now() - startedAt), tail: "" });
    }
  }

  /** An operation runs now. */
  start({ operation, tool, args = this.call(operation).args }: OperationStarted): void {
    this.#calls.set(operation, { tool, args });
    this.#running.set(operation, { tool, args, startedMs: this.#clock.monotonicMs(), tail: "" });
    this.#waiting = undefined;
  }

  /** A piece of a running operation's output. */
  hear(operation: string, text: string): void {
    const call = this.#running.get(operation);
    if (call !== undefined) call.tail = (call.tail + text).slice(-tailCharacters);
  }

  /** An operation runs no more. */
  end(operation: string): void {
    this.#running.delete(operation);
  }

  /** Something is waited for from now on; nothing, where it is undefined. */
  wait(what: string | undefined): void {
    this.#waiting = what === undefined ? undefined : { what, sinceMs: this.#clock.monotonicMs() };
  }

  /** Nothing is under way any more. */
  clear(): void {
    this.#waiting = undefined;
    this.#running.clear();
  }

  /** The lines that show it now. */
  lines(): LiveLine[] {
    const screen = this.#screen;
    const since = (ms: number) => formatDuration(this.#clock.monotonicMs() - ms);
    const lines = [...this.#running.values()].flatMap(({ tool, args, startedMs, tail }): LiveLine[] => {
      const summary = summariseArgs(args);
      const line: LiveLine = (frame) =>
        toolLine({ mark: ["accent", frame], tool, summary, time: since(startedMs) }, screen);
      return [
        line,
        ...lastLines(tail, 1).map(
          (text): LiveLine =>
            () =>
              detailLine(text, screen),
        ),
      ];
    });
    const waiting = this.#waiting;
    if (waiting === undefined) return lines;
    const words = () => fitEnd(oneLine(`${waiting.what} ${since(waiting.sinceMs)}`), screen.columns - 3);
    return [...lines, (frame) => [["accent", frame], " ", ["dim", words()]]];
  }
}

/** A line below that of a tool call. */
export function detailLine(text: string, { columns }: Pick<Screen, "columns">): ReturnType<LiveLine> {
  return [indent, ["dim", fitEnd(text, columns - indent.length - 1)]];
}

/** The last lines that say something, each as one clean line. What a carriage return overwrote is not among them. */
export function lastLines(text: string, count: number): string[] {
  const lines = text.split(/[\r\n]/).map((line) => oneLine(line));
  return lines.filter((line) => line !== "").slice(-count);
}
