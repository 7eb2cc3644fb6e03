import type { ParentLink, Row, SessionCreated } from "./facts.ts";
import type { SessionState } from "./fold.ts";
import type { Approval, OperationState } from "./operation.ts";
import type { RunState } from "./run.ts";
import { isOver } from "./run.ts";
import type { BlobRef, EffectClass, Json, Outcome, Usage } from "./values.ts";

/** What scripts and screens are shown: the shapes of `--json`. Views of the fold, nothing of their own. */

/** One run in a list. */
export interface RunSummary {
  /** Id of the run. */
  run: string;
  /** What it is doing, or how it ended. */
  status: RunStatus;
  /** Processes that picked it up. */
  attempts: number;
  /** When its task became a run, in milliseconds since 1970. */
  createdAt: number;
  /** When it ended; absent while it is open. */
  endedAt?: number;
}

/** A run's state as people see it: a running one without a live lease is interrupted. */
export type RunStatus = RunState["at"] | "interrupted";

/** One operation of a run. */
export interface OperationView {
  /** Id of the operation. */
  id: string;
  /** The tool's name. */
  tool: string;
  /** The arguments as they are recorded; `{blob}` where they are too long for that. */
  args: Json;
  /** What the tool may do to the world. */
  effect: EffectClass;
  /** How far it is. */
  state: OperationState["at"];
  /** How it ended; absent until that is known. */
  outcome?: Outcome;
  /** What the model reads. */
  output?: string;
  /** What the model reads, where it is too long to stand here. */
  outputBlob?: BlobRef;
  /** When it started, in milliseconds since 1970. */
  startedAt?: number;
  /** When it ended. */
  endedAt?: number;
  /** Milliseconds that the effect took, where that was measured. */
  durationMs?: number;
  /** What the tool tells beside the output: exit code, signal, how it was proven after an interruption. */
  details?: Json;
  /** What was recorded before the effect started, and, where its outcome is unknown, all that was found. */
  evidence?: Json;
  /** Why the outcome is unknown. */
  reason?: string;
  /** When it was found to be unknown, and the evidence gathered. */
  unknownAt?: number;
  /** Where a person must allow it: who is asked since when, and what was decided by whom. */
  approval?: {
    capability: string;
    askedAt: number;
    decision?: "allow" | "deny";
    by?: string;
    at?: number;
    reason?: string;
  };
  /** Who said what happened, when, and how they know; absent where nobody had to. */
  resolution?: { by: string; at: number; evidence?: string };
}

/** One run, whole. */
export interface RunView extends RunSummary {
  /** Id of the session. */
  session: string;
  /** What it was told to do. */
  task?: string;
  /** The same, where it is too long to stand here. */
  taskBlob?: BlobRef;
  /** Model answers, over all attempts. */
  turns: number;
  /** Tokens of all its model calls. */
  usage: Usage;
  /** The final answer of a completed run, at most 32 KiB of it. */
  text?: string;
  /** Why it did not complete, or does not go on. */
  error?: string;
  /** Its operations, oldest first. */
  operations: OperationView[];
}

/** One session in a list. */
export interface SessionRow {
  /** Id of the session. */
  id: string;
  /** What people call it; "" before there is a title. */
  title: string;
  /** Name of the agent that answers. */
  agent: string;
  /** The model that answers, as `provider/model`. */
  model?: string;
  /** Absolute path of the workspace's root. */
  workspace: string;
  /** When it was made, in milliseconds since 1970. */
  createdAt: number;
  /** When its log last grew. */
  updatedAt: number;
  /** True where a process holds it. */
  active: boolean;
  /** True where lists hide it unless asked. */
  archived: boolean;
  /** True where lists show it before the others. */
  pinned: boolean;
  /** How many messages are visible. */
  messages: number;
  /** Id of the parent session, where it is a branch. */
  parent?: string;
  /** Set where the log is damaged: why and where. */
  damaged?: string;
}

/** Where a session belongs among its branches; of one that is no branch, that it is the root. */
export interface BranchView {
  /** Id of the first ancestor of the family; its own where it is no branch. */
  root: string;
  /** Id of the session that it left; null where it is no branch. */
  parent: string | null;
  /** True where that session is not in this store. */
  parentMissing: boolean;
  /** Where it left: a message, its place among the visible ones from 1, when that was said, and the side of the cut. */
  forkPoint: { message?: string; ordinal?: number; at?: number; position: "before" | "after" } | null;
  /** What for: `manual`, `edit` or `rerun`; null where it is no branch. */
  kind: ParentLink["kind"] | null;
  /** True for a branch that carries its past with it instead of sharing it. */
  legacy: boolean;
}

/** The place of a session among its branches, from its line 0. */
export function viewBranch(
  id: string,
  { parent, bases = [] }: Pick<SessionCreated, "parent" | "bases">,
  parentMissing: boolean,
): BranchView {
  if (parent === undefined) {
    return { root: id, parent: null, parentMissing: false, forkPoint: null, kind: null, legacy: false };
  }
  const { session, root, message, ordinal, messageAt: at, position, kind } = parent;
  const forkPoint = {
    ...(message !== undefined && { message }),
    ...(ordinal !== undefined && { ordinal }),
    ...(at !== undefined && { at }),
    position,
  };
  return { root, parent: session, parentMissing, forkPoint, kind, legacy: bases.length === 0 };
}

/** The row of a list, from what stands at a log's end. */
export function viewRow(
  id: string,
  row: Row,
  rest: { createdAt: number; updatedAt: number; active: boolean; messages: number },
): SessionRow {
  const { title, agent, model, binding: workspace, archived, pinned, parent } = row;
  return {
    id,
    title,
    agent,
    ...(model !== undefined && { model }),
    workspace,
    ...rest,
    archived,
    pinned,
    ...(parent !== undefined && { parent }),
  };
}

/** A run's status, given whether a process holds the session. */
export function statusOf(run: RunState, active: boolean): RunStatus {
  return run.at === "running" && !active ? "interrupted" : run.at;
}

/** One run in a list. */
export function viewRunSummary(run: RunState, active: boolean): RunSummary {
  const { run: id, attempts, createdAt } = run;
  const ended = isOver(run) ? { endedAt: run.endedAt } : {};
  return { run: id, status: statusOf(run, active), attempts, createdAt, ...ended };
}

/** One run, whole. */
export function viewRun(state: SessionState, run: RunState, active: boolean): RunView {
  const args = argsByOperation(state);
  const operations = [...state.operations.values()].filter((operation) => operation.run === run.run);
  const { turns, usage } = run;
  const text = run.at === "completed" && run.text !== undefined ? { text: run.text } : {};
  const error = errorOf(run);
  return {
    ...viewRunSummary(run, active),
    session: state.id,
    ...taskOf(state, run),
    turns,
    usage,
    ...text,
    ...(error !== undefined && { error }),
    operations: operations.map((operation) =>
      viewOperation(operation, args.get(operation.origin) ?? startedArgs(operation)),
    ),
  };
}

function taskOf(state: SessionState, run: RunState): Pick<RunView, "task" | "taskBlob"> {
  const [part] = state.messages.find(({ message }) => message.id === run.message)?.message.parts ?? [];
  if (part?.type !== "text") return {};
  return part.blob === undefined ? { task: part.text ?? "" } : { taskBlob: part.blob };
}

/** What told the attempt to end, for people. */
const suspendedBy: Readonly<Record<string, string>> = {
  signal: "its process was told to end by a signal",
  stop: "its process was told to end by a request",
};

function errorOf(run: RunState): string | undefined {
  if (run.at === "suspended") return run.error ?? suspendedBy[run.reason] ?? run.reason;
  if (run.at !== "failed" && run.at !== "canceled") return undefined;
  const { at, by, error, text } = run;
  const reason = by === undefined ? run.reason : `${run.reason ?? at} by ${by}`;
  const words = [reason, error ?? text].filter((part) => part !== undefined && part !== "");
  return words.length === 0 ? undefined : words.join(": ");
}

/** The arguments that the model gave, by operation; what stands in a blob is named. */
function argsByOperation(state: SessionState): Map<string, Json> {
  const args = new Map<string, Json>();
  for (const { message } of state.messages) {
    for (const part of message.parts) {
      if (part.type === "tool_call")
        args.set(
          part.operation,
          part.args ?? (part.argsBlob === undefined ? {} : { blob: part.argsBlob.sha256 }),
        );
    }
  }
  return args;
}

/** A call whose message is not visible any more still tells what it was started with. */
function startedArgs(operation: OperationState): Json {
  if (operation.at === "asked") return {};
  return operation.args ?? (operation.argsBlob === undefined ? {} : { blob: operation.argsBlob.sha256 });
}

function viewOperation(operation: OperationState, args: Json): OperationView {
  const { operation: id, tool, effect, at: state } = operation;
  const view: OperationView = { id, tool, args, effect, state };
  if ("startedAt" in operation && operation.startedAt !== undefined) view.startedAt = operation.startedAt;
  if (operation.approval !== undefined) view.approval = viewApproval(operation.approval);
  if (operation.at === "known" || operation.at === "settled") addResult(view, operation);
  const doubt = operation.at === "asked" || operation.at === "started" ? undefined : operation.doubt;
  if (doubt !== undefined) {
    view.reason = doubt.reason;
    view.unknownAt = doubt.at;
    view.evidence = doubt.evidence;
  } else if ("evidence" in operation && operation.evidence !== undefined) {
    view.evidence = { ...operation.evidence } as Json;
  }
  return view;
}

function viewApproval({ capability, askedAt, decided }: Approval): NonNullable<OperationView["approval"]> {
  if (decided === undefined) return { capability, askedAt };
  const { decision, by, at, reason } = decided;
  return { capability, askedAt, decision, by, at, ...(reason !== undefined && { reason }) };
}

function addResult(
  view: OperationView,
  operation: Extract<OperationState, { at: "known" | "settled" }>,
): void {
  const { outcome, output, outputBlob, endedAt, durationMs, details, resolution } = operation.result;
  view.outcome = outcome;
  if (output !== undefined) view.output = output;
  if (outputBlob !== undefined) view.outputBlob = outputBlob;
  view.endedAt = endedAt;
  if (durationMs !== undefined) view.durationMs = durationMs;
  if (details !== undefined) view.details = details;
  if (resolution === undefined) return;
  const { by, at, evidence } = resolution;
  view.resolution = { by, at, ...(evidence !== undefined && { evidence }) };
}
