import type { Commit } from "./commit.ts";
import { corruption, faultOr } from "./corruption.ts";
import type {
  ApprovalRule,
  EpochRaised,
  Fact,
  Message,
  OpaqueFact,
  Policy,
  Row,
  SessionCreated,
} from "./facts.ts";
import { isKnownKind } from "./facts.ts";
import type { OperationFact, OperationState } from "./operation.ts";
import { evolveOperation } from "./operation.ts";
import type { RunFact, RunState } from "./run.ts";
import { evolveRun, isOver } from "./run.ts";
import type { BlobRef } from "./values.ts";

/**
 * The fold of a session: what its log says, after each line. It is extended in place, commit by commit, by the engine
 * that writes the log and by whoever reads it; nothing else in the house knows a session's state.
 */

/** A message and where it stands. */
export interface PlacedMessage {
  readonly message: Message;
  readonly seq: number;
  readonly at: number;
}

/** The visible messages as a list that shares its past, so that a rewind is a jump to an older end. */
export interface VisibleEnd {
  readonly placed: PlacedMessage;
  readonly before: VisibleEnd | undefined;
}

/** What the log says, up to its last line. */
export interface SessionState {
  readonly id: string;
  created: SessionCreated;
  row: Row;
  /** The policy in force: line 0's, or the last accepted one. */
  policy: { readonly policy: Policy; readonly hash: string };
  /** The head: last line, its epoch, sum and wall clock. */
  seq: number;
  sum: string;
  epoch: number;
  at: number;
  /** The epoch of the last attempt, and the wall clock of that epoch's last line. */
  attempt: { readonly epoch: number; readonly lastAt: number } | undefined;
  /** Who took the lease last. */
  owner: EpochRaised | undefined;
  /** True where the last holder let go in good order. */
  released: boolean;
  /** Revision and count of the visible messages. */
  revision: number;
  /** Visible messages in order. */
  readonly messages: PlacedMessage[];
  readonly runs: Map<string, RunState>;
  readonly operations: Map<string, OperationState>;
  /** Provider's id of each operation's call. */
  readonly calls: Map<string, string>;
  /** The provider's text of each operation's arguments, where it differs from how they are kept. */
  readonly rawArgs: Map<string, { readonly text?: string | undefined; readonly blob?: BlobRef | undefined }>;
  /** Operation ids of the turn that is not settled, in order; those that were replaced left out. */
  open: string[];
  /** Where the message of each delivery stands. */
  readonly deliveries: Map<string, { readonly seq: number; readonly sum: string; readonly message: string }>;
  /** Answers of people that hold for later operations, by capability. */
  readonly rules: Map<string, Pick<ApprovalRule, "decision" | "by">>;
  /** Position of the line with the last `model.requested`. */
  requestedSeq: number | undefined;
  /** The cassette's turn that the next call takes. */
  cassetteIndex: number;
  /** System text and tools of the last call, by hash. */
  system: string | undefined;
  /** The end of the visible messages, now and after each line that added one: what rewinds go back to. */
  visibleEnd: VisibleEnd | undefined;
  readonly marks: { readonly session: string; readonly seq: number; readonly end: VisibleEnd | undefined }[];
}

/**
 * The state after line 0. A branch goes on from what it inherited: the conversation and its operations, not the runs.
 * Throws where the line is no beginning.
 */
export function beginSession(session: string, commit: Commit, inherited?: SessionState): SessionState {
  const [created] = commit.facts;
  const row = commit.facts.at(-1);
  if (created?.kind !== "session.created" || row?.kind !== "row") {
    throw corruption("line 0 holds no session.created and row");
  }
  const line0 = created as SessionCreated;
  const { seq, sum, epoch, at, rev } = commit;
  return {
    id: session,
    created: line0,
    row: row as Row,
    policy: { policy: line0.policy, hash: line0.policyHash },
    seq,
    sum,
    epoch,
    at,
    attempt: undefined,
    owner: undefined,
    released: true,
    revision: rev,
    runs: new Map(),
    open: [],
    deliveries: new Map(),
    rules: new Map(),
    requestedSeq: undefined,
    ...conversationOf(inherited),
  };
}

type Conversation = Pick<
  SessionState,
  "messages" | "operations" | "calls" | "rawArgs" | "cassetteIndex" | "system" | "visibleEnd" | "marks"
>;

function conversationOf(inherited: SessionState | undefined): Conversation {
  if (inherited === undefined) {
    const empty = { messages: [], operations: new Map(), calls: new Map(), rawArgs: new Map(), marks: [] };
    return { ...empty, cassetteIndex: 0, system: undefined, visibleEnd: undefined };
  }
  const { messages, operations, calls, rawArgs, cassetteIndex, system, visibleEnd, marks } = inherited;
  return { messages, operations, calls, rawArgs, cassetteIndex, system, visibleEnd, marks };
}

/**
 * Takes the next line in. Where it says something impossible it leaves the state as it is and returns why, as words: a
 * line is true as a whole or not at all.
 */
export function applyCommit(state: SessionState, commit: Commit): string | undefined {
  const lastAt = state.attempt?.lastAt ?? state.at;
  const evolved = faultOr(() => evolveMachines(state, commit, lastAt));
  if (typeof evolved === "string") return evolved;
  state.released = false;
  for (const fact of commit.facts) {
    if (isKnownKind(fact.kind)) applyFact(state, fact as Fact, commit);
  }
  for (const [id, run] of evolved.runs) state.runs.set(id, run);
  for (const [id, operation] of evolved.operations) state.operations.set(id, operation);
  const { seq, sum, epoch, at, rev } = commit;
  Object.assign(state, { seq, sum, epoch, at, revision: rev });
  if (state.attempt?.epoch === epoch) state.attempt = { epoch, lastAt: at };
  return undefined;
}

/** What a line makes of the runs and operations that it names. */
interface Evolved {
  readonly runs: Map<string, RunState>;
  readonly operations: Map<string, OperationState>;
}

/** Why a line cannot follow, or undefined where it can: asked before it is written, as it is asked when it is read. */
export function faultOfLine(
  state: SessionState,
  line: Pick<Commit, "facts" | "at" | "epoch">,
): string | undefined {
  const evolved = faultOr(() => evolveMachines(state, line, state.at));
  return typeof evolved === "string" ? evolved : undefined;
}

/** Follows a line's facts through the machines, beside the state. Throws on an impossible pair. */
function evolveMachines(
  state: SessionState,
  line: Pick<Commit, "facts" | "at" | "epoch">,
  lastAt: number,
): Evolved {
  const evolved: Evolved = { runs: new Map(), operations: new Map() };
  const runOf = (id: string) => evolved.runs.get(id) ?? state.runs.get(id);
  const operationOf = (id: string) => evolved.operations.get(id) ?? state.operations.get(id);
  const { at, epoch } = line;
  for (const fact of line.facts) {
    if (isRunFact(fact)) {
      refuseTogether(state, evolved, fact);
      evolved.runs.set(fact.run, evolveRun(runOf(fact.run), fact, { at, epoch, lastAt }));
    } else if (isOperationFact(fact)) {
      const { operation } = fact;
      const run = runOf(fact.kind === "op.asked" ? fact.run : (operationOf(operation)?.run ?? ""));
      const replaces = fact.kind === "op.asked" ? fact.replaces : undefined;
      const replaced = replaces === undefined ? undefined : operationOf(replaces);
      evolved.operations.set(operation, evolveOperation(operationOf(operation), fact, at, replaced));
      if (run === undefined || isOver(run)) {
        throw corruption(`${fact.kind} of operation ${operation}, whose run is ${run?.at ?? "not there"}`);
      }
    }
  }
  return evolved;
}

/** What a run cannot meet beside the others: one is open at a time, and it is over only when its operations are. */
function refuseTogether(state: SessionState, evolved: Evolved, fact: RunFact): void {
  if (fact.kind === "run.created") {
    const open = openRun({ runs: new Map([...state.runs, ...evolved.runs]) });
    if (open !== undefined && open.run !== fact.run)
      throw corruption(`run ${fact.run} is created while run ${open.run} is open`);
  } else if (fact.kind === "run.ended" && fact.status !== "failed") {
    for (const id of state.open) {
      const operation = evolved.operations.get(id) ?? state.operations.get(id);
      if (operation?.at !== "unknown" && operation?.at !== "started") continue;
      throw corruption(`run ${fact.run} is ${fact.status} while operation ${id} is ${operation.at}`);
    }
  }
}

const runKinds: ReadonlySet<string> = new Set<RunFact["kind"]>([
  "run.created",
  "run.started",
  "run.suspended",
  "run.input_required",
  "run.ended",
  "model.requested",
  "model.answered",
  "model.failed",
]);
const operationKinds: ReadonlySet<string> = new Set<OperationFact["kind"]>([
  "op.asked",
  "op.started",
  "op.known",
  "op.unknown",
  "op.resolved",
  "op.settled",
  "approval.asked",
  "approval.decided",
]);

function isRunFact(fact: Fact | OpaqueFact): fact is RunFact {
  return runKinds.has(fact.kind);
}

function isOperationFact(fact: Fact | OpaqueFact): fact is OperationFact {
  return operationKinds.has(fact.kind);
}

/** The rest of a fact: what the machines do not keep. */
function applyFact(state: SessionState, fact: Fact, commit: Commit): void {
  switch (fact.kind) {
    case "row":
      state.row = fact;
      return;
    case "epoch.raised":
      state.owner = fact;
      return;
    case "lease.released":
      state.released = true;
      return;
    case "approval.rule":
      state.rules.set(fact.capability, { decision: fact.decision, by: fact.by });
      return;
    case "policy.accepted":
      state.policy = { policy: fact.policy, hash: fact.policyHash };
      return;
    case "message":
      applyMessage(state, fact, commit);
      return;
    case "rewound":
      applyRewind(state, fact, commit);
      return;
    case "run.created":
    case "run.started":
    case "run.suspended":
    case "run.input_required":
    case "run.ended":
    case "model.requested":
    case "model.answered":
    case "model.failed":
      applyRunFact(state, fact, commit);
      return;
    case "op.asked":
    case "op.started":
    case "op.known":
    case "op.unknown":
    case "op.resolved":
    case "op.settled":
      applyOperationFact(state, fact);
      return;
    default:
      return;
  }
}

function applyMessage(state: SessionState, message: Message, commit: Commit): void {
  const { seq, at, sum, ses } = commit;
  const placed = { message, seq, at };
  state.messages.push(placed);
  state.visibleEnd = { placed, before: state.visibleEnd };
  state.marks.push({ session: ses, seq, end: state.visibleEnd });
  if (message.delivery !== undefined)
    state.deliveries.set(message.delivery, { seq, sum, message: message.id });
}

function applyRewind(state: SessionState, fact: Extract<Fact, { kind: "rewound" }>, commit: Commit): void {
  state.visibleEnd = state.marks.findLast(
    (mark) => mark.session === fact.session && mark.seq <= fact.seq,
  )?.end;
  state.marks.push({ session: commit.ses, seq: commit.seq, end: state.visibleEnd });
  state.messages.length = 0;
  for (let end = state.visibleEnd; end !== undefined; end = end.before) state.messages.push(end.placed);
  state.messages.reverse();
}

function applyRunFact(state: SessionState, fact: RunFact, { at, epoch, seq }: Commit): void {
  if (fact.kind === "run.started") state.attempt = { epoch, lastAt: at };
  if (fact.kind === "model.requested") state.requestedSeq = seq;
  if (fact.kind === "model.requested") state.system = systemKey(fact);
  if (fact.kind === "model.requested" && fact.cassetteIndex !== undefined)
    state.cassetteIndex = fact.cassetteIndex;
  const isTaken =
    fact.kind === "model.answered" || (fact.kind === "model.failed" && fact.reason !== "interrupted");
  if (isTaken) state.cassetteIndex++;
  if (fact.kind === "run.ended") state.open = [];
}

/** One text for the system text and the tools of a call, to tell whether they changed. */
export function systemKey(fact: { system: { sha256: string }; tools: Record<string, string> }): string {
  return `${fact.system.sha256} ${JSON.stringify(fact.tools)}`;
}

function applyOperationFact(state: SessionState, fact: OperationFact): void {
  const { operation } = fact;
  if (fact.kind === "op.asked") {
    if (fact.call !== undefined) state.calls.set(operation, fact.call);
    const { rawArgs: text, rawArgsBlob: blob } = fact;
    if (text !== undefined || blob !== undefined) state.rawArgs.set(operation, { text, blob });
    const index = fact.replaces === undefined ? -1 : state.open.indexOf(fact.replaces);
    if (index === -1) state.open.push(operation);
    else state.open[index] = operation;
  } else if (fact.kind === "op.settled") {
    state.open = state.open.filter((one) => one !== operation);
  }
}

/** The run that is not over, if any. */
export function openRun(state: Pick<SessionState, "runs">): RunState | undefined {
  return [...state.runs.values()].findLast((run) => !isOver(run));
}

/** The newest run. */
export function newestRun(state: SessionState): RunState | undefined {
  return [...state.runs.values()].at(-1);
}

/** Those of the open turn of which nobody knows how they ended: a person must say, before its run goes on. */
export function unknownOperations(state: SessionState): OperationState[] {
  return openOperations(state).filter(({ at }) => at === "unknown");
}

/** The operations of the open turn, in order. */
export function openOperations(state: SessionState): OperationState[] {
  return state.open.flatMap((id) => state.operations.get(id) ?? []);
}
