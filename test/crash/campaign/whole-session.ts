import type { EngineContext } from "../../../src/engine/index.ts";
import { SessionFold } from "../../../src/engine/worker.ts";
import type { Commit } from "../../../src/model/commit.ts";
import type { QueueState } from "../../../src/model/delivery.ts";
import { applyToQueue, emptyQueueState } from "../../../src/model/delivery.ts";
import type { SessionState } from "../../../src/model/fold.ts";
import { promised } from "./finding.ts";

/** A session as a strict reader has it. */
export interface WholeSession {
  readonly state: SessionState;
  readonly queue: QueueState;
  readonly commits: readonly Commit[];
  /** Lines of writers that had lost the lease. */
  readonly voids: number;
}

/** Reads log and queue strictly. */
export async function readSession(engine: EngineContext, session: string): Promise<WholeSession> {
  const fold = new SessionFold(session);
  const commits: Commit[] = [];
  const history = await engine.store.readStrictly(session, (commit) => {
    commits.push(commit);
    return fold.take(commit);
  });
  const queue = emptyQueueState();
  await engine.store.readQueue(session, (commit) => applyToQueue(queue, commit));
  return { state: fold.state, queue, commits, voids: history.voids.length };
}

/** The same of a session whose lease never was broken. Rejects with a finding where the log holds a void line. */
export async function readWhole(engine: EngineContext, session: string): Promise<WholeSession> {
  const whole = await readSession(engine, session);
  promised(whole.voids === 0, "other", () => "the log holds a void line");
  return whole;
}
