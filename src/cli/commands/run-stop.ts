import { abandonRun, cancelRun } from "../../engine/index.ts";
import type { RunView } from "../../model/views.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
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
  const view = await cancelRun(engineOf(call), request);
  return await tell(call, view, "canceled");
}

/** `holdfast run abandon`: ends a run as failed, whatever is unknown of it. */
export async function runAbandon(
  call: Call,
  place: { readonly session: string; readonly run: string },
  flags: StopFlags,
): Promise<number> {
  const view = await abandonRun(engineOf(call), { ...place, ...saidBy(flags) });
  return await tell(call, view, "abandoned");
}

async function tell(call: Call, view: RunView, what: string): Promise<number> {
  return await answer(call, view, () => {
    const screen = screenOf(call);
    const { program } = call;
    screen.line(["good", what.padEnd(labelColumns)], `${view.run} of ${view.session}`);
    const unknown = view.operations.filter(({ state }) => state === "unknown").length;
    if (unknown > 0) {
      screen.line(["warn", "unknown".padEnd(labelColumns)], formatCount(unknown, "operation"), " stay so");
    }
    const way = wayOnOf(view, { program });
    if (way?.command !== undefined) screen.line(["dim", "next".padEnd(labelColumns)], way.command);
    return screen;
  });
}

const labelColumns = 11;
