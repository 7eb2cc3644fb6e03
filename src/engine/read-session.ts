import type { Commit } from "../model/commit.ts";
import { HoldfastError } from "../model/errors.ts";
import type { ResumeVerdict } from "../model/eligibility.ts";
import type { SessionState } from "../model/fold.ts";
import { newestRun } from "../model/fold.ts";
import { timeOfId } from "../model/ids.ts";
import type { QueueOutlook } from "../model/queue-hold.ts";
import type { BranchView, RunSummary, RunView, SessionRow } from "../model/views.ts";
import { viewBranch, viewRow, viewRun, viewRunSummary } from "../model/views.ts";
import type { Policy, WorkspaceBinding } from "../model/facts.ts";
import type { Damage, VoidLine } from "../store/index.ts";
import type { EngineContext } from "./context.ts";
import { makeResumeJudge } from "./resume-verdict.ts";
import { SessionFold } from "./worker.ts";

/** Reading a session: writes nothing, needs neither configuration nor keys, and shows what is intact of a damaged one. */

/** The process that holds a session. */
export interface SessionHolder {
  /** Its number, and the name of the machine that it is on. */
  pid: number;
  host: string;
  /** When it took the session, in milliseconds since 1970. */
  since: number;
}

/** A session as its log tells it. */
export interface ReadSession {
  readonly state: SessionState;
  /** True while a process holds it. */
  readonly active: boolean;
  /** That process; absent where none holds it, or one that has not said who it is yet. */
  readonly holder: SessionHolder | undefined;
  readonly damage: (Damage & { file: string }) | undefined;
  /** Lines of stale writers, which changed nothing. */
  readonly voids: readonly VoidLine[];
  /** Whether it may be resumed, as the list says it. */
  readonly resume: ResumeVerdict;
  /** True where it is a branch of a session that is not in this store. */
  readonly parentMissing: boolean;
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
  let since = 0;
  // Looked at on both sides of the reading: a holder who lets go meanwhile did not interrupt what is read half.
  const wasActive = await context.store.isHeld(id);
  const { history, damage } = await context.store.readHistory(id, (commit) => {
    const fault = fold.take(commit);
    if (fault !== undefined) return fault;
    if (fold.state.owner !== undefined && commit.facts.includes(fold.state.owner)) since = commit.at;
    visit?.(commit);
    return undefined;
  });
  if (!fold.hasBegun) {
    const where =
      damage === undefined ? "" : `: line ${damage.line}, byte ${damage.offset}: ${damage.reason}`;
    throw new HoldfastError("log_damaged", `nothing of session ${id} can be read${where}`);
  }
  const { state } = fold;
  const active = wasActive || (await context.store.isHeld(id));
  const holder = active ? holderOf(state, since) : undefined;
  const read = { state, active, holder, damage, voids: history.voids };
  const parent = state.created.parent?.session;
  const parentMissing = parent !== undefined && !(await context.store.ids()).includes(parent);
  const judged = { ...rowOf(read), moved: state.row.moved === true };
  return { ...read, resume: await makeResumeJudge(context.host)(judged), parentMissing };
}

/** Whoever let go in good order is not the one who holds it now: that one has written nothing yet. */
function holderOf({ owner, released }: SessionState, since: number): SessionHolder | undefined {
  return owner === undefined || released ? undefined : { pid: owner.pid, host: owner.host, since };
}

/** Reads a session that is to be changed. Rejects as {@link readSession}, and where its log is damaged for writing. */
export async function readChangeable(context: EngineContext, selector: string): Promise<ReadSession> {
  const read = await readSession(context, selector);
  if (read.damage === undefined) return read;
  const fold = new SessionFold(read.state.id);
  await context.store.readAsHolder(read.state.id, (commit) => fold.take(commit));
  return read;
}

type Read = Omit<ReadSession, "resume" | "parentMissing">;

/** The row of the list, from the whole log instead of its end. */
function rowOf({ state, active, damage }: Read): SessionRow {
  const rest = { updatedAt: state.at, active, messages: state.messages.length };
  const row = viewRow(state.id, state.row, { createdAt: timeOfId(state.id), ...rest });
  if (damage === undefined) return row;
  return { ...row, damaged: `line ${damage.line}, byte ${damage.offset}: ${damage.reason}` };
}

/** A message as it is shown. */
export interface MessageView {
  id: string;
  role: string;
  at: number;
  parts: unknown[];
  /** True where it is what had come of an answer that was cut; absent otherwise. */
  interrupted?: true;
}

/** A session, whole: the shape of `session show`. */
export type SessionView = Omit<SessionRow, "messages"> & {
  resume: ResumeVerdict;
  /** The process that holds it, where one does and has said so. */
  holder?: SessionHolder;
  /** The messages that are still to be said, and why they are not. */
  queue?: QueueOutlook;
  branch: BranchView;
  binding: WorkspaceBinding;
  /** The definition that it was locked to. */
  definition: { name: string; /** SHA-256 of its canonical JSON: 64 hex digits. */ hash: string };
  /** What the agent may do: the policy in force. */
  policy: Policy;
  runs: RunSummary[];
  messages: MessageView[];
  revision: number;
};

/** What is shown of a session; `queue` as {@link readOutlook} reads it. */
export function viewSession(read: ReadSession, queue?: QueueOutlook): SessionView {
  const { state, resume, parentMissing, holder } = read;
  return {
    ...rowOf(read),
    resume,
    ...(holder !== undefined && { holder }),
    ...(queue !== undefined && { queue }),
    branch: viewBranch(state.id, state.created, parentMissing),
    binding: state.created.workspace,
    definition: { name: state.created.definition.metadata.name, hash: state.created.definitionHash },
    policy: state.policy.policy,
    runs: viewRuns(read),
    messages: state.messages.map(({ message: { id, role, parts, interrupted }, at }) => ({
      id,
      role,
      at,
      parts,
      ...(interrupted === true && { interrupted }),
    })),
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
