import type { Commit } from "../model/commit.ts";
import { HoldfastError } from "../model/errors.ts";
import type { SessionState } from "../model/fold.ts";
import { newestRun } from "../model/fold.ts";
import { timeOfId } from "../model/ids.ts";
import type { RunSummary, RunView, SessionRow } from "../model/views.ts";
import { viewRow, viewRun, viewRunSummary } from "../model/views.ts";
import type { Policy, WorkspaceBinding } from "../model/facts.ts";
import type { Damage, VoidLine } from "../store/index.ts";
import type { EngineContext } from "./context.ts";
import { SessionFold } from "./worker.ts";

/** Reading a session: writes nothing, needs neither configuration nor keys, and shows what is intact of a damaged one. */

/** A session as its log tells it. */
export interface ReadSession {
  readonly state: SessionState;
  /** True while a process holds it. */
  readonly active: boolean;
  readonly damage: (Damage & { file: string }) | undefined;
  /** Lines of stale writers, which changed nothing. */
  readonly voids: readonly VoidLine[];
}

/**
 * Reads the session that a selector names; `visit` takes each intact line, in order. Rejects `not_found`, `ambiguous`,
 * or `log_damaged` where nothing is intact.
 */
export async function readSession(
  context: EngineContext,
  selector: string,
  visit?: (commit: Commit) => void,
): Promise<ReadSession> {
  const id = await context.store.find(selector);
  const fold = new SessionFold(id);
  const { history, damage } = await context.store.readHistory(id, (commit) => {
    fold.take(commit);
    visit?.(commit);
  });
  if (!fold.hasBegun) {
    const where =
      damage === undefined ? "" : `: line ${damage.line}, byte ${damage.offset}: ${damage.reason}`;
    throw new HoldfastError("log_damaged", `nothing of session ${id} can be read${where}`);
  }
  return { state: fold.state, active: await context.store.isHeld(id), damage, voids: history.voids };
}

/** A message as it is shown. */
export interface MessageView {
  id: string;
  role: string;
  at: number;
  parts: unknown[];
}

/** A session, whole: the shape of `session show`. */
export type SessionView = Omit<SessionRow, "messages"> & {
  binding: WorkspaceBinding;
  /** What the agent may do: the policy in force. */
  policy: Policy;
  runs: RunSummary[];
  messages: MessageView[];
  revision: number;
};

/** What is shown of a session. */
export function viewSession(read: ReadSession): SessionView {
  const { state, active, damage } = read;
  const rest = {
    createdAt: timeOfId(state.id),
    updatedAt: state.at,
    active,
    messages: state.messages.length,
  };
  const row = viewRow(state.id, state.row, rest);
  return {
    ...row,
    ...(damage !== undefined && { damaged: `line ${damage.line}, byte ${damage.offset}: ${damage.reason}` }),
    binding: state.created.workspace,
    policy: state.policy.policy,
    runs: viewRuns(read),
    messages: state.messages.map(({ message: { id, role, parts }, at }) => ({ id, role, at, parts })),
    revision: state.revision,
  };
}

/** The runs of a session, newest first. */
export function viewRuns(read: ReadSession): RunSummary[] {
  return [...read.state.runs.values()].toReversed().map((run) => viewRunSummary(run, read.active));
}

/** One run: by id or an unambiguous part of one, the newest where none is named. */
export function findRun(read: ReadSession, selector: string | undefined): RunView {
  const { state, active } = read;
  const runs = [...state.runs.values()];
  const fits = selector === undefined ? [newestRun(state)] : runs.filter((run) => matches(run.run, selector));
  const [run] = fits;
  if (run === undefined) {
    throw new HoldfastError("not_found", `session ${state.id} has no run ${selector ?? ""}`.trimEnd(), {
      hint: `See which there are with: holdfast run list ${state.id}`,
    });
  }
  if (fits.length > 1) {
    const candidates = fits.flatMap((one) => one?.run ?? []);
    throw new HoldfastError("ambiguous", `${selector} fits ${fits.length} runs of session ${state.id}`, {
      candidates,
    });
  }
  return viewRun(state, run, active);
}

/** True where a selector is the id, its beginning or its end. */
export function matches(id: string, selector: string): boolean {
  return selector !== "" && (id === selector || id.startsWith(selector) || id.endsWith(selector));
}
