import { HoldfastError, isHoldfastError } from "../model/errors.ts";
import { newestRun, openRun } from "../model/fold.ts";
import type { RunView } from "../model/views.ts";
import { askHolder } from "./ask-holder.ts";
import type { EngineContext } from "./context.ts";
import { recordableName } from "./person.ts";
import type { ReadSession } from "./read-session.ts";
import { findRun, readChangeable, readSession } from "./read-session.ts";
import { isStopped, wantStop } from "./wanted-stop.ts";

/** Which run shall end, and who says so. */
export interface StopRunRequest {
  /** A whole id of a session, or an unambiguous part of one. */
  readonly session: string;
  /** The run, likewise; the one that is open where absent, else the newest. */
  readonly run?: string;
  /** The user of the operating system where absent. */
  readonly by?: string;
}

/**
 * Ends a run as canceled: tools that run are told to stop and their real ends recorded, what never started is canceled.
 * A live worker is asked to; without one it is done here. Rejects `not_found`, `usage` where the run ended otherwise,
 * and `input_required` where it is not known whether something happened.
 */
export async function cancelRun(context: EngineContext, request: StopRunRequest): Promise<RunView> {
  return await stopRun(context, "cancel", request);
}

/** Ends a run as failed, as {@link cancelRun} does, and leaves what is unknown of it on record as it is. */
export async function abandonRun(context: EngineContext, request: StopRunRequest): Promise<RunView> {
  return await stopRun(context, "abandon", request);
}

async function stopRun(
  context: EngineContext,
  verb: "cancel" | "abandon",
  { session: selector, run, by: name }: StopRunRequest,
): Promise<RunView> {
  const by = await recordableName(context, name);
  const read = await readChangeable(context, selector);
  const { state } = read;
  const named = run ?? openRun(state)?.run ?? newestRun(state)?.run;
  if (named === undefined) {
    throw new HoldfastError("not_found", `session ${state.id} has no run yet`, {
      hint: `See what waits in its queue with: holdfast queue list ${state.id}`,
    });
  }
  const { run: id } = findRun(read, named);
  try {
    return await endIt(context, read, { verb, run: id, by });
  } catch (error) {
    throw isHoldfastError(error, "input_required") ? withWayOut(error, state.id, id) : error;
  }
}

async function endIt(
  context: EngineContext,
  { state }: ReadSession,
  { by, ...wanted }: { readonly verb: "cancel" | "abandon"; readonly run: string; readonly by: string },
): Promise<RunView> {
  if (!isStopped(state, wanted)) {
    await askHolder(context, state.id, {
      by,
      request: async () => wanted,
      accept: async (found) => void isStopped(found, wanted),
      alone: async (worker) => void wantStop(worker, wanted, by),
    });
  }
  const after = await readSession(context, state.id);
  // Where nobody held it, what happened to its operations was only found out now.
  isStopped(after.state, wanted);
  return findRun(after, wanted.run);
}

function withWayOut(cause: HoldfastError, session: string, run: string): HoldfastError {
  const look = `See which, and say what happened: holdfast run show ${session} ${run}`;
  const leave = `Or end the run and leave it open: holdfast run abandon ${session} ${run}`;
  return new HoldfastError(cause.code, cause.message, { hint: `${look}\n${leave}`, cause });
}
