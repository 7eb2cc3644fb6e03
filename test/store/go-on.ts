import { readWhole, sha256, utf8Text } from "../../src/host/index.ts";
import type {
  EpochRaised,
  Fact,
  Message,
  OpaqueFact,
  Repaired,
  SessionMoved,
} from "../../src/model/facts.ts";
import { Finding } from "../crash/campaign/finding.ts";
import { type Actor, type FileRecord, type Oracle, textsOf } from "./actor.ts";

/** A store, with what is known of it from outside. */
export interface Stage {
  readonly oracle: Oracle;
  /** Another process. */
  actor(name: string): Actor;
}

/**
 * Goes on with everything that is there, as if nothing had happened: each session is held, written and let go, each
 * queue gets a delivery from the holder and from somebody else; then all of it is compared with the oracle.
 */
export async function goOn(stage: Stage): Promise<void> {
  const sessions = await stage.actor("lister").store.ids();
  for (const session of stage.oracle.sessions) {
    if (!sessions.includes(session)) throw new Finding("lost", `session ${session} is gone`);
  }
  for (const session of sessions) {
    const round = stage.oracle.log(session).tried.size;
    const holder = stage.actor("holder");
    await holder.holdRepaired(session);
    await holder.say(`after ${round}`);
    await stage.actor("sender").admit(`sent ${round}`, session);
    await holder.admit(`held ${round}`);
    await holder.release();
    await compare(stage, session);
  }
}

/**
 * Rejects where the session is not what the oracle knows; with `mayBeTorn` before anybody has mended it, so that a piece
 * of a line may stand at the end.
 */
export async function compare(stage: Stage, session: string, { mayBeTorn = false } = {}): Promise<void> {
  const { store, host } = stage.actor("reader");
  const log: string[] = [];
  const messages: Message[] = [];
  const repairs: Repaired[] = [];
  const noteRepairs = (facts: readonly (Fact | OpaqueFact)[]): void =>
    void repairs.push(...facts.filter((fact): fact is Repaired => fact.kind === "repaired"));
  let owner: string | undefined;
  const history = await store.readStrictly(session, ({ facts }) => {
    owner = judgeOwner(facts, owner);
    log.push(...textsOf(facts));
    noteRepairs(facts);
    for (const fact of facts) if (fact.kind === "message") messages.push(fact as Message);
  });
  if (history.remainder.state !== "none" && !mayBeTorn)
    throw new Finding("other", `the log ends in a ${history.remainder.state} piece`);
  if (history.voids.length > 0 && !stage.oracle.mayHoldVoids)
    throw new Finding("other", "the log holds a void line");
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.type === "image") await store.blobs(session).get(part.blob);
  }
  const queue: string[] = [];
  await store.readQueue(session, ({ facts }) => {
    queue.push(...textsOf(facts));
    noteRepairs(facts);
  });
  for (const { saved } of repairs) if (saved !== undefined) await compareKept(store, host, saved);
  judge("log", log, stage.oracle.log(session));
  // Of two who admit at once either may be told first.
  const known = stage.oracle.queue(session);
  judge("queue", queue.toSorted(), { ...known, acknowledged: known.acknowledged.toSorted() });
}

/** What a line says is kept is kept, whole, whatever became of the one who kept it. */
async function compareKept(store: Actor["store"], { disk }: Actor["host"], saved: string): Promise<void> {
  const path = store.recoveryPath(saved);
  const kept = await readWhole(disk, path, Number.MAX_SAFE_INTEGER);
  const manifest = await readWhole(disk, `${path}.json`, Number.MAX_SAFE_INTEGER);
  if (kept === undefined || manifest === undefined) throw new Finding("lost", `${path} was not kept`);
  const said = JSON.parse(utf8Text(manifest)) as { readonly bytes: number; readonly sha256: string };
  if (kept.length !== said.bytes || sha256(kept) !== said.sha256)
    throw new Finding("lost", `${path} has not the ${said.bytes} bytes that were kept`);
}

/** A session that another store held before moves once, in the line in which its new store raises the epoch. */
function judgeOwner(facts: readonly (Fact | OpaqueFact)[], before: string | undefined): string | undefined {
  const raised = facts.find((fact): fact is EpochRaised => fact.kind === "epoch.raised");
  const moves = facts.filter((fact): fact is SessionMoved => fact.kind === "session.moved");
  const moved = raised !== undefined && before !== undefined && raised.store !== before;
  const expected = moved ? [`${before} to ${raised.store}`] : [];
  const found = moves.map(({ from, to }) => `${from} to ${to}`);
  if (found.join() !== expected.join())
    throw new Finding("other", `moved ${found.join()} where ${expected.join()} was due`);
  return raised?.store ?? before;
}

function judge(file: string, texts: readonly string[], known: FileRecord): void {
  const strange = texts.find((text) => !known.tried.has(text));
  if (strange !== undefined)
    throw new Finding("false success", `the ${file} holds ${strange}, which nobody wrote`);
  if (new Set(texts).size < texts.length)
    throw new Finding("repeated", `the ${file} holds something twice: ${texts.join(", ")}`);
  const there = texts.filter((text) => known.acknowledged.includes(text));
  if (there.join("\n") !== known.acknowledged.join("\n")) {
    throw new Finding(
      "lost",
      `the ${file} has of what was acknowledged (${known.acknowledged.join(", ")}) only: ${there.join(", ")}`,
    );
  }
}
