import type { Commit } from "../model/commit.ts";
import type { Fact, OpaqueFact } from "../model/facts.ts";
import { factSchemas, faultOfFact } from "../model/facts.ts";
import type { Envelope } from "./line.ts";
import { factsText, raisesEpoch } from "./line.ts";

/** A line's facts, parsed and validated; or why they are no legal facts. */
export type ParsedFacts = { readonly facts: readonly (Fact | OpaqueFact)[] } | { readonly fault: string };

/** Parses the facts of a line that verifies, and checks them against their schemas and the order of facts. */
export function parseFacts(line: Uint8Array, envelope: Envelope): ParsedFacts {
  const text = factsText(line, envelope);
  if (text === undefined) return { fault: "is not UTF-8" };
  let facts: unknown;
  try {
    facts = JSON.parse(text);
  } catch (error) {
    return { fault: `facts are not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (!Array.isArray(facts)) return { fault: "facts are not an array" };
  for (const fact of facts) {
    const fault = faultOfFact(fact);
    if (fault !== undefined) return { fault };
  }
  const fault = faultOfOrder(facts as Fact[], envelope.seq);
  if (fault !== undefined) return { fault };
  // The chain goes by the bytes and the fold by the facts: they must not be able to disagree.
  if (((facts as Fact[])[0]?.kind === "epoch.raised") !== raisesEpoch(line, envelope)) {
    return { fault: "its bytes and its facts disagree on whether it raises the epoch" };
  }
  return { facts: facts as Fact[] };
}

/** The same for a line of a log, whose line 0 begins with `session.created`. */
export function parseLogFacts(line: Uint8Array, envelope: Envelope): ParsedFacts {
  const parsed = parseFacts(line, envelope);
  if ("fault" in parsed) return parsed;
  for (const { kind } of parsed.facts) {
    if (queueKinds.has(kind)) return { fault: `${kind} stands in a queue only` };
  }
  if (envelope.seq !== 0 || parsed.facts[0]?.kind === "session.created") return parsed;
  return { fault: "line 0 begins with session.created" };
}

/** The same for a line of a queue. */
export function parseQueueFacts(line: Uint8Array, envelope: Envelope): ParsedFacts {
  const parsed = parseFacts(line, envelope);
  if ("fault" in parsed) return parsed;
  for (const { kind } of parsed.facts) {
    if (logKinds.has(kind)) return { fault: `${kind} stands in a log only` };
  }
  return parsed;
}

const kinds = Object.keys(factSchemas);
/** Kinds of one file alone; a kind that nobody knows may stand in either. */
const queueKinds = new Set(kinds.filter((kind) => /^(delivery|request)\./.test(kind)));
const logKinds = new Set(
  kinds.filter((kind) => !queueKinds.has(kind) && kind !== "epoch.raised" && kind !== "repaired"),
);

/**
 * Order of facts: `epoch.raised` or a message first (never both, at most one message), at most one `row`, last; line 0
 * of a log begins with `session.created` and holds no message. So a line is always a possible fork point.
 */
function faultOfOrder(facts: readonly (Fact | OpaqueFact)[], seq: number): string | undefined {
  if (facts.length === 0) return "a line holds at least one fact";
  let index = 0;
  for (const { kind } of facts) {
    if (kind === "session.created" && (index !== 0 || seq !== 0))
      return "session.created stands first in line 0 only";
    if (kind === "epoch.raised" && index !== 0) return "epoch.raised stands first";
    if (kind === "message" && index !== 0) return "a message stands first, alone";
    if (kind === "row" && index !== facts.length - 1) return "a row stands last, alone";
    index++;
  }
  return undefined;
}

/** The commit of a line and its parsed facts. */
export function commitOf(envelope: Envelope, facts: readonly (Fact | OpaqueFact)[]): Commit {
  const { v, ses, seq, epoch, at, rec, rev, msgs, row, prev, sum } = envelope;
  return { v, ses, seq, epoch, at, rec, rev, msgs, row, facts, prev, sum };
}
