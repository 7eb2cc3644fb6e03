import { utf8Text } from "../host/index.ts";
import type { AgentDefinition } from "../model/facts.ts";
import { evaluateResume } from "../model/eligibility.ts";
import { HoldfastError } from "../model/errors.ts";
import type { SessionState } from "../model/fold.ts";
import { openRun } from "../model/fold.ts";
import type { GivenPolicy } from "../model/policy.ts";
import { admit } from "./admit.ts";
import type { EngineContext, Observer } from "./context.ts";
import { refuseOtherDefinition, refuseOtherPolicy } from "./drift.ts";
import type { RecordedPolicy } from "./read-policy.ts";
import { recordPolicy } from "./read-policy.ts";
import { refuseBlank } from "./run-task.ts";
import type { WorkReport } from "./stay.ts";
import { stayIn } from "./stay.ts";
import { checkWorkspace } from "./workspace.ts";
import type { Worker } from "./worker.ts";

/** How a session is resumed. */
export interface ResumeRequest {
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
  /** Aborted when the process shall leave at once; see {@link StayOptions.signal}. */
  readonly signal?: AbortSignal;
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
  const { acceptRollback, task, signal, policy, acceptPolicy = false } = request;
  if (task !== undefined) refuseBlank(task);
  if (acceptPolicy && policy === undefined) throw nothingToAccept();
  const session = await context.store.find(request.selector);
  return await stayIn(context, session, {
    acceptRollback,
    observer,
    ...(signal && { signal }),
    ...(acceptPolicy && policy && { policy: recordPolicy(policy) }),
    accept: (state) => refuse(context, state, request),
    begin: async (worker) => {
      if (acceptPolicy && policy !== undefined) await recordAcceptance(worker, recordPolicy(policy));
      if (task !== undefined) await admitTask(context, worker, task);
    },
  });
}

async function refuse(context: EngineContext, state: SessionState, request: ResumeRequest): Promise<void> {
  const { id, row } = state;
  const resumable = { archived: row.archived, moved: row.moved === true, active: false, damaged: false };
  const { eligible, code } = evaluateResume({ ...resumable, workspaceMissing: false });
  if (!eligible) {
    const why = code === "archived" ? "is archived" : "was moved to another device";
    throw new HoldfastError("not_resumable", `session ${id} ${why}`, {
      reason: code,
      hint: `What it holds can be read: holdfast session show ${id}`,
    });
  }
  const { definition, policy, acceptPolicy = false } = request;
  if (definition !== undefined) refuseOtherDefinition(state, definition);
  if (policy !== undefined) refuseOtherPolicy(state, recordPolicy(policy), acceptPolicy);
  await checkWorkspace(context, id, state.created.workspace);
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

/** An unfinished run goes on with its own task; resolves to whether there is one. */
async function refuseOtherTask(context: EngineContext, state: SessionState, task: string): Promise<boolean> {
  const run = openRun(state);
  if (run === undefined) return false;
  const message = state.messages.find((one) => one.message.id === run.message)?.message;
  const [part] = message?.parts ?? [];
  const blob = part?.type === "text" ? part.blob : undefined;
  const text = part?.type === "text" ? (part.text ?? "") : "";
  const own = blob === undefined ? text : utf8Text(await context.store.blobs(state.id).get(blob));
  const redactor = await context.openRedactor();
  if (own === redactor.text(task).toWellFormed()) return true;
  throw new HoldfastError("usage", `${run.run} of session ${state.id} is not finished`, {
    hint: waitsForPerson(state, run.run)
      ? `A person must first say what happened; see how with: holdfast run show ${state.id} — then give the next task.`
      : `Finish it first with: holdfast resume ${state.id} — then give the next task.`,
  });
}

function waitsForPerson(state: SessionState, run: string): boolean {
  return [...state.operations.values()].some((one) => one.run === run && one.at === "unknown");
}

async function admitTask(context: EngineContext, worker: Worker, task: string): Promise<void> {
  // Once more: the line that a dead worker left unfinished may have begun a run.
  if (await refuseOtherTask(context, worker.state, task)) return;
  const target = { queue: worker.queue, blobs: worker.held.blobs, logSeq: worker.state.seq };
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
  for (const { at, delivery, source, ...stored } of queue.deliveries.values()) {
    const waits = at === "admitted" || (at === "claimed" && !state.deliveries.has(delivery));
    if (!waits || source !== "user") continue;
    const { blob } = stored;
    const own = blob === undefined ? stored.text : utf8Text(await held.blobs.get(blob));
    if (own === text) return true;
  }
  return false;
}
