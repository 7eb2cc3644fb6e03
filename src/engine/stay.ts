import type { Agent } from "../model/agent.ts";
import { lockedCapabilities } from "../model/capability.ts";
import { HoldfastError } from "../model/errors.ts";
import type { SessionState } from "../model/fold.ts";
import type { Discrepancy } from "../model/reconcile.ts";
import type { ApprovalMode } from "./approver.ts";
import { Approver } from "./approver.ts";
import { defaultCancelGraceMs } from "./brakes.ts";
import type { EngineContext, Observer } from "./context.ts";
import { compareWithQueue } from "./deliver.ts";
import type { RecordedPolicy } from "./read-policy.ts";
import type { StopSwitch } from "./stop-switch.ts";
import type { WorkResult } from "./work.ts";
import { work } from "./work.ts";
import type { Staff } from "./worker.ts";
import { Worker } from "./worker.ts";
import { readRules } from "./workspace-rules.ts";

/** How work that is under way can be spoken to. */
export interface WorkControl {
  /**
   * Aborted when the process shall leave at once, as a death would have it: from then on nothing is committed, no
   * operation and no model call starts, a running model call is ended, and the stay rejects `interrupted` as soon as
   * the tools that run are done. They are not told to stop: what they do is proven by whoever resumes.
   */
  readonly signal?: AbortSignal;
  /** By which the work is stopped in good order: its run canceled, or the attempt suspended. */
  readonly stops?: StopSwitch;
  /** Milliseconds that running tools get once the work shall stop; 2 s where absent. */
  readonly cancelGraceMs?: number;
  /** Who is asked what a policy leaves to a person; nobody where absent, and then it is denied. */
  readonly approvals?: ApprovalMode;
}

/** What a request says of that, and nothing else of it. */
export function controlOf({ signal, stops, cancelGraceMs, approvals }: WorkControl): WorkControl {
  return {
    ...(signal && { signal }),
    ...(stops && { stops }),
    ...(cancelGraceMs !== undefined && { cancelGraceMs }),
    ...(approvals && { approvals }),
  };
}

/** A process's stay in a session: from taking it to letting it go, with the agent that works there. */
export interface StayOptions extends WorkControl {
  readonly acceptRollback: boolean;
  readonly observer: Observer;
  /** `requests`: only what others asked for is done, no run goes on and no message is taken. */
  readonly only?: "requests";
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
  const { acceptRollback, observer, signal, stops, only } = options;
  const opened: { agent?: Agent; accepted: readonly Discrepancy[] } = { accepted: [] };
  try {
    const worker = await Worker.take(context, session, {
      acceptRollback,
      observer,
      ...(signal && { signal }),
      ...(stops && { stops }),
      accept: async (state) => {
        await options.accept?.(state);
        opened.accepted = await compareWithQueue(context.store, state, acceptRollback);
        if (only === undefined)
          opened.agent = await openAgent(context, state, { asks: true, policy: options.policy });
      },
    });
    return await worker.orAbandon(async () => {
      const openStaff = async (): Promise<Staff> => {
        // Whoever only ends a run needs its tools and no model.
        opened.agent ??= await openAgent(context, worker.state, { asks: false });
        return await staffOf(worker, opened.agent, options);
      };
      await options.begin?.(worker);
      const { accepted } = opened;
      return { session, ...(await work(worker, { accepted, openStaff, ...(only && { only }) })) };
    });
  } finally {
    await opened.agent?.close();
  }
}

async function staffOf(worker: Worker, agent: Agent, options: WorkControl): Promise<Staff> {
  const { cancelGraceMs: graceMs = defaultCancelGraceMs, approvals = { kind: "deny" } } = options;
  const rules = await readRules(worker.context.host.disk, worker.state.created.workspace);
  return { worker, agent, rules, graceMs, approver: new Approver(approvals) };
}

/** Makes the session's agent ready; sends nothing yet. Rejects `agent_missing`, `provider_failed` or `log_damaged`. */
export async function openAgent(
  context: EngineContext,
  state: SessionState,
  how: { readonly asks: boolean; readonly policy?: RecordedPolicy | undefined },
): Promise<Agent> {
  const { agent, model } = state.created;
  if (model === undefined) throw new HoldfastError("agent_missing", `session ${state.id} names no model`);
  const { asks, policy: inForce = { policy: state.policy.policy, policyHash: state.policy.hash } } = how;
  const cassette =
    model.cassette === undefined || !asks
      ? {}
      : { cassette: await context.store.blobs(state.id).get(model.cassette) };
  return await context.openAgent({
    agent,
    model,
    asks,
    ...cassette,
    ...lockedCapabilities(state.created, inForce),
    passEnv: inForce.policy.passEnv,
  });
}
