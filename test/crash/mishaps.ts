import type { EngineWorld } from "./engine-world.ts";
import { changesMachine, type MemoryProcess } from "./memory-processes.ts";

/**
 * What befalls the processes of a machine in memory, one thing after the other, while whoever is left goes on:
 *
 *     worker | supervisor | both | command    these die, alone
 *     kill                                    all processes die
 *     power | power-odd | power-even          a power cut; nothing, or every other change, of what was not synced is left
 *     stop                                    the supervisor stops, as one does that gets no processor …
 *     goOn                                    … until then, or for some time
 *     break                                   the connections of the supervisors break
 */
export type MishapKind = (typeof mishapKinds)[number];

export const mishapKinds = [
  "worker",
  "supervisor",
  "both",
  "command",
  "kill",
  "power",
  "power-odd",
  "power-even",
  "stop",
  "goOn",
  "break",
] as const;

const doubtful: readonly MishapKind[] = ["supervisor", "both", "kill", "power", "power-odd", "power-even"];

/** True where a supervisor died: without that nobody may doubt how a command ended. */
export function mayDoubtCommands(happened: ReadonlySet<MishapKind>): boolean {
  return doubtful.some((kind) => happened.has(kind));
}

/** True where a later change may have outlived an earlier one of the same folder. */
export function isReordering(happened: ReadonlySet<MishapKind>): boolean {
  return happened.has("power-odd") || happened.has("power-even");
}

/** One of them, before the `at`-th change of the machine (from 0) since the one before. */
export interface Mishap {
  readonly kind: MishapKind;
  readonly at: number;
}

/** A worker on its machine. */
export interface Life<State, Worker> {
  readonly world: EngineWorld;
  readonly worker: Worker;
  readonly state: State;
}

/** Whoever does the work: it can die alone. */
interface Mortal {
  readonly die: () => void;
}

/** What is disturbed. It must do the same each time. */
export interface Story<State = unknown, Worker extends Mortal = Mortal> {
  /** The machine before, durable, nobody alive; it stays as it is. */
  readonly start: EngineWorld;
  /** What is known outside of the machine, and outlives everything. */
  newState(): State;
  copyState(state: State): State;
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

/** `worker@12,stop@3` and back. */
export function addressOf(mishaps: readonly Mishap[]): string {
  return mishaps.map(({ kind, at }) => `${kind}@${at}`).join(",");
}

/** Throws where the text is none. */
export function mishapsAt(address: string): Mishap[] {
  return address.split(",").map((text) => {
    const [name, at = ""] = text.split("@");
    const kind = mishapKinds.find((one) => one === name);
    if (kind === undefined || !/^\d+$/.test(at)) throw new Error(`${text} is no mishap`);
    return { kind, at: Number(at) };
  });
}

class Play<State, Worker extends Mortal> {
  world: EngineWorld;
  readonly #story: Story<State, Worker>;
  readonly #state: State;
  readonly #left: Mishap[];
  readonly #happened = new Set<MishapKind>();
  readonly #stopped = new Set<MemoryProcess>();
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
    for (let lives = 0; lives < livesMax && !(await this.#live()); lives++) this.#moveOn();
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
      if (changesMachine(effect)) this.#beforeChange(world);
      return undefined;
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

  #beforeChange(world: EngineWorld): void {
    if (world !== this.world || this.#next !== undefined) return;
    const [mishap] = this.#left;
    const at = this.#changes++;
    if (mishap === undefined || at < mishap.at) return;
    this.#left.shift();
    this.#changes = 0;
    if (!this.#befall(world, mishap.kind)) return;
    this.#hits++;
    this.#happened.add(mishap.kind);
  }

  #befall(world: EngineWorld, kind: MishapKind): boolean {
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
        return this.#stop(world);
      case "goOn":
        return this.#goOn();
      case "break":
        for (const supervisor of supervisors) supervisor.breakConnections();
        return supervisors.length > 0;
    }
  }

  #endLife(next?: EngineWorld): true {
    this.#next = next;
    if (next === undefined) this.#worker?.die();
    else this.world.end();
    this.#died();
    return true;
  }

  #stop(world: EngineWorld): boolean {
    const supervisor = world.supervisors().find((one) => !this.#stopped.has(one));
    if (supervisor === undefined) return false;
    this.#stopped.add(supervisor);
    supervisor.disk.stop();
    void world.clock.sleep(stoppedMsMax).then(() => supervisor.disk.goOn());
    return true;
  }

  #goOn(): boolean {
    for (const { disk } of this.#stopped) disk.goOn();
    return this.#stopped.size > 0;
  }
}

function endAll(processes: readonly MemoryProcess[]): boolean {
  for (const process of processes) process.die();
  return processes.length > 0;
}
