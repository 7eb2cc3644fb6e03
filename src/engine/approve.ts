import { HoldfastError } from "../model/errors.ts";
import type { RunView } from "../model/views.ts";
import type { ApprovalAnswer } from "./approver.ts";
import { reasonLengthMax } from "./approver.ts";
import { isDecided, isRemembered, recordDecision } from "./approvals.ts";
import { askHolder } from "./ask-holder.ts";
import type { EngineContext } from "./context.ts";
import { recordableName } from "./person.ts";
import { findRun, readChangeable, readSession } from "./read-session.ts";
import { findOperation } from "./record-resolution.ts";

/** A person's word about an operation that waits for it. */
export interface ApproveRequest extends ApprovalAnswer {
  readonly session: string;
  readonly run: string;
  readonly operation: string;
  /** The user of the operating system where absent. */
  readonly by?: string;
}

/**
 * Records that a person allows an operation, or denies it; executes nothing by itself: a live worker goes on with it at
 * once, else whoever resumes does. The same said again changes nothing. Rejects `not_found`, `usage` where nobody asks,
 * and `already_resolved` where something else was decided.
 */
export async function approveOperation(context: EngineContext, request: ApproveRequest): Promise<RunView> {
  const { decision, remember } = request;
  const by = await recordableName(context, request.by);
  if (request.reason !== undefined && request.reason.length > reasonLengthMax) {
    throw new HoldfastError("usage", `the reason is longer than ${reasonLengthMax} characters`);
  }
  const { state } = await readChangeable(context, request.session);
  const { run, operation } = findOperation(state, request);
  const redactor = await context.openRedactor();
  const reason = request.reason === undefined ? {} : { reason: redactor.text(request.reason).toWellFormed() };
  const given = { operation, decision, remember, by, ...reason };
  if (!isDecided(state, given) || !isRemembered(state, given)) {
    await askHolder(context, state.id, {
      by,
      request: async () => ({ verb: "approve", run, operation, decision, remember, ...reason }),
      accept: async (found) => void isDecided(found, given),
      alone: (worker) => recordDecision(worker, given),
    });
  }
  return findRun(await readSession(context, state.id), run);
}
