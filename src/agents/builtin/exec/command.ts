import { isDiskError, type ChildProcess } from "../../../host/index.ts";
import { makeRedactor, type Redactor } from "../../../model/redact.ts";
import { operationVariable } from "./environment.ts";
import type { Start } from "./messages.ts";
import { OutputKeeper } from "./output.ts";
import type { SupervisorHost, TakenStart } from "./start.ts";
import { writeStatus, type CommandEnd, type StopReason, type Survivor } from "./status.ts";

/**
 * One command from its claim to its end, in its supervisor.
 *
 *     claim durable → spawn → … → leader's exit → drain → output durable → status durable → `alive` free
 *
 * C1 Nothing is spawned before the claim is durable.
 * C2 `alive` is let go only when the end is on record, or cannot be recorded.
 * C3 The end is the leader's exit. Others may hold the pipe, so it is drained for a bounded time; what comes later is
 *    read and thrown away while the supervisor lives, since a closed pipe would kill whoever writes to it.
 * C4 The group is signalled only while its number is surely ours: before the leader's exit was seen, or while a
 *    process of the command is found in it.
 *
 * Killed anywhere between claim and status: claim, no status, `alive` free: the end is unknown.
 */

/** Bounds of one command. */
export interface CommandLimits {
  /** From asking the group to stop to making it. */
  readonly graceMs: number;
  /** From the leader's exit to the end of reading. */
  readonly drainMs: number;
  /** Longest output that is kept. */
  readonly outputBytesMax: number;
}

/** What a command runs with. */
export interface CommandOptions {
  readonly host: SupervisorHost;
  readonly limits: CommandLimits;
  readonly request: Start;
  /** Called when the kept output has grown. */
  readonly grown: () => void;
}

const survivorPollMs = 50;
/** So many processes that outlived their command are named; the others are counted. */
export const survivorsMax = 50;
const commandCharactersMax = 300;

/** A claimed command. {@link Command.run} is called once; {@link Command.stop} at any time. */
export class Command {
  readonly #options: CommandOptions;
  readonly #redactor: Redactor;
  readonly #exited = new AbortController();
  readonly #drained = new AbortController();
  #child: ChildProcess | undefined;
  #stopped: StopReason | undefined;
  /** When a group that was told to stop is made to. */
  #killAtMs = Infinity;

  constructor(options: CommandOptions) {
    this.#options = options;
    this.#redactor = makeRedactor(options.request.secrets);
  }

  /**
   * Asks the command to stop, then makes it. Where it was told before, the first reason stays, and it is made to as soon
   * as the more impatient one wants it. Does nothing where it has exited.
   */
  stop(reason: StopReason, graceMs = this.#options.limits.graceMs): void {
    const killAtMs = this.#options.host.clock.monotonicMs() + graceMs;
    if (this.#exited.signal.aborted || killAtMs >= this.#killAtMs) return;
    const isFirst = this.#stopped === undefined;
    this.#stopped ??= reason;
    this.#killAtMs = killAtMs;
    if (this.#child === undefined) return;
    if (isFirst) this.#child.signalGroup("SIGTERM");
    void this.#kill(this.#child);
  }

  /** True while somebody holds the pipe of a command that was started. */
  get isHeld(): boolean {
    return this.#child !== undefined && !this.#drained.signal.aborted;
  }

  /** Lets go of a pipe that others still hold. */
  release(): void {
    this.#child?.detachOutput();
  }

  /** Runs the command to its end on record. Rejects where the end could not be recorded. */
  async run(start: TakenStart): Promise<void> {
    try {
      await this.#recordEnd(start).finally(() => start.status.close());
    } finally {
      await start.alive.release();
    }
  }

  async #recordEnd(start: TakenStart): Promise<void> {
    const { request, limits, grown, host } = this.#options;
    const { clock } = host;
    const keeper = new OutputKeeper({
      file: start.output,
      redactor: this.#redactor,
      bytesMax: limits.outputBytesMax,
      grown,
    });
    const startedAt = clock.now();
    const startedMs = clock.monotonicMs();
    const end = await this.#runChild(keeper);
    this.#exited.abort();
    const endedAt = clock.now();
    const durationMs = clock.monotonicMs() - startedMs;
    if (end.kind !== "not_started") await this.#settle();
    const kept = await keeper.end();
    await writeStatus(start.status, {
      v: 1,
      operation: request.operation,
      nonce: request.nonce,
      end,
      ...(this.#stopped === undefined ? {} : { stopped: this.#stopped }),
      startedAt,
      endedAt,
      durationMs,
      outputBytes: kept.bytes,
      outputSha256: kept.sha256,
      dropped: kept.dropped,
      ...(kept.fault === undefined ? {} : { outputFault: kept.fault }),
      ...(await this.#listSurvivors()),
    });
  }

  async #runChild(keeper: OutputKeeper): Promise<CommandEnd> {
    const { host, request } = this.#options;
    try {
      await host.disk.syncDirectory(request.spool);
      if (this.#stopped !== undefined) return { kind: "not_started", reason: "stopped before it started" };
      const child = host.processes.spawn({
        file: "/bin/sh",
        args: ["-c", request.command],
        cwd: request.cwd,
        env: request.env,
      });
      this.#child = child;
      child.onOutput(
        (chunk) => keeper.push(chunk),
        () => this.#drained.abort(),
      );
      if (request.timeoutMs !== undefined) void this.#limitTime(request.timeoutMs);
      const { code, signal } = await child.exited;
      return signal === undefined ? { kind: "exited", code: code ?? 0 } : { kind: "signaled", signal };
    } catch (error) {
      const reason = isDiskError(error) ? `${error.code} ${error.path}` : String(error);
      return { kind: "not_started", reason: this.#redactor.text(reason).slice(0, commandCharactersMax) };
    }
  }

  async #limitTime(timeoutMs: number): Promise<void> {
    await this.#options.host.clock.sleep(timeoutMs, this.#exited.signal);
    this.stop("timeout");
  }

  async #kill(child: ChildProcess): Promise<void> {
    const { clock } = this.#options.host;
    const killAtMs = this.#killAtMs;
    await clock.sleep(killAtMs - clock.monotonicMs(), this.#exited.signal);
    // Somebody may have become more impatient meanwhile, and has done it.
    if (!this.#exited.signal.aborted && killAtMs === this.#killAtMs) child.signalGroup("SIGKILL");
  }

  /** After the leader's exit: ends the rest of a group that was told to stop, then reads on for a while. */
  async #settle(): Promise<void> {
    const { clock } = this.#options.host;
    const { drainMs } = this.#options.limits;
    if (this.#stopped !== undefined) {
      while ((await this.#groupLives()) && clock.monotonicMs() < this.#killAtMs) {
        await clock.sleep(survivorPollMs);
      }
      if (await this.#groupLives()) this.#child?.signalGroup("SIGKILL");
    }
    await clock.sleep(drainMs, this.#drained.signal);
  }

  async #groupLives(): Promise<boolean> {
    const found = await this.#find();
    return found.some(({ group }) => group === this.#child?.pid);
  }

  async #listSurvivors(): Promise<{ survivors: Survivor[]; survivorsUnlisted: number }> {
    const found = this.#child === undefined ? [] : await this.#find();
    const survivors = found.slice(0, survivorsMax).map(({ pid, command }) => ({
      pid,
      command: this.#redactor.text(command).slice(0, commandCharactersMax),
    }));
    return { survivors, survivorsUnlisted: found.length - survivors.length };
  }

  #find() {
    const { host, request } = this.#options;
    return host.processes.findByEnvironment(operationVariable, request.operation);
  }
}
