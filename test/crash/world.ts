import { Actor, Oracle } from "../store/actor.ts";
import { type Fate, MemoryDisk, type UnsyncedChange } from "./memory-disk.ts";
import { memoryHost } from "./memory-host.ts";
import { LockTable, MemoryLocks } from "./memory-locks.ts";
import type { Machine } from "./campaign/machine.ts";

/** Where the stores of these tests stand. */
export const stateDirectory = "/state";

/** A disk in memory, its locks, and the boot that it lives in. */
export class World implements Machine<World> {
  readonly disk: MemoryDisk;
  readonly oracle: Oracle;
  readonly boot: string;
  readonly #table = new LockTable();
  readonly #lives: number;
  /** The newest of each name. */
  readonly actors = new Map<string, Actor>();
  #actors = 0;

  /** `lives`: how often everything died before; the same numbers give the same chance. */
  constructor(disk = new MemoryDisk(), oracle = new Oracle(), boot = "boot-0", lives = 0) {
    this.disk = disk;
    this.oracle = oracle;
    this.boot = boot;
    this.#lives = lives;
  }

  /** Another process. `broken`: its locks are granted always. */
  actor(name: string, options: { broken?: boolean } = {}): Actor {
    const view = this.disk.view(name);
    const locks = new MemoryLocks(view, this.#table, options);
    const host = memoryHost({ disk: view, locks, seed: seedOf(`${this.#lives} ${name} ${this.#actors++}`) });
    const self = { ...host.processes.self, bootId: this.boot };
    const outside = { ...host, processes: { ...host.processes, self } };
    const die = (): void => {
      view.die();
      locks.die();
    };
    const actor = new Actor(outside, { directory: stateDirectory, oracle: this.oracle, die });
    this.actors.set(name, actor);
    return actor;
  }

  get mayRepair(): boolean {
    return this.oracle.mayRepair;
  }

  set mayRepair(may: boolean) {
    this.oracle.mayRepair = may;
  }

  knows(): string {
    const { sessions, logs, queues } = this.oracle;
    const files = [...logs, ...queues].map(([session, { tried, acknowledged }]) => [
      session,
      [...tried],
      acknowledged,
    ]);
    return JSON.stringify([this.boot, [...sessions], files]);
  }

  /** The same machine after all processes were killed. */
  killed(): World {
    return new World(this.disk.kill(), this.oracle.copy(), this.boot, this.#lives + 1);
  }

  /** The same machine after a power cut; see {@link MemoryDisk.crash}. */
  crashed(choose?: (change: UnsyncedChange, index: number) => Fate): World {
    return new World(this.disk.crash(choose), this.oracle.copy(), `${this.boot}'`, this.#lives + 1);
  }
}

function seedOf(text: string): number {
  let seed = 0;
  for (const character of text) seed = (Math.imul(seed, 31) + character.charCodeAt(0)) >>> 0;
  return seed % 1_000_000;
}
