import type { ErrorCode } from "../model/errors.ts";
import { HoldfastError, isHoldfastError } from "../model/errors.ts";
import type { ResumeBlocker } from "../model/eligibility.ts";
import { resumeBlockers } from "../model/eligibility.ts";
import type { SessionState } from "../model/fold.ts";
import type { ResumePlan } from "../model/resume-plan.ts";
import { planResume } from "../model/resume-plan.ts";
import type { EngineContext } from "./context.ts";
import { compareWithQueue } from "./deliver.ts";
import { refuseOtherDefinition, refuseOtherPolicy } from "./drift.ts";
import { recordPolicy } from "./read-policy.ts";
import { readQueue } from "./read-queue.ts";
import type { ReadSession } from "./read-session.ts";
import { readSession } from "./read-session.ts";
import { damageCodes, makeResumeJudge, notResumable } from "./resume-verdict.ts";
import type { ResumeRequest } from "./resume.ts";
import { acceptedPolicy, refuseOtherTask, refuseSenseless } from "./resume.ts";
import { openAgent } from "./stay.ts";
import { checkWorkspace } from "./workspace.ts";
import { SessionFold } from "./worker.ts";

/**
 * Says what a resume would find, check by check in the order in which it would refuse, and what it would do first. Made
 * of the very functions that a resume refuses by; takes no lock, starts nothing and writes nothing.
 */

/** One thing that a resume looks at. */
export interface ResumeCheck {
  /** A reason of the verdict, or one of the checks that come with a resume itself. */
  check:
    | ResumeBlocker
    | "exists"
    | "store"
    | "workspace"
    | "definition"
    | "policy"
    | "task"
    | "queue"
    | "model";
  ok: boolean;
  /** Why not. */
  reason?: string;
  /** What now, as a sentence; commands in it work as written. */
  hint?: string;
  /** The error that a resume would end with. */
  error?: ErrorCode;
}

/** How the session would be resumed. */
export type ExplainRequest = Pick<
  ResumeRequest,
  "selector" | "task" | "definition" | "policy" | "acceptPolicy" | "acceptRollback"
>;

/** What a resume would find. */
export interface ResumeExplanation {
  session: string;
  /** True where nothing stands in the way: then every check is passed. */
  eligible: boolean;
  /** `yes`, or the first of the reasons. */
  code: string;
  /** All reasons in order: those of the verdict by their names, any other by the code of its error. */
  blockers: string[];
  checks: ResumeCheck[];
  /** What a resume does first; absent where the session cannot be read so far. */
  plan?: ResumePlan;
  /** The command that works from here, where one does. */
  next?: string;
}

/**
 * Explains. Rejects `usage` for what no session could be asked, `not_found`, `ambiguous` or `deleted`, or where the state
 * directory cannot be read.
 */
export async function explainResume(
  context: EngineContext,
  request: ExplainRequest,
): Promise<ResumeExplanation> {
  refuseSenseless(request);
  const session = await context.store.find(request.selector);
  const checks: ResumeCheck[] = [
    { check: "exists", ok: true },
    await check("store", () => context.store.checkIdentity()),
  ];
  const damage = await damageOf(context, session, request.acceptRollback);
  const read = await readIntact(context, session);
  if (read === undefined) {
    checks.push(failed("damaged", damage ?? new HoldfastError("log_damaged", "nothing of it can be read")));
    return explanation(session, checks, request);
  }
  checks.push(...(await checkVerdict(context, read, damage)));
  const { state } = read;
  const isBlocked = (blocker: ResumeBlocker) => checks.some((one) => one.check === blocker && !one.ok);
  if (!isBlocked("cwd-missing")) {
    checks.push(await check("workspace", () => checkWorkspace(context, session, state.created.workspace)));
  }
  checks.push(...(await checkRequest(context, state, request)));
  // What a holder is in the middle of looks like a disagreement, and what is damaged like anything.
  if (!isBlocked("active") && !isBlocked("damaged")) {
    checks.push(await check("queue", () => compareWithQueue(context.store, state, request.acceptRollback)));
  }
  const how = { asks: true, policy: acceptedPolicy(request) };
  checks.push(await check("model", async () => await (await openAgent(context, state, how)).close()));
  return explanation(session, checks, request, await planOf(context, state));
}

/** Why the session counts as damaged, judged as whoever takes it would; undefined where it does not. */
async function damageOf(
  context: EngineContext,
  session: string,
  acceptRollback: boolean,
): Promise<HoldfastError | undefined> {
  const fold = new SessionFold(session);
  try {
    await context.store.readAsHolder(session, (commit) => fold.take(commit), { acceptRollback });
    return undefined;
  } catch (error) {
    if (isHoldfastError(error, ...damageCodes)) return error;
    throw error;
  }
}

async function readIntact(context: EngineContext, session: string): Promise<ReadSession | undefined> {
  try {
    return await readSession(context, session);
  } catch (error) {
    if (isHoldfastError(error, "log_damaged")) return undefined;
    throw error;
  }
}

/** The one verdict, each of its reasons as a check of its own. */
async function checkVerdict(
  context: EngineContext,
  { state, active, holder }: ReadSession,
  damage: HoldfastError | undefined,
): Promise<ResumeCheck[]> {
  const { id, created } = state;
  // Of a damaged log the end tells more than what is intact before the damage, as the list has it.
  const last = damage === undefined ? undefined : await context.store.lastRow(id);
  const row = last !== undefined && "row" in last ? last.row : state.row;
  const { agent, archived, moved = false, binding: workspace } = row;
  const damaged = damage === undefined ? {} : { damaged: damage.message };
  const judge = makeResumeJudge(context.host);
  const { blockers } = await judge({ agent, archived, active, workspace, moved, ...damaged });
  const errorOf = async (blocker: ResumeBlocker): Promise<HoldfastError> => {
    if (blocker === "damaged" && damage !== undefined) return damage;
    if (blocker === "active") return busy(id, holder);
    if (blocker !== "cwd-missing") return notResumable(id, blocker);
    const told = await check(blocker, () => checkWorkspace(context, id, created.workspace));
    const { reason = "its directory is not there", hint } = told;
    return new HoldfastError("workspace_mismatch", reason, hint === undefined ? {} : { hint });
  };
  const checks: ResumeCheck[] = [];
  for (const blocker of resumeBlockers) {
    const passed: ResumeCheck = { check: blocker, ok: true };
    checks.push(blockers.includes(blocker) ? failed(blocker, await errorOf(blocker)) : passed);
  }
  return checks;
}

function busy(session: string, holder: ReadSession["holder"]): HoldfastError {
  const who = holder === undefined ? "another process" : `process ${holder.pid} on ${holder.host}`;
  return new HoldfastError("busy", `session ${session} is being run by ${who}`, {
    hint: `A message for it waits until its run completes: holdfast send ${session} "…"`,
  });
}

/** What the caller asks for beyond going on. */
async function checkRequest(
  context: EngineContext,
  state: SessionState,
  { definition, policy, acceptPolicy = false, task }: ExplainRequest,
): Promise<ResumeCheck[]> {
  const given = policy === undefined ? undefined : recordPolicy(policy);
  return [
    ...(definition === undefined
      ? []
      : [await check("definition", () => refuseOtherDefinition(state, definition))]),
    await check("policy", () => given && refuseOtherPolicy(state, given, acceptPolicy)),
    ...(task === undefined ? [] : [await check("task", () => refuseOtherTask(context, state, task))]),
  ];
}

async function check(name: ResumeCheck["check"], look: () => unknown): Promise<ResumeCheck> {
  try {
    await look();
    return { check: name, ok: true };
  } catch (error) {
    if (isHoldfastError(error)) return failed(name, error);
    throw error;
  }
}

function failed(name: ResumeCheck["check"], { code, message, details }: HoldfastError): ResumeCheck {
  const { hint } = details;
  return { check: name, ok: false, reason: message, ...(hint !== undefined && { hint }), error: code };
}

async function planOf(context: EngineContext, state: SessionState): Promise<ResumePlan | undefined> {
  try {
    return planResume(state, await readQueue(context.store, state.id));
  } catch (error) {
    // The check of the queue says so.
    if (isHoldfastError(error, "queue_damaged", "unsupported_version")) return undefined;
    throw error;
  }
}

function explanation(
  session: string,
  checks: ResumeCheck[],
  request: ExplainRequest,
  plan?: ResumePlan,
): ResumeExplanation {
  const verdict: readonly string[] = resumeBlockers;
  const nameOf = ({ check: name, error }: ResumeCheck) => (verdict.includes(name) ? name : (error ?? name));
  const blockers = checks.filter(({ ok }) => !ok).map(nameOf);
  const first = checks.find(({ ok }) => !ok);
  const next = first === undefined ? nextCommand(session, request, plan) : commandIn(first);
  return {
    session,
    eligible: blockers.length === 0,
    code: blockers[0] ?? "yes",
    blockers,
    checks,
    ...(plan !== undefined && { plan }),
    ...(next !== undefined && { next }),
  };
}

function nextCommand(
  session: string,
  { task, acceptRollback }: ExplainRequest,
  plan: ResumePlan | undefined,
): string {
  if (plan?.run !== undefined && plan.unknown > 0) return `holdfast run show ${session} ${plan.run}`;
  // An open run goes on with its own task, and messages that wait come before another one.
  const isPending = plan?.run !== undefined || (task === undefined && plan !== undefined && plan.deliver > 0);
  const flags = acceptRollback ? " --accept-rollback" : "";
  return `holdfast resume ${session}${flags}${isPending ? "" : ' --task "…"'}`;
}

/** The command of its hint; what a workspace needs is done elsewhere before any command of ours works. */
function commandIn({ check: name, hint = "" }: ResumeCheck): string | undefined {
  if (name === "cwd-missing" || name === "workspace") return undefined;
  return /holdfast (?:resume|run|send|session|store) .*?(?= — |$)/m.exec(hint)?.[0];
}
