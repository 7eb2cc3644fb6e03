import {
  DiskError,
  isDiskError,
  type ChildExit,
  type ChildProcess,
  type FoundProcess,
  type Host,
  type ProcessIdentity,
  type Processes,
  type SpawnRequest,
} from "../../src/host/index.ts";
import { ProcessClock } from "./idle-clock.ts";
import type { MemoryDisk } from "./memory-disk.ts";
import { seededIds, type MemoryClock } from "./memory-host.ts";
import { MemoryLocks, type LockTable } from "./memory-locks.ts";
import { MemoryPipe } from "./memory-pipe.ts";
import { MemorySockets, SocketTable } from "./memory-sockets.ts";

/** A signal that one process sends to another. */
export type Signal = "SIGTERM" | "SIGKILL" | "SIGINT";

/** What runs as a process of the machine. Resolves to its exit code; a rejection is code 1. */
export interface Program {
  /** What its processes are called, before their number. */
  readonly name: string;
  run(process: MemoryProcess, args: readonly string[]): Promise<number>;
}

/** What stands behind a program's file. */
export type Programs = Readonly<Record<string, Program>>;

/** A command that was really started, known outside of the machine. */
export interface Execution {
  readonly pid: number;
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A machine as its processes find it. */
interface Machine {
  readonly disk: MemoryDisk;
  readonly locks: LockTable;
  readonly clock: MemoryClock;
  readonly bootId: string;
  /** The number of the first process less one: a machine that goes on after a death gives none twice. */
  readonly pids: number;
  readonly programs: Programs;
}

interface Start {
  readonly name: string;
  readonly command: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The group, where it is not one of its own. */
  readonly group?: number;
  readonly output?: MemoryPipe;
}

/** Pids begin behind this number. */
const pidsBase = 1000;

/** All processes of one machine in memory: workers, supervisors and commands alike. */
export class ProcessTable {
  /** What was started by {@link Processes.spawn}, in order. */
  readonly executions: Execution[] = [];
  /** Why programs ended that rejected. */
  readonly failures: unknown[] = [];
  readonly sockets = new SocketTable();
  readonly machine: Machine;
  readonly #living = new Map<number, MemoryProcess>();
  #pids: number;

  constructor(machine: Machine) {
    this.machine = machine;
    this.#pids = machine.pids;
  }

  /** How many numbers are given away, in this life of the machine and those before. */
  get pids(): number {
    return this.#pids;
  }

  /** Those that live, oldest first. */
  get living(): readonly MemoryProcess[] {
    return [...this.#living.values()];
  }

  find(pid: number): MemoryProcess | undefined {
    return this.#living.get(pid);
  }

  /** A new process, which does nothing yet. */
  start(start: Start): MemoryProcess {
    const process = new MemoryProcess(this, pidsBase + ++this.#pids, start);
    this.#living.set(process.pid, process);
    return process;
  }

  /** The system's part in the end of a process. */
  forget(pid: number): void {
    this.#living.delete(pid);
  }

  /** Starts a program; it takes its first step when all others have taken theirs. */
  run(program: Program, args: readonly string[], start: Omit<Start, "name">): MemoryProcess {
    const process = this.start({ ...start, name: program.name });
    queueMicrotask(() => void this.#toItsEnd(process, program.run(process, args)));
    return process;
  }

  /** Ends all of them, in any order: none of them sees it. */
  killAll(): void {
    for (const process of this.living) process.die();
  }

  async #toItsEnd(process: MemoryProcess, work: Promise<number>): Promise<void> {
    const code = await work.catch((error: unknown) => {
      this.failures.push(error);
      return 1;
    });
    await process.disk.perform("exit", process.name, { act: () => process.die({ code }) });
  }
}

/** One process: it acts through its host alone, and does nothing any more once it is dead. */
export class MemoryProcess {
  readonly pid: number;
  readonly name: string;
  readonly group: number;
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  readonly output: MemoryPipe | undefined;
  readonly disk: MemoryDisk;
  readonly host: Host;
  /** Its parent's news of it; comes also where the parent is dead. */
  readonly exited: Promise<ChildExit>;
  /** What it does about a signal that can be caught; it dies of it where this is undefined. */
  caught: ((signal: Signal) => void) | undefined;
  /** Pipes that it reads. */
  readonly reads = new Set<MemoryPipe>();
  readonly table: ProcessTable;
  #ended: (exit: ChildExit) => void = () => undefined;
  readonly #release: () => void;
  readonly #sockets: MemorySockets;

  constructor(table: ProcessTable, pid: number, start: Start) {
    const { machine } = table;
    const number = pid - pidsBase;
    this.table = table;
    this.pid = pid;
    this.name = `${start.name} ${number}`;
    this.group = start.group ?? pid;
    this.command = start.command;
    this.env = start.env ?? {};
    this.output = start.output;
    this.output?.hold();
    this.exited = new Promise((resolve) => (this.#ended = resolve));
    this.disk = machine.disk.view(this.name);
    const locks = new MemoryLocks(this.disk, machine.locks);
    const sockets = new MemorySockets(this.disk, table.sockets);
    this.#sockets = sockets;
    const clock = new ProcessClock(machine.clock, this.disk);
    this.host = {
      disk: this.disk,
      locks,
      clock,
      sockets,
      ids: seededIds(number),
      processes: new MemoryProcesses(this),
      fetch: () => Promise.reject(new Error("The machine in memory has no HTTP; use a real one.")),
    };
    this.#release = () => {
      locks.die();
      clock.die();
      sockets.die();
    };
  }

  get isDead(): boolean {
    return this.disk.isDead;
  }

  /** Ends it, alone. The system frees what it held, and tells those who are connected to it. */
  die(exit: ChildExit = { signal: "SIGKILL" }): void {
    if (this.isDead) return;
    this.disk.die();
    this.disk.goOn();
    this.table.forget(this.pid);
    this.#release();
    for (const pipe of this.reads) pipe.break();
    this.output?.letGo();
    this.#ended(exit);
  }

  /** Breaks every connection that it has, as if the system had. */
  breakConnections(): void {
    this.#sockets.breakConnections();
  }

  /** What a signal does to it. */
  take(signal: Signal): void {
    if (signal === "SIGKILL" || this.caught === undefined) this.die({ signal });
    else this.caught(signal);
  }
}

/** What a process sees of the others, and does to them. */
class MemoryProcesses implements Processes {
  readonly #self: MemoryProcess;

  constructor(self: MemoryProcess) {
    this.#self = self;
  }

  get self(): ProcessIdentity {
    const { pid, table } = this.#self;
    const { bootId } = table.machine;
    return { pid, startTime: String(pid), bootId, host: "memory", user: "tester" };
  }

  capture({ file }: SpawnRequest): ReturnType<Processes["capture"]> {
    return Promise.reject(new DiskError("ENOENT", "start", file));
  }

  spawn(request: SpawnRequest): ChildProcess {
    try {
      const act = (): ChildProcess => this.#spawn(request);
      return this.#self.disk.performNow("spawn", request.args.join(" "), { act }, silentChild);
    } catch (error) {
      if (!isDiskError(error)) throw error;
      return failedChild(error);
    }
  }

  spawnDetached(request: SpawnRequest & { readonly errorFile?: string }): { readonly pid: number } {
    const { table, disk } = this.#self;
    const act = (): { readonly pid: number } => {
      const program = programOf(this.#self, request);
      return table.run(program, request.args, { command: commandOf(request), env: request.env });
    };
    return { pid: disk.performNow("spawnDetached", request.file, { act }, { pid: 0 }).pid };
  }

  findByEnvironment(name: string, value: string): Promise<FoundProcess[]> {
    const { table, disk, pid: own } = this.#self;
    return disk.perform("findProcesses", `${name}=${value}`, {
      act: () =>
        table.living
          .filter(({ pid, env }) => pid !== own && env[name] === value)
          .map(({ pid, group, command }) => ({ pid, group, command })),
    });
  }

  isAlive(pid: number): boolean {
    return this.#self.table.find(pid) !== undefined;
  }

  signal(pid: number, signal: Signal): boolean {
    return this.#send(`${pid} ${signal}`, signal, (process) => process.pid === pid);
  }

  #send(path: string, signal: Signal, isMeant: (process: MemoryProcess) => boolean): boolean {
    const { table, disk } = this.#self;
    const act = (): boolean => {
      const meant = table.living.filter(isMeant);
      for (const process of meant) process.take(signal);
      return meant.length > 0;
    };
    return disk.performNow("signal", path, { act }, false);
  }

  #spawn(request: SpawnRequest): ChildProcess {
    const self = this.#self;
    const { table, disk } = self;
    const program = programOf(self, request);
    const output = new MemoryPipe(() => disk.stopped);
    const { env } = request;
    const child = table.run(program, request.args, { command: commandOf(request), env, output });
    table.executions.push({ pid: child.pid, command: request.args.at(-1) ?? "", env });
    self.reads.add(output);
    return {
      pid: child.pid,
      onOutput: (chunk, ended) => output.read(chunk, ended),
      exited: child.exited.then(async (exit) => await whileAlive(self, exit)),
      signalGroup: (signal) =>
        this.#send(`group ${child.group} ${signal}`, signal, ({ group }) => group === child.group),
      detachOutput: () => output.break(),
    };
  }
}

/** A dead parent hears of nothing, and one that is stopped later. */
async function whileAlive<T>({ disk }: MemoryProcess, news: T): Promise<T> {
  while (disk.stopped !== undefined) await disk.stopped;
  return disk.isDead ? await new Promise<never>(() => undefined) : news;
}

function commandOf({ file, args }: SpawnRequest): string {
  return [file, ...args].join(" ");
}

function programOf({ disk, table }: MemoryProcess, { file, cwd }: SpawnRequest): Program {
  if (disk.inodeOf(cwd) === undefined) throw new DiskError("ENOENT", "start in", cwd);
  if (!isDirectory(disk, cwd)) throw new DiskError("ENOTDIR", "start in", cwd);
  const program = table.machine.programs[file];
  if (program === undefined) throw new DiskError("ENOENT", "start", file);
  return program;
}

function isDirectory(disk: MemoryDisk, path: string): boolean {
  try {
    disk.peek(path);
    return false;
  } catch (error) {
    if (isDiskError(error, "EISDIR")) return true;
    throw error;
  }
}

/** What a process gets that died over the start. */
const silentChild: ChildProcess = {
  pid: 0,
  onOutput: () => undefined,
  exited: new Promise(() => undefined),
  signalGroup: () => false,
  detachOutput: () => undefined,
};

function failedChild(error: DiskError): ChildProcess {
  const exited = Promise.reject(error);
  exited.catch(() => undefined); // Whoever asks gets the rejection; whoever never asks must not end the test by it.
  return {
    pid: 0,
    exited,
    onOutput: (_chunk, ended) => queueMicrotask(ended),
    signalGroup: () => false,
    detachOutput: () => undefined,
  };
}
