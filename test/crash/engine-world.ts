import type { EngineContext, Observer } from "../../src/engine/index.ts";
import { DiskError, type Host } from "../../src/host/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import { openEngine } from "../../src/open.ts";
import { type Fate, MemoryDisk, type UnsyncedChange } from "./memory-disk.ts";
import { MemoryClock, memoryHost } from "./memory-host.ts";
import { LockTable, MemoryLocks } from "./memory-locks.ts";

/** What a machine may begin with. */
interface Beginning {
  readonly disk: MemoryDisk;
  readonly clock: MemoryClock;
  readonly told: readonly Commit[];
  readonly begun: readonly string[];
  readonly lives: number;
}

/** A machine in memory on which the engine works with its own agent and file tools, and everybody dies at once. */
export class EngineWorld {
  static readonly workspace = "/project";
  static readonly model = "cassette:/cassette.json";
  readonly disk: MemoryDisk;
  /** One for all processes, also for those that come after a death. */
  readonly clock: MemoryClock;
  /** What some observer was told, and the session that somebody was told of. */
  readonly told: Commit[];
  readonly begun: string[];
  environment: Readonly<Record<string, string>> = {};
  readonly #locks = new LockTable();
  readonly #lives: number;
  #processes = 0;

  constructor(from: Partial<Beginning> = {}) {
    this.disk = from.disk ?? new MemoryDisk();
    this.clock = from.clock ?? new MemoryClock();
    this.told = [...(from.told ?? [])];
    this.begun = [...(from.begun ?? [])];
    this.#lives = from.lives ?? 0;
  }

  /** The engine of a new process. */
  engine(): EngineContext {
    return this.process().engine;
  }

  /** A new process, which can die alone. */
  process(): { readonly name: string; readonly engine: EngineContext; readonly die: () => void } {
    const seed = 1 + this.#lives * 1000 + this.#processes++;
    const name = `process ${seed}`;
    const disk = this.disk.view(name);
    const locks = new MemoryLocks(disk, this.#locks);
    const memory = memoryHost({ disk, locks, seed, clock: this.clock });
    const noGit = () => Promise.reject(new DiskError("ENOENT", "start", "git"));
    const host: Host = { ...memory, processes: { ...memory.processes, capture: noGit } };
    const engine = openEngine({
      host,
      stateDirectory: "/state",
      singleWriter: false,
      environment: this.environment,
      version: "0.0.0-test",
      supervisorProgram: { file: "none", args: [] },
    });
    const die = (): void => {
      disk.die();
      locks.die();
    };
    return { name, engine, die };
  }

  observer(): Observer {
    return { commit: (commit) => void this.told.push(commit), live: () => undefined };
  }

  /** The machine after all processes were killed. */
  killed(): EngineWorld {
    return this.#after(this.disk.kill());
  }

  /** The machine after a power cut. */
  crashed(choose: (change: UnsyncedChange, index: number) => Fate): EngineWorld {
    return this.#after(this.disk.crash(choose));
  }

  #after(disk: MemoryDisk): EngineWorld {
    const { clock, told, begun } = this;
    const world = new EngineWorld({ disk, clock, told, begun, lives: this.#lives + 1 });
    world.environment = this.environment;
    return world;
  }

  text(path: string): string | undefined {
    const bytes = this.disk.peek(path);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  }
}
