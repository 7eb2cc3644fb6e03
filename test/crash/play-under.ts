import { promised } from "./campaign/finding.ts";
import { Random } from "./campaign/random.ts";
import type { EngineWorld } from "./engine-world.ts";
import { changesDisk, type Effect, type Fault, type MemoryDisk } from "./memory-disk.ts";
import type { MemoryProcess } from "./memory-processes.ts";
import type { Mishap, MishapKind } from "./mishaps.ts";
import { changesMachine } from "./process-verb.ts";

/** A worker on its machine. */
export interface Life<State, Worker> {
  readonly world: EngineWorld;
  readonly worker: Worker;
  readonly state: State;
}

/** Whoever does the work: it can die, and stop, alone. */
export interface Mortal {
  readonly die: () => void;
  readonly disk: MemoryDisk;
}

/** What is disturbed. It must do the same each time. */
export interface Story<State = unknown, Worker extends Mortal = Mortal> {
  /** The machine before, durable, nobody alive; it stays as it is. */
  readonly start: EngineWorld;
  /** What is known outside of the machine, and outlives everything. */
  newState(): State;
  /** Called when all on the machine are about to die, with what nobody will see later. */
  notes?(world: EngineWorld, state: State): void;
  /** The process of a new worker. */
  worker(world: EngineWorld): Worker;
  /** One worker's life. Resolves to true when all is over, to false where another one is to go on. */
  live(life: Life<State, Worker>): Promise<boolean>;
  /** Throws a finding. Nobody is stopped any more; `happened` are the kinds of all mishaps. */
  judge(world: EngineWorld, state: State, happened: ReadonlySet<MishapKind>): Promise<void>;
}

/** How far a case came. */
export interface Passed {
  /** So many of its mishaps found somebody whom they could befall. */
  readonly hits: number;
  /** Changes of the machine after the last of these. */
  readonly changes: number;
}

const livesMax = 12;
/** Longer than anybody waits for a supervisor's answer. */
const stoppedMsMax = 20_000;

/** Plays a story under mishaps, to its end, and judges. */
export async function playUnder<State, Worker extends Mortal>(
  story: Story<State, Worker>,
  mishaps: readonly Mishap[],
): Promise<Passed> {
  const play = new Play(story, mishaps);
  try {
    return await play.toTheEnd();
  } finally {
    play.world.end();
  }
}

class Play<State, Worker extends Mortal> {
  world: EngineWorld;
  readonly #story: Story<State, Worker>;
  readonly #state: State;
  readonly #left: Mishap[];
  readonly #happened = new Set<MishapKind>();
  readonly #stopped = new Set<MemoryDisk>();
  #sway: Random | undefined;
  #worker: Worker | undefined;
  #died: () => void = () => undefined;
  #next: EngineWorld | undefined;
  #hits = 0;
  #changes = 0;

  constructor(story: Story<State, Worker>, mishaps: readonly Mishap[]) {
    this.#story = story;
    this.#state = story.newState();
    this.#left = [...mishaps];
    this.world = story.start.killed();
  }

  async toTheEnd(): Promise<Passed> {
    for (let lives = 0; !(await this.#live()); lives++) {
      promised(lives < livesMax, "stuck", () => `it is not over after ${livesMax} lives`);
      this.#moveOn();
    }
    const passed = { hits: this.#hits, changes: this.#changes };
    this.world.disk.gate = undefined;
    this.#goOn();
    await this.#story.judge(this.world, this.#state, this.#happened);
    return passed;
  }

  async #live(): Promise<boolean> {
    const { world } = this;
    const died = new Promise<false>((resolve) => (this.#died = () => resolve(false)));
    world.disk.gate = (effect) => {
      if (changesMachine(effect)) this.#beforeChange(world, effect);
      return this.#sway === undefined ? undefined : sway(this.#sway);
    };
    const worker = this.#story.worker(world);
    this.#worker = worker;
    return await world.within(Promise.race([this.#story.live({ world, worker, state: this.#state }), died]));
  }

  #moveOn(): void {
    this.#worker?.die();
    if (this.#next === undefined) return;
    this.world = this.#next;
    this.#next = undefined;
    this.#stopped.clear();
  }

  #beforeChange(world: EngineWorld, effect: Effect): void {
    if (world !== this.world || this.#next !== undefined) return;
    if (this.#left[0]?.kind === "sway") this.#startToSway(this.#left.shift()?.at ?? 0);
    const [mishap] = this.#left;
    const at = this.#changes++;
    if (mishap === undefined || at < mishap.at) return;
    this.#left.shift();
    this.#changes = 0;
    if (!this.#befall(world, mishap.kind, effect)) return;
    this.#hits++;
    this.#happened.add(mishap.kind);
  }

  #befall(world: EngineWorld, kind: MishapKind, effect: Effect): boolean {
    const supervisors = world.supervisors();
    switch (kind) {
      case "worker":
        return this.#endLife();
      case "supervisor":
        return endAll(supervisors);
      case "both":
        return endAll(supervisors) && this.#endLife();
      case "command":
        return endAll(world.commands());
      case "kill":
        return this.#endLife(world.killed());
      case "power":
        return this.#endLife(world.crashed());
      case "power-odd":
        return this.#endLife(world.crashed((_change, index) => (index % 2 === 1 ? "kept" : "dropped")));
      case "power-even":
        return this.#endLife(world.crashed((_change, index) => (index % 2 === 0 ? "kept" : "dropped")));
      case "stop":
        return this.#stop(
          world,
          supervisors.map(({ disk }) => disk),
        );
      case "stop-worker":
        return this.#stop(world, this.#worker === undefined ? [] : [this.#worker.disk]);
      case "go-on":
        return this.#goOn();
      case "break":
        for (const supervisor of supervisors) supervisor.breakConnections();
        return supervisors.length > 0;
      case "fail":
        return this.#fail(world, effect, (code) => ({ code }));
      case "fail-after":
        // Nobody is told that what he started or reached is not there.
        if (!changesDisk(effect) && effect.verb !== "send") return false;
        return this.#fail(world, effect, (afterwards) => ({ afterwards }));
      case "sway":
        return false; // Only from the start.
    }
  }

  #startToSway(seed: number): void {
    this.#sway = new Random(seed);
    this.#happened.add("sway");
    this.#hits++;
  }

  #endLife(next?: EngineWorld): true {
    this.#next = next;
    if (next === undefined) this.#worker?.die();
    else {
      this.#story.notes?.(this.world, this.#state);
      this.world.end();
    }
    this.#died();
    return true;
  }

  #stop(world: EngineWorld, processes: readonly MemoryDisk[]): boolean {
    const disk = processes.find((one) => one.stopped === undefined);
    if (disk === undefined) return false;
    this.#stopped.add(disk);
    disk.stop();
    void world.clock.sleep(stoppedMsMax).then(() => disk.goOn());
    return true;
  }

  #fail(world: EngineWorld, effect: Effect, faultOf: (code: string) => Fault): boolean {
    const isWorkers = effect.process.startsWith("process ");
    const code = changesDisk(effect) && isWorkers ? undefined : codeOf(effect);
    if (code === undefined) return false;
    world.disk.fault = ({ index }) => (index === effect.index ? faultOf(code) : undefined);
    return true;
  }

  #goOn(): boolean {
    const count = this.#stopped.size;
    for (const disk of this.#stopped) disk.goOn();
    this.#stopped.clear();
    return count > 0;
  }
}

/** How the system would refuse it; undefined where it cannot. */
function codeOf(effect: Effect): string | undefined {
  if (changesDisk(effect)) return "EIO";
  switch (effect.verb) {
    case "spawn":
    case "spawnDetached":
      return "EAGAIN";
    case "listen":
      return "EADDRINUSE";
    case "connect":
      return "ECONNREFUSED";
    case "send":
      return "EPIPE";
    default:
      return undefined;
  }
}

/** Most effects come at once, and some when others have had many. */
async function sway(random: Random): Promise<void> {
  const turns = random.oneIn(swayedOneIn) ? random.below(swayTurnsMax) : 0;
  for (let turn = 0; turn < turns; turn++) await Promise.resolve();
}

const swayedOneIn = 6;
const swayTurnsMax = 150;

function endAll(processes: readonly MemoryProcess[]): boolean {
  for (const process of processes) process.die();
  return processes.length > 0;
}
