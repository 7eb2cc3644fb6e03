import type { Policy } from "../model/facts.ts";
import { effectiveCapabilities } from "../model/default-definition.ts";
import type { Agent } from "../model/agent.ts";
import type { SessionState } from "../model/fold.ts";
import { emptyQueueState, applyToQueue } from "../model/delivery.ts";
import { HoldfastError } from "../model/errors.ts";
import { admit } from "./admit.ts";
import type { EngineContext, Observer } from "./context.ts";
import type { SessionRequest } from "./create-session.ts";
import { createSession } from "./create-session.ts";
import type { WorkResult } from "./work.ts";
import { work } from "./work.ts";
import { Worker } from "./worker.ts";

/** A task for a new session. */
export interface TaskRequest extends SessionRequest {
  readonly task: string;
}

/** What a session was worked on with. */
export interface WorkReport extends WorkResult {
  readonly session: string;
}

/**
 * Makes a session, admits the task and works on it until the run ends. `begun` is called with the session's id as soon
 * as it is durable; every failure after that is one of a session that exists.
 */
export async function runTask(
  context: EngineContext,
  request: TaskRequest,
  observer: Observer,
  begun: (session: string) => void,
): Promise<WorkReport> {
  const session = await createSession(context, request);
  begun(session);
  await context.store.readStrictly(session, (line0) => observer.commit(line0));
  const queue = emptyQueueState();
  await context.store.appendToQueue(
    session,
    (commit) => applyToQueue(queue, commit),
    (transaction) => {
      const target = { queue, blobs: context.store.blobs(session), logSeq: 0 };
      return admit(context, target, transaction, { text: request.task, source: "user" });
    },
  );
  const opened = new AgentSlot(context);
  const worker = await Worker.take(context, session, {
    acceptRollback: false,
    observer,
    accept: (state) => opened.open(state),
  });
  const result = await workAndClose(opened, worker, false);
  return { session, ...result };
}

/** Opens a session's agent once its history is read and before anything is written. */
export class AgentSlot {
  readonly #context: EngineContext;
  #agent: Agent | undefined;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  async open(state: SessionState): Promise<void> {
    this.#agent = await openAgent(this.#context, state);
  }

  get agent(): Agent {
    if (this.#agent === undefined) throw new HoldfastError("internal", "the agent was not opened");
    return this.#agent;
  }

  async close(): Promise<void> {
    await this.#agent?.close();
  }
}

/** Works and closes the agent, however that ends; lets go of a session that work could not. */
export async function workAndClose(
  slot: AgentSlot,
  worker: Worker,
  acceptRollback: boolean,
): Promise<WorkResult> {
  try {
    return await work({ worker, agent: slot.agent }, { acceptRollback });
  } catch (error) {
    await worker.held.abandon();
    throw error;
  } finally {
    await slot.close();
  }
}

async function openAgent(context: EngineContext, state: SessionState): Promise<Agent> {
  const { agent, model, definition } = state.created;
  if (model === undefined) throw new HoldfastError("agent_missing", `session ${state.id} names no model`);
  const policy: Policy = state.policy.policy;
  const cassette =
    model.cassette === undefined ? {} : { cassette: await context.store.blobs(state.id).get(model.cassette) };
  return await context.openAgent({
    agent,
    model,
    ...cassette,
    capabilities: effectiveCapabilities(definition, policy).effective,
    passEnv: policy.passEnv,
  });
}
