import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Mishap } from "../../peers/mishap.ts";
import type { StoreStep } from "../../peers/store-worker.ts";
import type { Actor } from "../../store/actor.ts";
import { RealStage } from "../../store/real-stage.ts";
import { promised } from "../campaign/finding.ts";
import type { Case, Counts, Extent, Plan } from "../campaign/plan.ts";
import type { ChildLine } from "./child.ts";
import { draw } from "./draw.ts";
import { Room } from "./room.ts";
import { expectRefused, goOnOrFind, noteToldAtOnce } from "./store-story.ts";

/** When the old holder is stopped, how much the new one writes, and whether it queues too. */
interface Theft {
  readonly at: number;
  readonly lines: number;
  readonly queues: boolean;
}

/** What the old holder is at when it is stopped. */
const steps: readonly StoreStep[] = [
  { do: "say", text: "with a blob", blobBytes: 40_000 },
  { do: "admit", text: "admitted" },
  { do: "say", text: "plain" },
];

/** Changes of these steps, and one more: then it is stopped by nothing. */
const changes = 18;

/** A holder is stopped at each of its changes, its locks are broken and taken, the new one writes, the old goes on. */
export function brokenLocksPlan(): Plan {
  const room = new Room();
  const caseOf = (theft: Theft): Case => ({
    address: `${theft.at}.${theft.lines}.${theft.queues ? "queues" : "writes"}`,
    run: () => steal(room, theft),
  });
  return {
    scenario: "holder-stopped",
    mishap: "locks",
    isReal: true,
    async *cases(extent) {
      for (const theft of theftsOf(extent)) yield caseOf(theft);
    },
    caseAt: async (address) => {
      const [at, lines, how] = address.split(".");
      return caseOf({ at: Number(at), lines: Number(lines), queues: how === "queues" });
    },
    end: () => room.end(),
  };
}

function* theftsOf({ seed, size }: Extent): Generator<Theft> {
  if (size === "small") {
    for (const at of [1, 5, 10]) yield { at, lines: 2, queues: at % 2 === 0 };
    return;
  }
  for (const lines of [1, 20, 2, 7]) {
    for (let at = 1; at <= changes; at++) {
      yield { at, lines, queues: false };
      yield { at, lines, queues: true };
    }
  }
  for (let round = 0; size === "endless"; round++) {
    const at = 1 + draw(changes, seed, "at", round);
    yield { at, lines: 1 + draw(20, seed, "lines", round), queues: draw(2, seed, "queues", round) === 0 };
  }
}

async function steal(room: Room, { at, lines, queues }: Theft): Promise<Partial<Counts>> {
  const folder = room.folder();
  const stage = new RealStage(join(folder, "state"));
  stage.oracle.mayHoldVoids = true;
  try {
    const session = await stage.actor("before").create();
    const { store } = await room.programs();
    const old = room.peer(store, { directory: stage.directory }, { hears: true });
    const mishap: Mishap = { is: "stop", at };
    for (const step of [{ do: "open" }, { do: "hold" }, { do: "say", text: "one" }]) old.send(step);
    old.send({ do: "expect", mishap });
    for (const step of steps) old.send(step);
    old.send({ do: "count" });
    await Promise.race([
      old.stopped(),
      old.line(({ done }) => (done as StoreStep | undefined)?.do === "count"),
    ]);
    const toldBefore = old.lines.length;
    breakLocks(stage, session, queues);
    const next = stage.actor("next");
    const toldByNext = await write(next, session, lines, queues);
    old.signal("SIGCONT");
    await old.line(({ done }) => (done as StoreStep | undefined)?.do === "count");
    old.send({ do: "say", text: "stale" });
    const answer = await old.line((line) => isAbout(line, "stale") && !("begins" in line));
    promised(
      answer?.["code"] === "fenced",
      "false success",
      () => `who was robbed may still write: ${JSON.stringify(answer)}`,
    );
    toldByNext.push(await say(next, "at last"));
    promised(await next.release(), "stuck", () => "the new holder cannot let go");
    expectRefused(old.lines.slice(toldBefore), "fenced");
    const { killed, lines: all } = await old.kill();
    noteToldAtOnce(stage, [all], toldByNext);
    await goOnOrFind(stage);
    await goOnOrFind(stage);
    return { kills: killed ? 1 : 0, orders: 1 };
  } finally {
    room.remove(folder);
  }
}

/** As if the locks did not hold: the files that carry them are others. */
function breakLocks(stage: RealStage, session: string, queues: boolean): void {
  for (const name of ["lease", "alive", ...(queues ? ["append"] : [])]) {
    const path = stage.path(session, name);
    copyFileSync(path, `${path}.new`);
    renameSync(`${path}.new`, path);
  }
}

async function write(
  next: Actor,
  session: string,
  count: number,
  queues: boolean,
): Promise<[string, number][]> {
  const told: [string, number][] = [];
  await next.hold(session);
  for (let line = 0; line < count; line++) {
    told.push(await say(next, `taken ${line}`));
    if (queues) await next.admit(`taken ${line}`);
  }
  return told;
}

async function say(next: Actor, text: string): Promise<[string, number]> {
  const { commit } = await next.say(text);
  return [text, commit.seq];
}

function isAbout(line: ChildLine, text: string): boolean {
  const step = (line["begins"] ?? line["done"] ?? line["refused"]) as { text?: string } | undefined;
  return step?.text === text;
}
