import { HoldfastError } from "../model/errors.ts";
import type { Fact, Message, OpaqueFact } from "../model/facts.ts";
import { canonicalJson } from "../model/canonical-json.ts";
import type { Appended } from "./appender.ts";
import type { HistorySource } from "./read-log.ts";
import { readHistory } from "./read-log.ts";

/**
 * A message's id is its identity: appended again with equal content it changes nothing, and with other content it is
 * refused. A log that held one twice would be closed for every strict reader.
 */

/**
 * The line that already holds the message of these facts; undefined where they hold none, or a new one. `known` are the
 * ids of all messages of the history, which is read again only where one comes twice. Rejects `message_id_conflict`.
 */
export async function findMessage(
  source: HistorySource,
  known: ReadonlySet<string>,
  facts: readonly (Fact | OpaqueFact)[],
): Promise<Appended | undefined> {
  const message = messageOf(facts);
  if (message === undefined || !known.has(message.id)) return undefined;
  let found: Appended | undefined;
  await readHistory(source, (commit, { offset, end }) => {
    if (messageOf(commit.facts)?.id === message.id) found = { commit, offset, end };
  });
  if (found === undefined) {
    throw new HoldfastError("internal", `message ${message.id} was read before and is not there now`);
  }
  if (contentOf(found.commit.facts) !== contentOf(facts)) {
    const { seq, ses } = found.commit;
    throw new HoldfastError(
      "message_id_conflict",
      `message ${message.id} is there with other content, in line ${seq} of session ${ses}`,
      { hint: `Give the message another id, or see what is there: holdfast session show ${ses}` },
    );
  }
  return found;
}

/** A line holds at most one message, and that stands first. */
function messageOf(facts: readonly (Fact | OpaqueFact)[]): Message | undefined {
  return facts[0]?.kind === "message" ? (facts[0] as Message) : undefined;
}

/**
 * What must be equal: all that happens together with the message. The row is a view of what was before, so that the
 * second time there is none.
 */
function contentOf(facts: readonly (Fact | OpaqueFact)[]): string {
  return canonicalJson(facts.filter((fact) => fact.kind !== "row"));
}
