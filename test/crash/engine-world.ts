// What the engine loads when it needs it is loaded before: nothing in memory may take more than one turn.
import "../../src/agents/builtin/index.ts";
import "../../src/engine/json-schema.ts";
import "../../src/engine/yaml-parser.ts";
import "../../src/model/definition.ts";
import "../../src/model/policy-file.ts";
import type { EngineContext, Observer } from "../../src/engine/index.ts";
import { DiskError, type Host } from "../../src/host/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import { openEngine } from "../../src/open.ts";
import { IdleClock } from "./idle-clock.ts";
import { shell, supervisorProgram } from "./memory-commands.ts";
import { type Fate, MemoryDisk, type UnsyncedChange } from "./memory-disk.ts";
import { MemoryClock, memoryHost } from "./memory-host.ts";
import { LockTable, MemoryLocks } from "./memory-locks.ts";
import { type Execution, type MemoryProcess, ProcessTable } from "./memory-processes.ts";
import { Payments, withOutsideTools } from "./outside-tools.ts";
import { Witness } from "./witness.ts";

/** What a machine may begin with. */
interface Beginning {
  readonly disk: MemoryDisk;
  readonly clock: MemoryClock;
  readonly told: readonly Commit[];
  readonly begun: readonly string[];
  readonly lives: number;
  /** True where it runs commands: it then needs a clock that goes by itself, and has one where none is given. */
  readonly commands: boolean;
  readonly payments: Payments;
  readonly executions: readonly Execution[];
  readonly boots: number;
  readonly pids: number;
}

/** A process of the engine, which can die alone. */
export interface WorkerProcess {
  readonly name: string;
  readonly engine: EngineContext;
  /** Its view of the disk. */
  readonly disk: MemoryDisk;
  readonly die: () => void;
}

const supervisorFile = "/supervisor";

/** As long as the supervisor's own. */
const lingerMs = 30_000;

/**
 * A machine in memory on which the engine works with its own agent and file tools, and everybody dies at once. With
 * `commands` it runs commands too, each in a process of its own under the real supervisor, and the agent can also `pay`
 * and `launch`; workers, supervisors and commands can then die alone.
 */
export class EngineWorld {
  static readonly workspace = "/project";
  static readonly model = "cassette:/cassette.json";
  readonly disk: MemoryDisk;
  /** One for all processes; also for those that come after a death, unless it is one that goes by itself. */
  readonly clock: MemoryClock;
  /** What some observer was told, and the session that somebody was told of. */
  readonly told: Commit[];
  readonly begun: string[];
  environment: Readonly<Record<string, string>> = {};
  /** Only with commands: everybody who lives on the machine, who was paid, and what really happened there. */
  readonly table: ProcessTable | undefined;
  readonly payments: Payments;
  readonly witness: Witness;
  readonly #locks = new LockTable();
  readonly #lives: number;
  readonly #boots: number;
  #processes = 0;

  constructor(from: Partial<Beginning> = {}) {
    this.disk = from.disk ?? new MemoryDisk();
    this.clock = from.clock ?? (from.commands === true ? new IdleClock() : new MemoryClock());
    this.told = [...(from.told ?? [])];
    this.begun = [...(from.begun ?? [])];
    this.#lives = from.lives ?? 0;
    this.#boots = from.boots ?? 0;
    this.payments = from.payments ?? new Payments();
    this.witness = new Witness(this.disk);
    this.table = from.commands === true ? this.#newTable(from) : undefined;
  }

  /** The engine of a new process. */
  engine(): EngineContext {
    return this.process().engine;
  }

  /** A new process, which can die alone. */
  process(): WorkerProcess {
    if (this.table !== undefined) return this.#worker(this.table);
    const seed = 1 + this.#lives * 1000 + this.#processes++;
    const name = `process ${seed}`;
    const disk = this.disk.view(name);
    const locks = new MemoryLocks(disk, this.#locks);
    const memory = memoryHost({ disk, locks, seed, clock: this.clock });
    const noGit = () => Promise.reject(new DiskError("ENOENT", "start", "git"));
    const self = { ...memory.processes.self, bootId: `boot ${this.#boots}` };
    const engine = this.#open({ ...memory, processes: { ...memory.processes, self, capture: noGit } });
    const die = (): void => {
      disk.die();
      locks.die();
    };
    return { name, engine, disk, die };
  }

  /** A process that does what a test has it do. Only on a machine that runs commands. */
  start(name: string, command = name): MemoryProcess {
    if (this.table === undefined) throw new Error("this machine runs no commands");
    return this.table.start({ name, command });
  }

  /** The supervisors that live, oldest first. */
  supervisors(): readonly MemoryProcess[] {
    return this.#living("supervisor ");
  }

  /** The processes of commands that live, oldest first. */
  commands(): readonly MemoryProcess[] {
    return this.#living("command ");
  }

  /** The commands that were really started, in this life of the machine and those before. */
  get executions(): readonly Execution[] {
    return this.table?.executions ?? [];
  }

  observer(): Observer {
    return { commit: (commit) => void this.told.push(commit), live: () => undefined };
  }

  /** The machine after all processes were killed. */
  killed(): this {
    return this.#after(this.disk.kill(), this.#boots);
  }

  /** The machine after a power cut. */
  crashed(choose?: (change: UnsyncedChange, index: number) => Fate): this {
    return this.#after(this.disk.crash(choose), this.#boots + 1);
  }

  /** Ends everybody on a machine that is needed no more. */
  end(): void {
    this.table?.killAll();
    if (this.clock instanceof IdleClock) this.clock.end();
  }

  /** What the work comes to; rejects where nobody does anything any more and it is not over. */
  async within<T>(work: Promise<T>): Promise<T> {
    return this.clock instanceof IdleClock ? await this.clock.within(work) : await work;
  }

  /** Resolves when everybody has done all that there was to do: commands have ended, and supervisors are gone. */
  async quiet(): Promise<void> {
    if (this.clock instanceof IdleClock) await this.clock.quiet();
  }

  text(path: string): string | undefined {
    const bytes = this.disk.peek(path);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  }

  #after(disk: MemoryDisk, boots: number): this {
    const { clock, told, begun, executions, table } = this;
    const world = new EngineWorld({
      disk,
      clock: clock instanceof IdleClock ? clock.copy() : clock,
      told,
      begun,
      lives: this.#lives + 1,
      commands: table !== undefined,
      payments: this.payments.copy(),
      executions,
      boots,
      pids: table?.pids ?? 0,
    });
    world.environment = this.environment;
    return world as this; // There is no other kind.
  }

  #newTable({ pids = 0, executions = [] }: Partial<Beginning>): ProcessTable {
    const { disk, clock } = this;
    const programs = { "/bin/sh": shell, [supervisorFile]: supervisorProgram(lingerMs) };
    const bootId = `boot ${this.#boots}`;
    const table = new ProcessTable({ disk, clock, locks: this.#locks, bootId, pids, programs });
    table.executions.push(...executions);
    return table;
  }

  #worker(table: ProcessTable): WorkerProcess {
    const process = table.start({ name: "process", command: "holdfast" });
    const engine = withOutsideTools(this.#open(process.host), process, this.payments);
    const { name, disk } = process;
    return { name, engine, disk, die: () => process.die() };
  }

  #open(host: Host): EngineContext {
    return openEngine({
      host,
      stateDirectory: "/state",
      singleWriter: false,
      environment: this.environment,
      version: "0.0.0-test",
      supervisorProgram: { file: supervisorFile, args: [] },
    });
  }

  #living(name: string): readonly MemoryProcess[] {
    return (this.table?.living ?? []).filter((process) => process.name.startsWith(name));
  }
}
