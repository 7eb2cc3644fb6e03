import { afterAll, describe, expect, test } from "vitest";
import { isHoldfastError } from "../../src/model/errors.ts";
import type { EpochRaised, Fact } from "../../src/model/facts.ts";
import { type Appended, Appender } from "../../src/store/appender.ts";
import { type HistorySource, readStrictly } from "../../src/store/read-log.ts";
import { message } from "../store/builders.ts";
import { compare } from "../store/go-on.ts";
import { interleavings, isFirstOfItsKind, SteppedAppend, stepsOfAppend } from "./interleave.ts";
import { MemoryDisk } from "./memory-disk.ts";
import { stateDirectory, World } from "./world.ts";

/** A log whose epoch is 1, with one message, as bytes. */
interface Ground {
  readonly log: Uint8Array;
  readonly session: string;
}

async function makeGround(): Promise<Ground> {
  const world = new World();
  const actor = world.actor("before");
  const session = await actor.create();
  await actor.hold();
  await actor.say("before");
  const log = world.disk.peek(`${stateDirectory}/sessions/${session}/log.jsonl`) ?? new Uint8Array();
  return { log, session };
}

const raised: EpochRaised = {
  kind: "epoch.raised",
  store: "sto",
  device: "dev",
  host: "host",
  bootId: "boot",
  pid: 1,
  startTime: "1",
  version: "0.1.0",
};

const path = "/session/log.jsonl";
const guardPath = "/session/lease";

function sourceOf(disk: MemoryDisk, session: string): HistorySource {
  return { disk, bases: [], own: { path, session } };
}

const nothing = async (): Promise<void> => undefined;

/** Somebody who believes to be the log's only appender. */
class Writer {
  readonly name: string;
  readonly epoch: number;
  readonly acknowledged: Appended[] = [];
  readonly codes: string[] = [];
  readonly #appender: Appender;
  #raises: boolean;
  #count = 0;

  constructor(name: string, appender: Appender, place: { epoch: number; raises: boolean }) {
    this.name = name;
    this.epoch = place.epoch;
    this.#raises = place.raises;
    this.#appender = appender;
  }

  /** Opens the log as it stands: epoch 1. Above that the first append raises it. */
  static async open(
    ground: Ground,
    disk: MemoryDisk,
    place: { name: string; epoch: number },
  ): Promise<Writer> {
    const view = disk.view(place.name);
    const history = await readStrictly(sourceOf(view, ground.session), () => undefined);
    const appender = new Appender({
      disk: view,
      file: await view.open(path, "append"),
      scan: history.scan,
      rules: history.rules,
      guard: { path: guardPath, inode: disk.inodeOf(guardPath) ?? "" },
      unsure: { note: nothing, gone: nothing, settle: nothing },
      epoch: () => place.epoch,
      accepted: () => undefined,
    });
    return new Writer(place.name, appender, { epoch: place.epoch, raises: place.epoch > 1 });
  }

  append(): Promise<Appended> {
    const text = `${this.name} ${this.#count++}`;
    const facts: Fact[] = this.#raises ? [{ ...raised, nonce: this.name }] : [message(text)];
    return this.#appender.append(facts, { epoch: this.epoch, at: 0 });
  }

  /** Takes note of how an append ended, when it ended. */
  note(outcome: { value: Appended } | { code: string }): void {
    if ("code" in outcome) {
      this.codes.push(outcome.code);
      return;
    }
    this.#raises = false;
    this.acknowledged.push(outcome.value);
  }
}

/** Appends once more, alone. */
async function appendAlone(writer: Writer): Promise<void> {
  try {
    writer.note({ value: await writer.append() });
  } catch (error) {
    writer.note({ code: isHoldfastError(error) ? error.code : String(error) });
  }
}

async function playOut(ground: Ground, epochs: readonly number[], order: readonly number[]): Promise<void> {
  const disk = new MemoryDisk();
  disk.plant(path, ground.log);
  disk.plant(guardPath, "");
  const writers: Writer[] = [];
  for (const [index, epoch] of epochs.entries()) {
    writers.push(await Writer.open(ground, disk, { name: `w${index}`, epoch }));
  }
  const appends = writers.map((writer) => new SteppedAppend(() => writer.append()));
  disk.gate = (effect) => appends[Number(effect.process.slice(1))]?.gate(effect);
  for (const index of order) {
    const append = appends[index];
    const outcome = append?.outcome === undefined ? await append?.step() : undefined;
    if (outcome === undefined) continue;
    writers[index]?.note(outcome);
    if ("value" in outcome) expectDurable(disk, outcome.value);
  }
  disk.gate = undefined;
  for (const writer of writers) await appendAlone(writer);
  await judge(ground, disk, writers);
}

function expectDurable(disk: MemoryDisk, { commit, offset, end }: Appended): void {
  const bytes = disk.peekDurable(path)?.subarray(offset, end) ?? new Uint8Array();
  if (!Buffer.from(bytes).toString().endsWith(`"sum":"${commit.sum}"}\n`)) {
    throw new Error(`line ${commit.seq} was acknowledged and is not durable`);
  }
}

/** A writer whose epoch is over, or who was overtaken, must write no more. */
async function judgeWriter(writer: Writer, epoch: number): Promise<void> {
  // The epoch may rise after a writer's last look, so it is asked once more.
  if (writer.epoch < epoch) await appendAlone(writer);
  if (writer.epoch < epoch && writer.codes.at(-1) !== "fenced") {
    throw new Error(
      `${writer.name} writes on in epoch ${writer.epoch} after ${epoch} began: ${writer.codes.join()}`,
    );
  }
  // Who was overtaken once is not the owner, also where the other one has the same epoch.
  const before = writer.acknowledged.length;
  if (writer.codes.length > 0) await appendAlone(writer);
  if (writer.acknowledged.length > before) throw new Error(`${writer.name} writes on after it was fenced`);
  if (writer.codes.some((code) => code !== "fenced")) {
    throw new Error(`${writer.name}: ${writer.codes.join()}`);
  }
}

async function judge(ground: Ground, disk: MemoryDisk, writers: readonly Writer[]): Promise<void> {
  const sums: string[] = [];
  let epoch = 0;
  const history = await readStrictly(sourceOf(disk, ground.session), (commit) => {
    sums[commit.seq] = commit.sum;
    epoch = commit.epoch;
  });
  if (history.remainder.state !== "none")
    throw new Error(`the log ends in a ${history.remainder.state} piece`);
  const lines =
    Buffer.from(disk.peek(path) ?? "")
      .toString("latin1")
      .split("\n").length - 1;
  if (lines !== sums.length + history.voids.length) throw new Error("a line is neither accepted nor void");
  const owners = new Map<number, string>();
  for (const { name, acknowledged } of writers) {
    for (const { commit } of acknowledged) {
      if (sums[commit.seq] !== commit.sum)
        throw new Error(`line ${commit.seq} of ${name} was acknowledged and is lost`);
      const other = owners.get(commit.seq);
      if (other !== undefined) throw new Error(`line ${commit.seq} was acknowledged to ${other} and ${name}`);
      owners.set(commit.seq, name);
    }
  }
  for (const writer of writers) await judgeWriter(writer, epoch);
  if (owners.size === 0) throw new Error("nobody won");
}

test("a line that is replaced by another one of the same length is not acknowledged", async () => {
  const ground = await makeGround();
  const disk = new MemoryDisk();
  disk.plant(path, ground.log);
  disk.plant(guardPath, "");
  const writer = await Writer.open(ground, disk, { name: "w0", epoch: 1 });
  disk.gate = ({ verb }) => {
    if (verb !== "sync") return undefined;
    const bytes = disk.peek(path) ?? new Uint8Array();
    const other = Buffer.from(bytes.subarray(ground.log.length)).toString("latin1").replace("w0 0", "w9 9");
    if (bytes.length > ground.log.length) disk.plant(path, Buffer.concat([ground.log, Buffer.from(other)]));
    return undefined;
  };
  await appendAlone(writer);
  expect(writer.codes).toEqual(["fenced"]);
  expect(writer.acknowledged).toEqual([]);
});

/**
 * Of orders that differ only in which of two equal writers is called first, one stands for all: equal writers are
 * told apart by nothing but their names.
 */
function isCanonical(epochs: readonly number[], order: readonly number[]): boolean {
  return epochs.every((epoch, index) => {
    const twin = epochs.indexOf(epoch, index + 1);
    return twin === -1 || order.indexOf(index) < order.indexOf(twin);
  });
}

const everyOrder = process.env["HOLDFAST_CAMPAIGN"] === "full";

describe("with locks that exclude nobody, nothing acknowledged is lost, no line is acknowledged to two, nothing is closed", () => {
  let [total, played] = [0, 0];
  afterAll(() => console.log(`${total} interleavings, of which ${played} differ and were played`));

  // The numbers are those of all orders, but for equal writers: (4n)! / 4!^n, by 2 for twins and by 6 for triplets.
  test.each([
    ["two owners of one epoch", [1, 1], 35],
    ["an old owner and a new one", [1, 2], 70],
    ["two new owners who count alike", [2, 2], 35],
    ["two new owners, one after the other", [2, 3], 70],
    ["three owners of one epoch", [1, 1, 1], 5775],
    ["two old owners and a new one", [1, 1, 2], 17_325],
    ["an old owner and two new ones who count alike", [1, 2, 2], 17_325],
    ["an old owner, a new one and a newer one", [1, 2, 3], 34_650],
  ])("%s", async (_name, epochs, expected) => {
    const ground = await makeGround();
    let count = 0;
    for (const order of interleavings(epochs.map(() => stepsOfAppend))) {
      if (!isCanonical(epochs, order)) continue;
      count++;
      if (!everyOrder && !isFirstOfItsKind(order)) continue;
      played++;
      await playOut(ground, epochs, order).catch((error: unknown) => {
        throw new Error(`epochs ${epochs.join()}, order ${order.join("")}: ${String(error)}`, {
          cause: error,
        });
      });
    }
    total += count;
    expect(count).toBe(expected);
  });
});

describe("with an append lock that excludes nobody, each delivery is admitted once by whoever repeats it when told to", () => {
  test.each([
    ["two who admit to a new queue", 2, true],
    ["two who admit to a queue", 2, false],
    ["three who admit to a queue", 3, false],
  ])("%s", async (_name, count, isNew) => {
    const ground = new World();
    const before = ground.actor("before");
    const session = await before.create();
    if (!isNew) await before.admit("waiting");
    ground.disk.settle();
    const epochs = Array.from({ length: count }, () => 0);
    let played = 0;
    for (const order of interleavings(epochs.map(() => stepsOfAppend))) {
      if (!isCanonical(epochs, order) || !isFirstOfItsKind(order)) continue;
      played++;
      const world = ground.killed();
      await admitInOrder(world, session, order).catch((error: unknown) => {
        throw new Error(`order ${order.join("")}: ${String(error)}`, { cause: error });
      });
    }
    expect(played).toBeGreaterThan(count * 5);
  });
});

test("two who make one new queue at the same moment both get in", async () => {
  const world = new World();
  const session = await world.actor("before").create();
  const slow = world.actor("slow", { broken: true });
  let go: () => void = () => undefined;
  const isAboutToMake = new Promise<void>((resolve) => {
    world.disk.gate = ({ process, verb, path: file }) => {
      if (process !== "slow" || verb !== "create" || !file.endsWith("queue.jsonl")) return undefined;
      resolve();
      return new Promise<void>((resume) => (go = resume));
    };
  });
  const admission = slow.admit("from the slow one", session);
  await isAboutToMake;
  world.disk.gate = undefined;
  await world.actor("quick", { broken: true }).admit("from the quick one", session);
  go();
  await admission;
  await compare(world, session);
});

async function admitInOrder(world: World, session: string, order: readonly number[]): Promise<void> {
  const names = [...new Set(order)].map((index) => `w${index}`).toSorted();
  const actors = names.map((name) => world.actor(name, { broken: true }));
  const admissions = actors.map(
    (actor, index) => new SteppedAppend(() => actor.admit(`from ${index}`, session)),
  );
  world.disk.gate = (effect) => admissions[Number(effect.process.slice(1))]?.gate(effect);
  for (const index of order) {
    const admission = admissions[index];
    if (admission?.outcome === undefined) await admission?.step();
  }
  world.disk.gate = undefined;
  for (const [index, admission] of admissions.entries()) {
    const { outcome } = admission;
    if (outcome === undefined) throw new Error(`admission ${index} does not end`);
    if ("value" in outcome) continue;
    if (outcome.code !== "fenced") throw new Error(`admission ${index}: ${outcome.code}`);
    await actors[index]?.admit(`from ${index}`, session);
  }
  await compare(world, session);
}
