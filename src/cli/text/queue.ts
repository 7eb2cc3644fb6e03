import type { QueueHold, QueueOutlook } from "../../model/queue-hold.ts";
import { withProgram } from "../failure.ts";
import { formatCount } from "./units.ts";

/** How a queue is told of in a sentence. */

/** What waits in a queue and why; undefined where nothing does. The way on is a line of its own. */
export function queueWords(queue: QueueOutlook): string | undefined {
  const { waiting, blocked, damaged } = queue;
  if (damaged !== undefined) return `damaged: ${damaged}`;
  const [first] = blocked;
  const words = [
    ...(waiting === 0 ? [] : [`${waits(waiting)}: ${whyOf(queue)}`]),
    ...(first === undefined
      ? []
      : [
          `${formatCount(blocked.length, "message")} ${blocked.length === 1 ? "is" : "are"} blocked: ${first.why}`,
        ]),
  ];
  return words.length === 0 ? undefined : words.join("; ");
}

/** Why the next message is not taken now, as a clause. */
export function whyOf({ held, live, underWay }: Pick<QueueOutlook, "held" | "live" | "underWay">): string {
  if (held !== undefined) return held.why;
  if (underWay) return "the process that runs the session takes the next when its run completes";
  return live ? "a process holds the session and may take the next" : "nobody runs the session";
}

function waits(count: number): string {
  return `${formatCount(count, "message")} ${count === 1 ? "waits" : "wait"}`;
}

/** The same with commands that work as they stand: with the global flags of this call. */
export function withCommands<T extends { readonly held?: QueueHold; readonly next?: string }>(
  about: T,
  program: string,
): T {
  const { held, next } = about;
  return {
    ...about,
    ...(held !== undefined && { held: { ...held, next: withProgram(held.next, program) } }),
    ...(next !== undefined && { next: withProgram(next, program) }),
  };
}
