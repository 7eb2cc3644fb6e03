import type { Commit } from "./commit.ts";
import { corruption } from "./corruption.ts";
import type { EpochRaised, Fact, Message, Policy, Row, SessionCreated } from "./facts.ts";
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

/** Takes the next line in. Throws where it says something impossible. */
export function applyCommit(state: SessionState, commit: Commit): void {
  const lastAt = state.attempt?.lastAt ?? state.at;
  state.released = false;
  for (const fact of commit.facts) {
    if (isKnownKind(fact.kind)) applyFact(state, fact as Fact, { commit, lastAt });
  }
  const { seq, sum, epoch, at, rev } = commit;
  Object.assign(state, { seq, sum, epoch, at, revision: rev });
  if (state.attempt?.epoch === epoch) state.attempt = { epoch, lastAt: at };
}

interface Place {
  readonly commit: Commit;
  readonly lastAt: number;
}

function applyFact(state: SessionState, fact: Fact, place: Place): void {
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
    case "policy.accepted":
      state.policy = { policy: fact.policy, hash: fact.policyHash };
      return;
    case "message":
      applyMessage(state, fact, place.commit);
      return;
    case "rewound":
      applyRewind(state, fact, place.commit);
      return;
    case "run.created":
    case "run.started":
    case "run.suspended":
    case "run.input_required":
    case "run.ended":
    case "model.requested":
    case "model.answered":
    case "model.failed":
      applyRunFact(state, fact, place);
      return;
    case "op.asked":
    case "op.started":
    case "op.known":
    case "op.unknown":
    case "op.resolved":
    case "op.settled":
      applyOperationFact(state, fact, place.commit.at);
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

function applyRunFact(state: SessionState, fact: RunFact, place: Place): void {
  const { at, epoch } = place.commit;
  const run = evolveRun(state.runs.get(fact.run), fact, { at, epoch, lastAt: place.lastAt });
  state.runs.set(fact.run, run);
  if (fact.kind === "run.started") state.attempt = { epoch, lastAt: at };
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

function applyOperationFact(state: SessionState, fact: OperationFact, at: number): void {
  const { operation } = fact;
  const replaced =
    fact.kind === "op.asked" && fact.replaces !== undefined ? state.operations.get(fact.replaces) : undefined;
  state.operations.set(operation, evolveOperation(state.operations.get(operation), fact, at, replaced));
  if (fact.kind === "op.asked") {
    if (fact.call !== undefined) state.calls.set(operation, fact.call);
    const { rawArgs: text, rawArgsBlob: blob } = fact;
    if (text !== undefined || blob !== undefined) state.rawArgs.set(operation, { text, blob });
    const index = replaced === undefined ? -1 : state.open.indexOf(replaced.operation);
    if (index === -1) state.open.push(operation);
    else state.open[index] = operation;
  } else if (fact.kind === "op.settled") {
    state.open = state.open.filter((one) => one !== operation);
  }
}

/** The run that is not over, if any. */
export function openRun(state: SessionState): RunState | undefined {
  return [...state.runs.values()].findLast((run) => !isOver(run));
}

/** The newest run. */
export function newestRun(state: SessionState): RunState | undefined {
  return [...state.runs.values()].at(-1);
}

/** The operations of the open turn, in order. */
export function openOperations(state: SessionState): OperationState[] {
  return state.open.flatMap((id) => state.operations.get(id) ?? []);
}
