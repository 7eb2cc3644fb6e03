import type { Fact, OpaqueFact } from "./facts.ts";

/** One line of a log: facts that became durable together. A9 One shape for file, stream, bundle and screen. */
export interface Commit {
  /** Version of the format. */
  readonly v: number;
  /** Id of the session whose file it stands in. */
  readonly ses: string;
  /** Position in its file, from 0. */
  readonly seq: number;
  /** How often the right to write the file had been taken. */
  readonly epoch: number;
  /** Wall clock in milliseconds since 1970. */
  readonly at: number;
  /** Trajectory rows of all accepted lines before this one, bases included. */
  readonly rec: number;
  /** Revision of the visible messages after this line. */
  readonly rev: number;
  /** Visible messages after this line. */
  readonly msgs: number;
  /** Byte offset of the newest accepted line before this one that holds a `row` fact. */
  readonly row: number;
  /** What happened, in this order; at least one. */
  readonly facts: readonly (Fact | OpaqueFact)[];
  /** The sum of the line before; of line 0, that of the last inherited line or 32 zeros. */
  readonly prev: string;
  /** The first 128 bits of SHA-256 over the line's bytes before it: 32 hex digits. */
  readonly sum: string;
}

const recordParts = new Set(["text", "reasoning", "image"]);
const noteParts = new Set(["context", "mail", "notice"]);

/**
 * Trajectory rows of one fact, by a table frozen for format 1 that looks at the fact alone: a message with text,
 * reasoning or image 1, plus 1 for each context, mail and notice; `op.asked`, `compacted`, `system.changed` 1; else 0.
 */
export function rowsOfFact(fact: Fact | OpaqueFact): number {
  switch (fact.kind) {
    case "message": {
      let [notes, records] = [0, 0];
      for (const { type } of (fact as { parts: readonly { type: string }[] }).parts) {
        if (noteParts.has(type)) notes++;
        else if (recordParts.has(type)) records = 1;
      }
      return notes + records;
    }
    case "op.asked":
    case "compacted":
    case "system.changed":
      return 1;
    default:
      return 0;
  }
}

/** The fact of a line, where it is of this kind. */
export function isFact<K extends Fact["kind"]>(
  fact: Fact | OpaqueFact,
  kind: K,
): fact is Extract<Fact, { kind: K }> {
  return fact.kind === kind;
}
