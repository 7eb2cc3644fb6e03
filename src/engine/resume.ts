import type { AgentDefinition } from "../model/facts.ts";
import { waitsToBeSaid } from "../model/delivery.ts";
import { HoldfastError, isHoldfastError } from "../model/errors.ts";
import type { SessionState } from "../model/fold.ts";
import { openRun, unknownOperations } from "../model/fold.ts";
import type { GivenPolicy } from "../model/policy.ts";
import { admit } from "./admit.ts";
import type { EngineContext, Observer } from "./context.ts";
import { refuseOtherDefinition, refuseOtherPolicy } from "./drift.ts";
import { storedText } from "./read-payload.ts";
import type { RecordedPolicy } from "./read-policy.ts";
import { recordPolicy } from "./read-policy.ts";
import { damageCodes, refuseArchived, refuseByRow } from "./resume-verdict.ts";
import { refuseBlank } from "./run-task.ts";
import type { WorkControl, WorkReport } from "./stay.ts";
import { controlOf, stayIn } from "./stay.ts";
import { checkWorkspace } from "./workspace.ts";
import type { Worker } from "./worker.ts";

/** How a session is resumed. */
export interface ResumeRequest extends WorkControl {
  /** A whole id, or an unambiguous part of one. */
  readonly selector: string;
  /** The next task, where no run is open. */
  readonly task?: string;
  /** The definition, where one was given: it is compared with the locked one, and must be the same. */
  readonly definition?: AgentDefinition;
  /** The policy, where one was given: it is compared with the one in force. */
  readonly policy?: GivenPolicy;
  /** True where a policy that differs is to hold from now on. */
  readonly acceptPolicy?: boolean;
  readonly acceptRollback: boolean;
}

/**
 * Goes on with a session: finishes an open run first, then takes the oldest delivery; a task is admitted behind what
 * waits, unless it waits already. Refuses, leaving every byte as it is, where the session may not go on or the request does not fit it.
 */
export async function resume(
  context: EngineContext,
  request: ResumeRequest,
  observer: Observer,
): Promise<WorkReport> {
  refuseSenseless(request);
  const { task, acceptRollback } = request;
  const accepted = acceptedPolicy(request);
  const session = await context.store.find(request.selector);
  const stay = {
    ...controlOf(request),
    acceptRollback,
    observer,
    ...(accepted && { policy: accepted }),
    accept: (state: SessionState) => refuse(context, state, request),
    begin: async (worker: Worker) => {
      if (accepted !== undefined) await recordAcceptance(worker, accepted);
      if (task !== undefined) await admitTask(context, worker, task);
    },
  };
  try {
    return await stayIn(context, session, stay);
  } catch (error) {
    // Found before its row was read, and yet not the first reason where it is archived as well.
    if (isHoldfastError(error, "busy", ...damageCodes)) await refuseArchived(context.store, session);
    throw error;
  }
}

/** Rejects `usage` for what no session could be asked. */
export function refuseSenseless({
  task,
  policy,
  acceptPolicy,
}: Pick<ResumeRequest, "task" | "policy" | "acceptPolicy">): void {
  if (task !== undefined) refuseBlank(task);
  if (acceptPolicy === true && policy === undefined) throw nothingToAccept();
}

/** The policy that is to hold from now on, where one is accepted. */
export function acceptedPolicy({
  policy,
  acceptPolicy,
}: Pick<ResumeRequest, "policy" | "acceptPolicy">): RecordedPolicy | undefined {
  return acceptPolicy === true && policy !== undefined ? recordPolicy(policy) : undefined;
}

async function refuse(context: EngineContext, state: SessionState, request: ResumeRequest): Promise<void> {
  const { id, row } = state;
  refuseByRow(id, row);
  await checkWorkspace(context, id, state.created.workspace);
  const { definition, policy, acceptPolicy = false } = request;
  if (definition !== undefined) refuseOtherDefinition(state, definition);
  if (policy !== undefined) refuseOtherPolicy(state, recordPolicy(policy), acceptPolicy);
  if (request.task !== undefined) await refuseOtherTask(context, state, request.task);
}

/** One line, before anything is done under it; none, where it holds already. */
async function recordAcceptance(worker: Worker, { policy, policyHash }: RecordedPolicy): Promise<void> {
  if (policyHash === worker.state.policy.hash) return;
  const by = worker.redact(worker.context.host.processes.self.user).toWellFormed();
  await worker.commit([{ kind: "policy.accepted", policy, policyHash, by }]);
}

function nothingToAccept(): HoldfastError {
  return new HoldfastError("usage", "--accept-policy says that a policy is to hold, and none was given", {
    hint: "Give it whole: --policy FILE, --allow-shell, --allow-mcp, --pass-env NAME.",
  });
}

/** An unfinished run goes on with its own task; resolves to whether there is one. Rejects `usage` for another. */
export async function refuseOtherTask(
  context: EngineContext,
  state: SessionState,
  task: string,
): Promise<boolean> {
  const run = openRun(state);
  if (run === undefined) return false;
  const message = state.messages.find((one) => one.message.id === run.message)?.message;
  const [part] = message?.parts ?? [];
  const own = part?.type === "text" ? await storedText(context.store.blobs(state.id), part) : "";
  const redactor = await context.openRedactor();
  if (own === redactor.text(task).toWellFormed()) return true;
  throw new HoldfastError("usage", `${run.run} of session ${state.id} is not finished`, {
    hint:
      unknownOperations(state).length > 0
        ? `A person must first say what happened; see how with: holdfast run show ${state.id} — then give the next task.`
        : `Finish it first with: holdfast resume ${state.id} — then give the next task.`,
  });
}

async function admitTask(context: EngineContext, worker: Worker, task: string): Promise<void> {
  // Once more: the line that a dead worker left unfinished may have begun a run.
  if (await refuseOtherTask(context, worker.state, task)) return;
  const { queue: folded, held, state } = worker;
  const target = { session: state.id, queue: folded, blobs: held.blobs, logSeq: state.seq };
  await worker.held.queue.transact(async (queue) => {
    if (!(await isWaiting(worker, task))) await admit(context, target, queue, { text: task, source: "user" });
  });
}

/**
 * True where the very task waits already: whoever gave it was told of no end, and gives it again. One that was taken up
 * waits again where its message was never said.
 */
async function isWaiting(worker: Worker, task: string): Promise<boolean> {
  const { queue, state, held } = worker;
  const text = worker.redact(task).toWellFormed();
  for (const delivery of queue.deliveries.values()) {
    if (!waitsToBeSaid(delivery, state.deliveries) || delivery.source !== "user") continue;
    if ((await storedText(held.blobs, delivery)) === text) return true;
  }
  return false;
}
