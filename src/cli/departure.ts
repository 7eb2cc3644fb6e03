import { StopSwitch } from "../engine/index.ts";
import { errorTable } from "../model/errors.ts";
import type { Stop } from "../model/stop.ts";
import type { Call } from "./call.ts";
import type { Failure } from "./failure.ts";
import { reportFailure, wrote } from "./failure.ts";
import type { EndSignal } from "./outside.ts";
import type { ProgressOutput } from "./progress/output.ts";
import type { Watch } from "./watch.ts";

/**
 * How signals end the work, and the process:
 *
 *     going ── SIGTERM, SIGHUP ──→ suspending ── Ctrl-C ──→ canceling ── Ctrl-C ──→ leaving ── Ctrl-C ──→ gone
 *       └────────────────────── Ctrl-C ──────────────────────→┘
 *
 * Who suspends or cancels goes on to the orderly end of the work. Who leaves begins nothing more and is gone very soon;
 * the log is consistent at every instant, and who resumes finds out what had happened. A supervisor repeats SIGTERM: that
 * changes nothing.
 */

/** What is told of the work, and how it stands. */
export interface Told {
  readonly output: ProgressOutput;
  readonly watch: Watch;
}

// Together two seconds: a reader that stopped reading keeps no process that was told to go.
const flushMs = 1500;
const reportMs = 500;
/** npm passes on the Ctrl-C of a terminal that its child has got already. */
const sameKeypressMs = 50;

/** What is said of a stop while the work goes on to its end. */
const notes: Readonly<Record<"cancel" | "suspend", string>> = {
  cancel: "canceling: what runs is told to stop; Ctrl-C again leaves at once",
  suspend: "suspending: what runs has a moment to finish, and the run can be resumed",
};

/** The way out of one piece of work. */
export class Departure {
  /** Stops the work in good order. */
  readonly stops = new StopSwitch();
  readonly #call: Call;
  readonly #told: Told;
  readonly #leaving = new AbortController();
  readonly #ended = new AbortController();
  readonly #stopListening: () => void;
  #interruptedMs = -Infinity;
  /** The exit code of work that is over. */
  #exitCode: number | undefined;
  #isHurried = false;
  /** True while the output waits for a reader, though the process was told to go. */
  #isHeldUp = false;

  /** Listens to signals from now on. */
  constructor(call: Call, told: Told) {
    this.#call = call;
    this.#told = told;
    this.#stopListening = call.outside.onSignal((signal) => this.#obey(signal));
  }

  /** Aborted when the process leaves at once. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  /** True where a signal, or a Ctrl-C, has the work stop. */
  get isAsked(): boolean {
    return this.stops.stop !== undefined;
  }

  /** What Ctrl-C does. */
  interrupt(): void {
    const nowMs = this.#call.outside.host.clock.monotonicMs();
    if (nowMs - this.#interruptedMs < sameKeypressMs) return;
    this.#interruptedMs = nowMs;
    if (this.signal.aborted || this.#isHurried) this.#exit();
    else if (this.#exitCode !== undefined) this.#hurry();
    else if (this.stops.stop?.kind === "cancel") this.#leave();
    else this.#stop({ kind: "cancel", by: this.#call.outside.host.processes.self.user });
  }

  /** The work is over, and only its telling goes on: that takes nothing back, and keeps no process that was told to go. */
  over(exitCode: number): void {
    this.#exitCode = exitCode;
    if (this.isAsked) this.#hurry();
  }

  /** Resolves when the output is written; where the process was told to go, sooner, and whatever became of it. */
  async flushed(): Promise<void> {
    const flushed = this.#told.output.flushed();
    if (!this.isAsked) return await flushed;
    const { clock } = this.#call.outside.host;
    this.#isHeldUp = true;
    const settled = Promise.allSettled([flushed]).then(() => void (this.#isHeldUp = false));
    await Promise.race([settled, clock.sleep(flushMs, this.#ended.signal)]);
  }

  /** Everything is told that can be. */
  end(): void {
    this.#stopListening();
    this.#ended.abort();
    // What waits for its reader would keep the process for ever.
    if (this.#isHeldUp) this.#exit();
  }

  #obey(signal: EndSignal): void {
    if (signal === "SIGINT") this.interrupt();
    else if (this.#exitCode !== undefined) this.#hurry();
    else if (!this.isAsked) this.#stop({ kind: "suspend", reason: "signal" });
  }

  #stop(stop: Stop & { readonly kind: keyof typeof notes }): void {
    // Before anything is said: a question that is being asked ends by it.
    this.stops.request(stop);
    const note = notes[stop.kind];
    this.#told.output.note(note);
    const { form, outside } = this.#call;
    if (form !== "text" && outside.stderr.isTerminal) void wrote(outside.stderr.write(`holdfast: ${note}\n`));
  }

  #hurry(): void {
    if (this.#isHurried) return;
    this.#isHurried = true;
    const { clock } = this.#call.outside.host;
    const ended = this.#ended.signal;
    void clock.sleep(flushMs + reportMs, ended).then(() => {
      if (!ended.aborted) this.#exit();
    });
  }

  #leave(): void {
    const { output, watch } = this.#told;
    const { clock } = this.#call.outside.host;
    this.#leaving.abort();
    output.stop();
    void Promise.race([Promise.allSettled([output.flushed()]), clock.sleep(flushMs)])
      .then(() => {
        const report = reportFailure(this.#call, this.#interruption(), watch);
        return Promise.race([report, clock.sleep(reportMs)]);
      })
      .then(() => this.#exit());
  }

  #exit(): void {
    this.#call.outside.exit(this.#exitCode ?? errorTable.interrupted.exit);
  }

  #interruption(): Failure {
    const { watch } = this.#told;
    const { session } = watch;
    if (session === undefined) {
      return { code: "interrupted", message: "interrupted before a session was made" };
    }
    const message = `interrupted; session ${session} is kept`;
    return { code: "interrupted", message, hint: watch.wayOn(this.#call.program) };
  }
}
