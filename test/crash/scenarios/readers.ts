import {
  listQueue,
  listSessions,
  readSession,
  recordSession,
  viewRuns,
  viewSession,
} from "../../../src/engine/index.ts";
import { isDiskError } from "../../../src/host/index.ts";
import type { Commit } from "../../../src/model/commit.ts";
import { isHoldfastError } from "../../../src/model/errors.ts";
import { refused } from "../campaign/at-once.ts";
import type { EngineMachine } from "../campaign/engine-machine.ts";
import type { EngineScenario } from "../campaign/engine-scenario.ts";
import { promised } from "../campaign/finding.ts";
import { changesDisk } from "../memory-disk.ts";
import { asks, done, edit, read, remove, write } from "./calls.ts";
import { once } from "./doings.ts";

/** Other processes that look at a session at each step of the work, and what they may believe. */

const turns = [asks(read(), write("a.txt")), asks(edit("letter.txt"), remove("waste.txt")), done, done];
const files = { "letter.txt": "n\n", "waste.txt": "waste\n" };

/** Reads as those verbs do which show a session; what it may believe to stay is remembered. */
async function look(machine: EngineMachine): Promise<void> {
  const { engine, name } = machine.world.process();
  const before = machine.disk.effects.length;
  for (const session of await engine.store.ids()) {
    const lines: Commit[] = [];
    const shown = await readSession(engine, session, (commit) => void lines.push(commit));
    viewSession(shown);
    viewRuns(shown);
    // Whoever shows the last line does not say that it stays.
    for (const { seq, sum } of lines.slice(0, -1)) see(machine, { session, seq, sum });
    await listQueue(engine, { selector: session, all: true });
    const { answers } = await recordSession(engine, { selector: session });
    machine.told.push({ is: "recorded", answers });
  }
  await listSessions(engine, {});
  const written = machine.disk.effects
    .slice(before)
    .find((effect) => effect.process === name && changesDisk(effect) && effect.verb !== "sync");
  promised(written === undefined, "foreign write", () => `a reader did ${written?.verb} ${written?.path}`);
}

function see(machine: EngineMachine, line: { session: string; seq: number; sum: string }): void {
  const isSeen = machine.told.some(
    (one) => one.is === "seen" && one.seq === line.seq && one.sum === line.sum,
  );
  if (!isSeen) machine.told.push({ is: "seen", ...line });
}

/** Has somebody look before each step of the work, one after the other. */
async function lookedAt(machine: EngineMachine, work: () => Promise<unknown>): Promise<void> {
  let isLooking = false;
  machine.disk.onlooker = async (coming) => {
    if (isLooking || !changesDisk(coming)) return;
    isLooking = true;
    try {
      await look(machine);
    } catch (error) {
      // What a reader is refused while something fails is no concern of whoever works.
      if (!isHoldfastError(error) && !isDiskError(error)) throw error;
    } finally {
      isLooking = false;
    }
  };
  try {
    await work();
  } finally {
    machine.disk.onlooker = undefined;
  }
}

/** Lists again and again, as fast as can be, until told to end. */
async function listUntil(machine: EngineMachine, isOver: () => boolean): Promise<void> {
  const engine = machine.world.engine();
  while (!isOver()) await listSessions(engine, {});
}

const recorded = "/project/recorded.json";

export const readerScenarios: readonly EngineScenario[] = [
  {
    name: "somebody looks at each step of a run",
    turns,
    files,
    act: (machine) => lookedAt(machine, () => machine.run()),
  },
  {
    name: "somebody looks at each step of a recovery",
    turns,
    files,
    prepare: async (machine) => {
      await machine.create();
      await machine.workUntil(({ verb, path }) => verb === "rename" && path.includes("waste.txt"));
    },
    act: (machine) => lookedAt(machine, () => machine.resume()),
  },
  {
    name: "somebody lists in a tight loop beside who works",
    turns,
    files,
    act: async (machine) => {
      let isOver = false;
      const lister = listUntil(machine, () => isOver);
      try {
        await machine.run();
      } finally {
        isOver = true;
        await lister;
      }
    },
  },
  {
    name: "recording a session to a file",
    turns,
    files,
    prepare: (machine) => machine.run(),
    act: async (machine) => {
      const selector = await machine.session();
      await recordSession(machine.world.engine(), { selector, file: recorded });
      await refused("exists", recordSession(machine.world.engine(), { selector, file: recorded }));
      await recordSession(machine.world.engine(), { selector, file: recorded, replace: true });
    },
    judge: (machine) => {
      const text = machine.text(recorded);
      if (text !== undefined)
        promised(isWhole(text), "false success", () => "the record is there and not whole");
    },
  },
  {
    name: "recording a session while it is worked on",
    turns,
    files,
    meanwhile: once("op.settled", async ({ machine }) => {
      const selector = await machine.session();
      await recordSession(machine.world.engine(), { selector, file: recorded, replace: true });
    }),
    judge: (machine) => {
      const text = machine.text(recorded);
      if (text !== undefined)
        promised(isWhole(text), "false success", () => "the record is there and not whole");
    },
  },
];

function isWhole(text: string): boolean {
  try {
    return (JSON.parse(text) as { cassette?: number }).cassette === 1;
  } catch {
    return false;
  }
}
