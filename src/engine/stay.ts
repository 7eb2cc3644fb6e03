import type { Agent } from "../model/agent.ts";
import { lockedCapabilities } from "../model/capability.ts";
import { HoldfastError } from "../model/errors.ts";
import type { SessionState } from "../model/fold.ts";
import type { Discrepancy } from "../model/reconcile.ts";
import type { EngineContext, Observer } from "./context.ts";
import { compareWithQueue } from "./deliver.ts";
import type { RecordedPolicy } from "./read-policy.ts";
import type { WorkResult } from "./work.ts";
import { work } from "./work.ts";
import { Worker } from "./worker.ts";
import { readRules } from "./workspace-rules.ts";

/** A process's stay in a session: from taking it to letting it go, with the agent that works there. */
export interface StayOptions {
  readonly acceptRollback: boolean;
  readonly observer: Observer;
  /**
   * Aborted when the process shall leave at once, as a death would have it: from then on nothing is committed, no
   * operation and no model call starts, a running model call is ended, and the stay rejects `interrupted` as soon as
   * the tools that run are done. They are not told to stop: what they do is proven by whoever resumes.
   */
  readonly signal?: AbortSignal;
  /** A policy that is to hold instead of the one in force; whoever gives it records it when the work begins. */
  readonly policy?: RecordedPolicy;
  /** Asked with the history before anything is written; rejects to leave every byte as it is. */
  accept?(state: SessionState): Promise<void>;
  /** Done before the work. */
  begin?(worker: Worker): Promise<void>;
}

/** What a session was worked on with. */
export interface WorkReport extends WorkResult {
  readonly session: string;
}

/** Takes a session and works until nothing is left to do; lets go of it and closes the agent, however that ends. */
export async function stayIn(
  context: EngineContext,
  session: string,
  options: StayOptions,
): Promise<WorkReport> {
  const { acceptRollback, observer, signal } = options;
  const opened: { agent?: Agent; accepted: readonly Discrepancy[] } = { accepted: [] };
  try {
    const worker = await Worker.take(context, session, {
      acceptRollback,
      observer,
      ...(signal && { signal }),
      accept: async (state) => {
        await options.accept?.(state);
        opened.accepted = await compareWithQueue(context.store, state, acceptRollback);
        opened.agent = await openAgent(context, state, options.policy);
      },
    });
    const { agent, accepted } = opened;
    return await worker.orAbandon(async () => {
      if (agent === undefined) throw new HoldfastError("internal", "the agent was not opened");
      await options.begin?.(worker);
      const rules = await readRules(context.host.disk, worker.state.created.workspace);
      return { session, ...(await work({ worker, agent, rules }, accepted)) };
    });
  } finally {
    await opened.agent?.close();
  }
}

async function openAgent(
  context: EngineContext,
  state: SessionState,
  accepted?: RecordedPolicy,
): Promise<Agent> {
  const { agent, model } = state.created;
  if (model === undefined) throw new HoldfastError("agent_missing", `session ${state.id} names no model`);
  const policy = accepted ?? { policy: state.policy.policy, policyHash: state.policy.hash };
  const cassette =
    model.cassette === undefined ? {} : { cassette: await context.store.blobs(state.id).get(model.cassette) };
  return await context.openAgent({
    agent,
    model,
    ...cassette,
    ...lockedCapabilities(state.created, policy),
    passEnv: policy.policy.passEnv,
  });
}
