import type { Commit } from "../model/commit.ts";
import type { Fact, Message, OpaqueFact } from "../model/facts.ts";
import type { LineCounters } from "./counters.ts";
import { CounterFold } from "./counters.ts";
import type { Envelope } from "./line.ts";
import type { ParsedFacts } from "./read-facts.ts";
import { commitOf, parseLogFacts, parseQueueFacts } from "./read-facts.ts";
import type { LineVisitor, ScannedLine } from "./scan.ts";

/**
 * What a strict reader asks of a line beyond its place in the chain. Readers and writers go by the same rules: what one
 * of them took in the other would otherwise refuse, and the log were closed by its own writer.
 */
export interface FileRules {
  /** The line's facts, or why they are none that this file may hold. */
  parse(bytes: Uint8Array, envelope: Envelope): ParsedFacts;
  /** The counters that line `seq` must carry, were these its facts; undefined where a rewind names an unknown line. */
  countersOf(seq: number, facts: readonly (Fact | OpaqueFact)[]): LineCounters | undefined;
  /** Why these facts cannot follow those that were taken in. */
  faultOf(facts: readonly (Fact | OpaqueFact)[]): string | undefined;
  /** Takes the facts of an accepted line in. */
  take(line: { readonly seq: number; readonly offset: number }, facts: readonly (Fact | OpaqueFact)[]): void;
}

/** The rules of a history: counters that add up, and no message id twice, over the bases and the own log. */
export class LogRules implements FileRules {
  /** Ids of all messages taken in. */
  readonly messages = new Set<string>();
  readonly #counters = new CounterFold();
  #session = "";

  /** A new file begins, whose lines are of this session. */
  startFile(session: string): void {
    this.#session = session;
    this.#counters.startFile();
  }

  parse(bytes: Uint8Array, envelope: Envelope): ParsedFacts {
    return parseLogFacts(bytes, envelope);
  }

  countersOf(seq: number, facts: readonly (Fact | OpaqueFact)[]): LineCounters | undefined {
    return this.#counters.preview(this.#session, seq, facts);
  }

  faultOf(facts: readonly (Fact | OpaqueFact)[]): string | undefined {
    for (const fact of facts) {
      if (fact.kind !== "message") continue;
      const { id } = fact as Message;
      if (this.messages.has(id)) return `message ${id} is there already`;
    }
    return undefined;
  }

  take(line: { seq: number; offset: number }, facts: readonly (Fact | OpaqueFact)[]): void {
    this.#counters.apply({ session: this.#session, ...line }, facts);
    for (const fact of facts) if (fact.kind === "message") this.messages.add((fact as Message).id);
  }
}

const noCounters: LineCounters = { rec: 0, rev: 0, msgs: 0, row: 0 };

/** The rules of a queue, in which no line depends on another. */
export const queueRules: FileRules = {
  parse: parseQueueFacts,
  countersOf: () => noCounters,
  faultOf: () => undefined,
  take: () => undefined,
};

/** The commit of a line that the chain accepts; or why the rules do not. Takes nothing in. */
export function judgeByRules(
  rules: FileRules,
  bytes: Uint8Array,
  envelope: Envelope,
): { readonly commit: Commit } | { readonly fault: string } {
  const parsed = rules.parse(bytes, envelope);
  if ("fault" in parsed) return parsed;
  const { facts } = parsed;
  const fault = faultOfCounters(envelope, rules.countersOf(envelope.seq, facts)) ?? rules.faultOf(facts);
  return fault === undefined ? { commit: commitOf(envelope, facts) } : { fault };
}

/** Where an accepted line stands in its file. */
export interface LinePlace {
  readonly offset: number;
  /** Where it ends, its newline included. */
  readonly end: number;
}

/** Who is told of the lines of a strict reading. */
export interface StrictReader {
  /** Takes each accepted line; a returned text is a reason why it is damage after all. */
  accepted(commit: Commit, place: LinePlace): string | undefined;
  /** Takes each void line. */
  void(line: ScannedLine): void;
}

/** The visitor of every strict reading, a writer's own included. */
export function strictVisitor(rules: FileRules, reader: StrictReader): LineVisitor {
  return {
    take: (line, verdict) => {
      if (verdict === "void") {
        reader.void(line);
        return undefined;
      }
      const judged = judgeByRules(rules, line.bytes, line.envelope);
      if ("fault" in judged) return judged.fault;
      const { offset } = line;
      const { commit } = judged;
      const fault = reader.accepted(commit, { offset, end: offset + line.bytes.length });
      if (fault === undefined) rules.take({ seq: commit.seq, offset }, commit.facts);
      return fault;
    },
    faultOf: ({ bytes, envelope }) => {
      const judged = judgeByRules(rules, bytes, envelope);
      return "fault" in judged ? judged.fault : undefined;
    },
  };
}

const counterNames = ["rec", "rev", "msgs", "row"] as const;

function faultOfCounters(found: LineCounters, expected: LineCounters | undefined): string | undefined {
  if (expected === undefined) return "a rewind names a line that is not there";
  const wrong = counterNames.find((name) => found[name] !== expected[name]);
  return wrong && `${wrong} is ${found[wrong]} where ${expected[wrong]} was expected`;
}
