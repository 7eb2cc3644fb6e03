import type { Commit } from "../../src/model/commit.ts";
import { defaultDefinition } from "../../src/model/default-definition.ts";
import { completePolicy } from "../../src/model/policy.ts";
import type { Fact, Message, Part, Row, SessionCreated } from "../../src/model/facts.ts";
import type { SessionState } from "../../src/model/fold.ts";
import { beginSession, openOperations, openRun } from "../../src/model/fold.ts";
import { takeIn } from "./fold-log.ts";
import type { OperationState } from "../../src/model/operation.ts";
import { randomAnswer, randomTask } from "./history-answers.ts";
import { awaitsDecision } from "../../src/model/operation.ts";
import type { Stop } from "../../src/model/stop.ts";
import { evolveRow } from "../../src/model/row.ts";
import type { Step } from "../../src/model/next-step.ts";
import type { Holder } from "../../src/model/next-step.ts";
import { next } from "../../src/model/next-step.ts";
import type { Outcome } from "../../src/model/values.ts";

/** Random legal histories: a worker without an outside, whose every decision is taken from a tape. */

const session = "ses_00000000000000000000000000";
const limits = { maxTurns: 6 };
/** Capabilities about which a person is asked. */
export const asking: ReadonlySet<string> = new Set(["exec", "名前"]);
/** Steps after which a process lets go. */
const leaving: ReadonlySet<Step["do"]> = new Set(["suspend", "require_input", "end", "stop"]);
export const stops: readonly Stop[] = [
  { kind: "cancel", by: "me" },
  { kind: "abandon", by: "me" },
  { kind: "suspend", reason: "signal" },
  { kind: "budget" },
];

/** A history as it grows. */
export class History {
  readonly commits: Commit[] = [];
  readonly tape: number[];
  state: SessionState;
  /** Every step that the machine asked for, with the state of what it asked about at that time. */
  readonly steps: Step[] = [];
  /** Why the work should stop when it asked for each of them. */
  readonly stops: (Stop | undefined)[] = [];
  /** How many lines the log had at each call of the model. */
  readonly callsAt: number[] = [];
  /** Why the process that holds the session shall stop. */
  #stop: Stop | undefined;
  #ids = 0;
  #at = 1_764_511_111_111;
  #epoch = 0;
  #messages = 0;
  #revision = 0;

  constructor(tape: readonly number[]) {
    this.tape = [...tape];
    const created = firstFact();
    const row: Row = {
      kind: "row",
      title: "",
      titleBy: "auto",
      archived: false,
      pinned: false,
      agent: "builtin",
      binding: "/w",
      state: "idle",
      openUnknowns: 0,
    };
    const line0 = this.#line([created, row]);
    this.commits.push(line0);
    this.state = beginSession(session, line0);
  }

  /** Grows until the tape is read. */
  grow(): this {
    this.takeLease();
    while (this.tape.length > 0) this.#live();
    return this;
  }

  /** From here on nothing bad happens: whether a run that is open ends within so many steps. */
  settles(stepsMax: number): boolean {
    this.takeLease();
    for (let step = 0; step < stepsMax; step++) {
      const run = openRun(this.state);
      if (run === undefined) return true;
      this.#step(run.run);
    }
    return false;
  }

  /** From here on the work shall stop: the step by which it did, or none within so many. */
  stopsBy(stop: Stop, stepsMax: number): Step | undefined {
    this.#stop = stop;
    for (let step = 0; step < stepsMax; step++) {
      const run = openRun(this.state);
      if (run === undefined) return undefined;
      this.#step(run.run);
      const last = this.steps.at(-1);
      if (last !== undefined && leaving.has(last.do)) return last;
    }
    return undefined;
  }

  takeLease(): void {
    this.#epoch++;
    this.#stop = undefined;
    this.commit([
      {
        kind: "epoch.raised",
        store: "sto",
        device: "dev",
        host: "h",
        bootId: "b",
        pid: 1,
        startTime: "1",
        version: "0",
      },
    ]);
  }

  passTime(ms: number): void {
    this.#at += ms;
  }

  commit(facts: readonly Fact[]): void {
    const row = facts.reduce<Row>(evolveRow, this.state.row);
    const commit = this.#line(row === this.state.row ? facts : [...facts, row]);
    this.commits.push(commit);
    takeIn(this.state, commit);
  }

  /** The next decision, below `below`; 0, the dull one, where the tape is at its end. */
  #choose(below: number): number {
    return (this.tape.shift() ?? 0) % below;
  }

  #id(prefix: string): string {
    return `${prefix}_${++this.#ids}`;
  }

  #line(facts: readonly Fact[]): Commit {
    this.#at += 7;
    const { length: seq } = this.commits;
    const [message] = facts;
    if (message?.kind === "message") {
      this.#messages++;
      this.#revision++;
    }
    const sum = seq.toString(16).padStart(32, "0");
    const prev = Math.max(0, seq - 1)
      .toString(16)
      .padStart(32, "0");
    const numbers = { rec: 0, rev: this.#revision, msgs: this.#messages, row: 0 };
    return { v: 1, ses: session, seq, epoch: this.#epoch, at: this.#at, ...numbers, facts, prev, sum };
  }

  /** Something happens: mostly the next step, sometimes a death, a person's word, a new task or a rewind. */
  #live(): void {
    const run = openRun(this.state);
    const chance = this.#choose(12);
    if (chance === 9 && run !== undefined) this.#stop ??= stops[this.#choose(stops.length)];
    if (chance === 11) this.takeLease();
    else if (chance === 10) this.#rewind();
    else if (run === undefined) this.#newRun();
    else if (run.at === "input_required" && chance < 8 && this.#unknown() !== undefined) this.#resolve();
    else this.#step(run.run);
  }

  #newRun(): void {
    const run = this.#id("run");
    const parts = randomTask((below) => this.#choose(below));
    const message: Message = { kind: "message", id: this.#id("msg"), role: "user", parts, run };
    this.commit([message, { kind: "run.created", run, message: message.id }]);
  }

  #rewind(): void {
    // A rewind of an open run's turn is refused by whoever asks for it.
    if (openRun(this.state) !== undefined) return;
    this.#revision++;
    this.commit([{ kind: "rewound", session, seq: this.#choose(this.commits.length) }]);
  }

  #unknown(): OperationState | undefined {
    return openOperations(this.state).find((one) => one.at === "unknown");
  }

  /** A person says what happened to the first operation of which nobody knows. */
  #resolve(): void {
    const unknown = this.#unknown();
    if (unknown === undefined) return this.takeLease();
    const outcomes: Outcome[] = ["ok", "error", "not_executed"];
    const outcome = outcomes[this.#choose(3)] ?? "ok";
    this.commit([
      { kind: "op.resolved", operation: unknown.operation, outcome, output: "as seen", by: "me" },
    ]);
  }

  #step(id: string): void {
    const run = this.state.runs.get(id);
    if (run === undefined) throw new Error(`there is no run ${id}`);
    const step = next(run, openOperations(this.state), this.#holder());
    this.steps.push(step);
    this.stops.push(this.#stop);
    const elapsedMs = 5;
    switch (step.do) {
      case "start":
        return this.commit([{ kind: "run.started", run: id, attempt: step.attempt }]);
      case "call":
        return this.#call(id, step.turn);
      case "begin":
        return this.#begin(step.operations);
      case "prove":
        return this.#prove(step.operation);
      case "settle":
        return this.#settle(step.operations);
      case "require_input": {
        this.#stop = undefined;
        this.commit([{ kind: "run.input_required", run: id, operations: [...step.operations], elapsedMs }]);
        if (this.tape.length === 0) this.#resolve();
        return;
      }
      case "suspend":
        this.#stop = undefined;
        this.commit([{ kind: "run.suspended", run: id, reason: step.reason, elapsedMs }]);
        return this.takeLease();
      case "ask":
        return this.commit(
          step.operations.map(({ operation, tool }) => ({
            kind: "approval.asked",
            operation,
            capability: tool,
          })),
        );
      case "await":
        return this.#decide(step.operations);
      case "cancel":
        return this.commit(
          step.operations.map(({ operation }) => ({ kind: "op.known", operation, outcome: "canceled" })),
        );
      case "end": {
        const { usage, turns } = run;
        this.#stop = undefined;
        const { status, reason, by } = step;
        const why = { ...(reason !== undefined && { reason }), ...(by !== undefined && { by }) };
        return this.commit([{ kind: "run.ended", run: id, status, ...why, usage, turns, elapsedMs }]);
      }
      case "stop":
        // Told to leave before it picked the run up: somebody else does.
        this.#stop = undefined;
        return this.takeLease();
    }
  }

  #holder(): Holder {
    return {
      epoch: this.#epoch,
      limits,
      elapsedMs: 0,
      stop: this.#stop,
      needsApproval: ({ tool }) => asking.has(tool),
    };
  }

  /** A person, a rule or the end of a wait decides about the first that waits. */
  #decide(operations: readonly OperationState[]): void {
    const first = operations.find(awaitsDecision);
    if (first === undefined) throw new Error("nothing waits for a decision");
    const { operation } = first;
    const decided = { kind: "approval.decided", operation, by: "me" } as const;
    if (this.#choose(3) > 0) return this.commit([{ ...decided, decision: "allow" }]);
    this.commit([
      { ...decided, decision: "deny" },
      { kind: "op.known", operation, outcome: "denied", output: "denied by me" },
    ]);
  }

  #call(run: string, turn: number): void {
    this.callsAt.push(this.commits.length);
    const system = { sha256: "0".repeat(64), bytes: 1 };
    this.commit([
      { kind: "model.requested", run, turn, role: "execution", provider: "p", model: "m", system, tools: {} },
    ]);
    const chance = this.#choose(10);
    if (chance === 9) return this.#dieWhileAnswering(run, turn);
    if (chance >= 7) {
      const [retryable, began] = [this.#choose(2) === 0, this.#choose(2) === 0];
      const failed = {
        kind: "model.failed",
        run,
        turn,
        reason: "http",
        message: "no",
        durationMs: 1,
      } as const;
      return this.commit([{ ...failed, retryable, began }]);
    }
    this.#answer(run, turn);
  }

  /** What was streamed is kept as an interrupted message. */
  #dieWhileAnswering(run: string, turn: number): void {
    this.takeLease();
    if (this.#choose(2) === 0) return;
    const parts: Part[] = [{ type: "text", text: "Half an" }];
    const message = { kind: "message", id: this.#id("msg"), role: "assistant", run, turn } as const;
    this.commit([{ ...message, parts, interrupted: true }]);
  }

  #answer(run: string, turn: number): void {
    const choose = (below: number) => this.#choose(below);
    const { parts, asked } = randomAnswer(choose, (prefix) => this.#id(prefix), { run, turn });
    const facts: Fact[] = [...asked];
    if (asked.length === 0) {
      const ended = { kind: "run.ended", run, status: "completed", text: "" } as const;
      facts.push({ ...ended, usage: {}, turns: turn, elapsedMs: 5 });
    }
    const message = { kind: "message", id: this.#id("msg"), role: "assistant", parts, run, turn } as const;
    this.commit([
      message,
      { kind: "model.answered", run, turn, durationMs: 1, stopReason: "stop" },
      ...facts,
    ]);
  }

  #begin(operations: readonly OperationState[]): void {
    const ready = operations.filter((one) => {
      if (this.#choose(6) !== 5) return true;
      const outcome = this.#choose(2) === 0 ? "error" : "denied";
      this.commit([{ kind: "op.known", operation: one.operation, outcome, output: "" }]);
      return false;
    });
    if (ready.length === 0) return;
    this.commit(
      ready.map(({ operation, tool, effect }) => ({
        kind: "op.started",
        operation,
        tool,
        effect,
        evidence: { class: "opaque" },
      })),
    );
    for (const { operation } of ready) {
      if (this.#choose(5) === 4) return this.takeLease();
      const outcome = this.#choose(3) === 2 ? "error" : "ok";
      this.commit([{ kind: "op.known", operation, outcome, output: "did" }]);
    }
  }

  #prove(operation: OperationState): void {
    const { operation: id, run, turn, tool, effect } = operation;
    const notExecuted = { kind: "op.known", operation: id, outcome: "not_executed", output: "" } as const;
    switch (this.#choose(4)) {
      case 0:
        return this.commit([{ kind: "op.known", operation: id, outcome: "ok", output: "proven" }]);
      case 1:
        return this.commit([{ kind: "op.unknown", operation: id, reason: "nobody knows", evidence: {} }]);
      case 2:
        return this.commit([notExecuted]);
      default: {
        const again = { kind: "op.asked", operation: this.#id("op"), run, turn, tool, effect } as const;
        return this.commit([notExecuted, { ...again, replaces: id }]);
      }
    }
  }

  #settle(operations: readonly OperationState[]): void {
    const [{ run, turn } = { run: "", turn: 0 }] = operations;
    const parts = operations.flatMap((one): Part[] =>
      "result" in one
        ? [
            {
              type: "tool_result",
              operation: one.origin,
              outcome: one.result.outcome,
              output: one.result.output,
            },
          ]
        : [],
    );
    const ended = [...this.state.operations.values()].filter(
      (one) => one.at === "known" && one.run === run && one.turn === turn,
    );
    const message = { kind: "message", id: this.#id("msg"), role: "tool", parts, run, turn } as const;
    this.commit([message, ...ended.map(({ operation }) => ({ kind: "op.settled", operation }) as const)]);
  }
}

/** The state after the first `lines` lines. */
export function foldPrefix(commits: readonly Commit[], lines: number): SessionState {
  let folded: SessionState | undefined;
  for (const state of foldEach(commits.slice(0, lines))) folded = state;
  if (folded === undefined) throw new Error("a history begins with line 0");
  return folded;
}

/** The state after each line; the same one, that grows. */
export function* foldEach([line0, ...rest]: readonly Commit[]): Generator<SessionState> {
  if (line0 === undefined) return;
  const state = beginSession(session, line0);
  yield state;
  for (const commit of rest) {
    takeIn(state, commit);
    yield state;
  }
}

function firstFact(): SessionCreated {
  return {
    kind: "session.created",
    version: "0",
    agent: "builtin",
    workspace: { root: "/w", inode: "1", birthtimeNs: "1" },
    definition: defaultDefinition,
    definitionHash: "",
    capabilities: [],
    policy: completePolicy(),
    policyHash: "",
  };
}
