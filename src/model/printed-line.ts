import type { Commit } from "./commit.ts";
import type { Fact, OpaqueFact } from "./facts.ts";

/** The durable facts of a log as scripts read them: one JSON object a fact, of which one line is printed. */

/** Version of the printed lines. */
export const printedSchema = 1;

/** What stands in every printed line of a fact. */
export interface PrintedLine {
  /** Version of the printed lines. */
  readonly schema: typeof printedSchema;
  /** Position of the fact's line in the log; facts of one commit share it. */
  readonly seq: number;
  /** Wall clock of that commit in milliseconds. */
  readonly at: number;
  /** Id of the session. */
  readonly session: string;
  /** The fact's kind. */
  readonly type: string;
  /** The fact's own members that are named like one of the envelope's. */
  readonly fact?: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

const taken: ReadonlySet<string> = new Set(["schema", "seq", "at", "session", "type", "fact"]);

/** They say how the log is kept, and nothing of what happened. */
const unprinted: ReadonlySet<string> = new Set(["row", "lease.released"]);

/** What is printed for a commit once it is durable, in the order of its facts. */
export function printCommit(commit: Commit): PrintedLine[] {
  return commit.facts.filter((fact) => !unprinted.has(fact.kind)).map((fact) => printFact(commit, fact));
}

/**
 * The envelope, then the fact's members but its kind. A member named like one of the envelope's never replaces it: such
 * members stand together in `fact`.
 */
function printFact(commit: Commit, fact: Fact | OpaqueFact): PrintedLine {
  const { seq, at, ses: session } = commit;
  const { kind: type, ...members } = fact;
  const own = Object.entries(members).filter(([name]) => taken.has(name));
  const free = Object.entries(members).filter(([name]) => !taken.has(name));
  const envelope = { schema: printedSchema, seq, at, session, type } as const;
  return {
    ...envelope,
    ...Object.fromEntries(free),
    ...(own.length > 0 && { fact: Object.fromEntries(own) }),
  };
}
