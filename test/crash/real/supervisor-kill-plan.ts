import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promised } from "../campaign/finding.ts";
import type { Case, Counts, Extent, Plan } from "../campaign/plan.ts";
import { draw } from "./draw.ts";
import { Room } from "./room.ts";
import { oneCommand, Performance } from "./run-play.ts";

/** Changes that the supervisor, the worker and a recovery of one command are killed before; 0 is never. */
interface Deaths {
  readonly supervisor: number;
  readonly worker: number;
  readonly recovery: number;
}

interface Lengths {
  readonly supervisor: number;
  readonly worker: number;
}

/** The supervisor of a command is killed at its n-th change, its worker at its m-th, and the recovery too. */
export function supervisorKillPlan(): Plan {
  const room = new Room();
  let lengths: Promise<Lengths> | undefined;
  const caseOf = (deaths: Deaths): Case => ({
    address: `${deaths.supervisor}.${deaths.worker}.${deaths.recovery}`,
    run: () => killThem(room, deaths),
  });
  return {
    scenario: "supervisor",
    mishap: "kill",
    isReal: true,
    async *cases(extent) {
      lengths ??= measure(room);
      for (const deaths of deathsOf(await lengths, extent)) yield caseOf(deaths);
    },
    caseAt: async (address) => {
      const [supervisor = 0, worker = 0, recovery = 0] = address.split(".").map(Number);
      return caseOf({ supervisor, worker, recovery });
    },
    end: () => room.end(),
  };
}

function* deathsOf({ supervisor: last, worker: whole }: Lengths, { seed, size }: Extent): Generator<Deaths> {
  const recoveryOf = (supervisor: number, worker: number): number =>
    draw(25, "recovery", seed, supervisor, worker);
  if (size === "small") {
    yield { supervisor: Math.ceil(last / 3), worker: 0, recovery: 0 };
    yield { supervisor: Math.ceil((last * 2) / 3), worker: 0, recovery: 0 };
    yield { supervisor: last - 2, worker: whole - 20, recovery: 5 };
    return;
  }
  for (let supervisor = 1; supervisor <= last; supervisor++) yield { supervisor, worker: 0, recovery: 0 };
  // The second half of the worker's changes is what happens around the command.
  const begins = Math.floor(whole / 3);
  for (let round = 0; round < whole - begins; round += 16) {
    for (let supervisor = 1; supervisor <= last; supervisor++) {
      const worker = begins + 1 + ((supervisor * 5 + round) % (whole - begins));
      yield { supervisor, worker, recovery: recoveryOf(supervisor, worker) };
    }
  }
  for (let round = 0; size === "endless"; round++) {
    const supervisor = draw(last + 1, seed, "supervisor", round);
    const worker = draw(whole, seed, "worker", round);
    yield { supervisor, worker, recovery: recoveryOf(supervisor, worker) };
  }
}

async function measure(room: Room): Promise<Lengths> {
  const staged = new Performance(room, oneCommand);
  try {
    const worker = Number((await staged.live()).lines.at(-1)?.["changes"]);
    // Asked of the supervisor by having it die later and later would cost a run each; it has not more than these.
    return { worker, supervisor: 26 };
  } finally {
    await staged.home.end();
  }
}

async function killThem(room: Room, { supervisor, worker, recovery }: Deaths): Promise<Partial<Counts>> {
  const staged = new Performance(room, oneCommand);
  const { home } = staged;
  const died = join(home.folder, "supervisor-died");
  let kills = 0;
  try {
    home.lingerMs = 100;
    if (supervisor > 0) home.supervisorMishap = { is: "die", at: supervisor, file: died };
    for (const at of [worker, recovery]) {
      const end = await staged.live(at === 0 ? undefined : { is: "die", at });
      if (end.killed) kills++;
      else if (at === 0) break;
    }
    await staged.finish();
    // It is nobody's child: that it was killed is known by what it noted just before.
    if (existsSync(died)) kills++;
  } finally {
    await staged.home.end();
  }
  return { kills };
}

/** How long a held supervisor waits for a recovery that may itself wait for it. */
const heldMs = 400;

/** The supervisor is held before its n-th change until its worker was killed and a recovery is over, or waits for it. */
export function supervisorHoldPlan(): Plan {
  const room = new Room();
  const caseOf = (at: number): Case => ({ address: String(at), run: () => holdIt(room, at) });
  return {
    scenario: "supervisor-delayed",
    mishap: "kill",
    isReal: true,
    async *cases({ size }) {
      if (size === "endless") return;
      for (const at of size === "small" ? [1, 9] : Array.from({ length: 24 }, (_, index) => index + 1))
        yield caseOf(at);
    },
    caseAt: async (address) => caseOf(Number(address)),
    end: () => room.end(),
  };
}

async function holdIt(room: Room, at: number): Promise<Partial<Counts>> {
  const staged = new Performance(room, oneCommand);
  const { home } = staged;
  const file = join(home.folder, "go-on");
  let kills = 0;
  try {
    home.supervisorMishap = { is: "wait", at, file };
    const worker = await home.worker(staged.step);
    const waits = async (): Promise<"waits"> => {
      while (!existsSync(`${file}.waiting`) && !worker.isOver) await sleep(5);
      return "waits";
    };
    await Promise.race([waits(), worker.ended]);
    const end = home.note(await worker.kill());
    if (end.killed) kills++;
    const finished = staged.finish();
    const first = await Promise.race([finished.then(() => "over"), sleep(heldMs, "waits")]);
    writeFileSync(file, "");
    const before = home.times("one");
    await finished;
    // It may wake up only now: whatever it does then, it obeys whoever came first.
    await home.supervisorsEnd();
    if (first === "over")
      promised(home.times("one") === before, "repeated", () => "a late supervisor ran it again");
    await staged.finish();
  } finally {
    writeFileSync(file, "");
    await home.end();
  }
  return { kills, orders: 1 };
}
