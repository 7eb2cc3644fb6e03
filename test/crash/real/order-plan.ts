import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Mishap } from "../../peers/mishap.ts";
import { Finding } from "../campaign/finding.ts";
import type { Case, Counts, Extent, Plan } from "../campaign/plan.ts";
import type { Child, ChildEnd } from "./child.ts";
import { draw } from "./draw.ts";
import type { Room } from "./room.ts";

/** Two processes that do things to one session, each started once for each case. */
export interface Meeting {
  readonly first: (mishap: Mishap) => Promise<Child>;
  readonly second: (mishap: Mishap) => Promise<Child>;
  /** Judges what is left when both are gone. */
  readonly judge: (ends: readonly ChildEnd[]) => Promise<void>;
  readonly end: () => void | Promise<void>;
}

/** What meets whom. */
export interface MeetingKind {
  readonly scenario: string;
  /** Changes of each that are looked at. */
  readonly changes: readonly [number, number];
  /** Every how manieth pair the full extent has. */
  readonly step: number;
  prepare(room: Room): Promise<Meeting>;
}

/** Before which change the one is held, and killed, while the other has made its own. */
interface Pair {
  readonly held: "first" | "second";
  readonly heldAt: number;
  readonly otherAt: number;
}

/** How long the other has to make its change: it may wait for what the one who is held has locked. */
const patienceMs = 400;

/**
 * At each pair of changes of two processes, in both orders: one is held at the entry of its change until the other has
 * made its own, and is killed there; the other goes on. Nothing that either was told is lost, and the session goes on.
 */
export function orderPlanOf(kind: MeetingKind, room: Room): Plan {
  const caseOf = (pair: Pair): Case => ({
    address: `${pair.held}.${pair.heldAt}.${pair.otherAt}`,
    run: () => meet(room, kind, pair),
  });
  return {
    scenario: kind.scenario,
    mishap: "race",
    isReal: true,
    async *cases(extent) {
      for (const pair of pairsOf(kind, extent)) yield caseOf(pair);
    },
    caseAt: async (address) => {
      const [held, heldAt, otherAt] = address.split(".");
      return caseOf({
        held: held === "second" ? held : "first",
        heldAt: Number(heldAt),
        otherAt: Number(otherAt),
      });
    },
    end: () => room.end(),
  };
}

function* pairsOf(
  { changes: [first, second], step, scenario }: MeetingKind,
  { seed, size }: Extent,
): Generator<Pair> {
  if (size === "small") {
    yield { held: "first", heldAt: Math.ceil(first / 2), otherAt: Math.ceil(second / 2) };
    return;
  }
  for (let round = 0; round < first * second; round++) {
    // Along the diagonals: each change of the one and of the other comes soon.
    const one = 1 + (round % first);
    const other = 1 + ((round + Math.floor(round / first)) % second);
    if (draw(step, scenario, seed, round) !== 0) continue;
    yield { held: "first", heldAt: one, otherAt: other };
    yield { held: "second", heldAt: other, otherAt: one };
  }
}

async function meet(
  room: Room,
  kind: MeetingKind,
  { held, heldAt, otherAt }: Pair,
): Promise<Partial<Counts>> {
  const meeting = await kind.prepare(room);
  const folder = room.folder();
  const file = (name: string): string => join(folder, name);
  const [hold, act] = held === "first" ? [meeting.first, meeting.second] : [meeting.second, meeting.first];
  try {
    // Both start at once, for a start takes longest; the other begins when the one stands where it is held.
    const one = await hold({ is: "wait", at: heldAt, file: file("one") });
    await untilWaits(one, file("one"));
    const other = await act({ is: "wait", at: otherAt + 1, file: file("other") });
    await Promise.race([untilWaits(other, file("other")), startedAndPatient(other)]);
    const killed = await one.kill();
    writeFileSync(file("other"), "");
    const end = await other.end();
    if (end.code !== 0)
      throw new Finding("untyped", `the other failed with ${end.code ?? end.signal}: ${end.stderr}`);
    await meeting.judge(held === "first" ? [killed, end] : [end, killed]);
    return { kills: killed.killed ? 1 : 0, orders: 1 };
  } finally {
    writeFileSync(file("one"), "");
    writeFileSync(file("other"), "");
    room.remove(folder);
    await meeting.end();
  }
}

async function untilWaits(child: Child, file: string): Promise<void> {
  while (!existsSync(`${file}.waiting`) && !child.isOver) await sleep(2);
}

async function startedAndPatient(child: Child): Promise<void> {
  await child.line(() => true);
  await sleep(patienceMs);
}
