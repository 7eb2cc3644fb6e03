/** Processes: who we are, whom we start, whom we may signal. */

/** Who this process is. Shown in messages and facts; decides nothing. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in the kernel's ticks since boot (Linux), else milliseconds since the epoch. */
  readonly startTime: string;
  /** Changes at every boot; empty where the platform tells none. */
  readonly bootId: string;
  /** Host name. */
  readonly host: string;
  /** Name of the user, for records of who decided something. */
  readonly user: string;
}

/**
 * What to start. Nothing of our own environment is inherited: `env` is all that the child gets, but for
 * names that no shell can hold, which {@link Processes.spawn} drops. `file` without a slash is looked up in the PATH of
 * `env`.
 */
export interface SpawnRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How a child ended. */
export interface ChildExit {
  /** Exit code, or undefined where a signal ended it. */
  readonly code?: number;
  readonly signal?: string;
}

/** A child in a process group of its own, with its output as one ordered pipe and no input. */
export interface ChildProcess {
  /** 0 where it could not be started. */
  readonly pid: number;
  /** Calls `chunk` with output in order; `ended` once, when nobody holds the pipe any more. */
  onOutput(chunk: (bytes: Uint8Array) => void, ended: () => void): void;
  /** Resolves when the leader has exited; rejects with code ENOENT, EACCES, … where it could not be started. */
  readonly exited: Promise<ChildExit>;
  /** Signals the whole group, also after the leader has exited; false where it is gone. */
  signalGroup(signal: "SIGTERM" | "SIGKILL" | "SIGINT"): boolean;
  /** Stops reading the output, lets go of the pipe, and no longer keeps this process alive; `ended` is not called. */
  detachOutput(): void;
}

/** A living process. */
export interface FoundProcess {
  readonly pid: number;
  /** Its process group. While one is in it, the group's number is nobody else's. */
  readonly group: number;
  /** Its arguments, joined with blanks. */
  readonly command: string;
}

/** The operating system's processes. */
export interface Processes {
  readonly self: ProcessIdentity;
  /**
   * Runs a short program to its end and resolves to what it wrote. Rejects with a DiskError (ENOENT, EACCES) where it
   * cannot be started, ETIMEDOUT after `timeoutMs`; a non-zero exit is no rejection.
   */
  capture(
    request: SpawnRequest,
    timeoutMs: number,
  ): Promise<{ code: number; stdout: string; stderr: string }>;
  /** Starts a child whose output we read. Its group outlives nothing: the caller signals it. */
  spawn(request: SpawnRequest): ChildProcess;
  /**
   * Starts a program of this package that outlives us, in a session of its own, without standard streams.
   * `errorFile`, where given, receives its stderr. Throws a DiskError where it cannot be started.
   */
  spawnDetached(request: SpawnRequest & { readonly errorFile?: string }): { readonly pid: number };
  /** Living processes that carry `name=value` in their environment (Linux; elsewhere none). */
  findByEnvironment(name: string, value: string): Promise<FoundProcess[]>;
  /** True where a process with this pid exists. */
  isAlive(pid: number): boolean;
  /** Sends a signal to one process; false where it is gone. */
  signal(pid: number, signal: "SIGTERM" | "SIGKILL" | "SIGINT"): boolean;
}
