import { readSession, viewRuns } from "../../engine/index.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import { answer } from "./answer.ts";
import { writeRuns } from "./show-runs.ts";

/** `holdfast run list`: the runs of a session, newest first. */
export async function runList(call: Call, selector: string): Promise<number> {
  const read = await readSession(engineOf(call), selector);
  const runs = viewRuns(read);
  return await answer(call, { runs }, () => {
    const screen = screenOf(call);
    if (runs.length === 0) screen.line(`Session ${read.state.id} has no runs yet.`);
    else writeRuns(screen, runs, call.outside.host.clock.now());
    return screen;
  });
}
