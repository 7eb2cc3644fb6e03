import type { EngineContext } from "../../engine/index.ts";
import { abandonRun, cancelRun, readOutlook, readSession } from "../../engine/index.ts";
import type { RunView } from "../../model/views.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import { queueLines } from "../progress/summary.ts";
import { label } from "../text/label.ts";
import { formatCount } from "../text/units.ts";
import { wayOnOf } from "../text/way-on.ts";
import { answer } from "./answer.ts";
import { saidBy } from "./said-by.ts";

/** The flags of `run cancel` and `run abandon`. */
export interface StopFlags {
  readonly by?: string;
}

/** `holdfast run cancel`: ends a run as canceled, in whichever process it is worked on. The open run where none is named. */
export async function runCancel(
  call: Call,
  place: { readonly session: string; readonly run?: string | undefined },
  flags: StopFlags,
): Promise<number> {
  const { session, run } = place;
  const request = { session, ...(run !== undefined && { run }), ...saidBy(flags) };
  const context = engineOf(call);
  const view = await cancelRun(context, request);
  return await tell(call, context, view, "canceled");
}

/** `holdfast run abandon`: ends a run as failed, whatever is unknown of it. */
export async function runAbandon(
  call: Call,
  place: { readonly session: string; readonly run: string },
  flags: StopFlags,
): Promise<number> {
  const context = engineOf(call);
  const view = await abandonRun(context, { ...place, ...saidBy(flags) });
  return await tell(call, context, view, "abandoned");
}

async function tell(call: Call, context: EngineContext, view: RunView, what: string): Promise<number> {
  return await answer(call, view, async () => {
    const queue = await readOutlook(context, await readSession(context, view.session));
    const screen = screenOf(call);
    const { program } = call;
    screen.line(label(what, "good"), `${view.run} of ${view.session}`);
    const unknown = view.operations.filter(({ state }) => state === "unknown").length;
    if (unknown > 0) {
      screen.line(label("left open", "warn"), formatCount(unknown, "operation"));
    }
    for (const line of queueLines(queue, screen.columns)) screen.line(...line);
    const way = wayOnOf(view, { program, waiting: queue.waiting > 0 });
    if (way?.command !== undefined) screen.line(label("next"), way.command);
    return screen;
  });
}
