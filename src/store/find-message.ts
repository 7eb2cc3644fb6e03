import { readAt } from "../host/index.ts";
import type { Disk } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Fact, Message, OpaqueFact } from "../model/facts.ts";
import type { Appended } from "./appender.ts";
import { lineBytesMax } from "./line.ts";
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
  let found: Omit<Appended, "end"> | undefined;
  await readHistory(source, (commit, { offset }) => {
    if (messageOf(commit.facts)?.id === message.id) found = { commit, offset };
  });
  if (found === undefined) {
    throw new HoldfastError("internal", `message ${message.id} was read before and is not there now`);
  }
  if (canonical(messageOf(found.commit.facts)) !== canonical(message)) {
    throw new HoldfastError(
      "message_id_conflict",
      `message ${message.id} is there with other content, in line ${found.commit.seq} of session ${found.commit.ses}`,
    );
  }
  return { ...found, end: await endOf(source, found) };
}

/** A line holds at most one message, and that stands first. */
function messageOf(facts: readonly (Fact | OpaqueFact)[]): Message | undefined {
  return facts[0]?.kind === "message" ? (facts[0] as Message) : undefined;
}

async function endOf(source: HistorySource, found: Omit<Appended, "end">): Promise<number> {
  const { commit, offset } = found;
  const part = source.bases.find((base) => base.session === commit.ses) ?? source.own;
  return offset + (await lineLength(source.disk, part.path, offset));
}

async function lineLength(disk: Disk, path: string, offset: number): Promise<number> {
  const file = await disk.open(path, "read");
  try {
    return (await readAt(file, offset, lineBytesMax)).indexOf(0x0a) + 1;
  } finally {
    await file.close();
  }
}

/** The same text for the same content, whatever the order of members. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}
