import type { Clock } from "../host/index.ts";
import { Fifo } from "../host/index.ts";

/** After this long without a pause a process lets others have the lock for a moment. */
const streakMs = 20;
/** Longer than any waiting process pauses between two attempts. */
const giveWayMs = 6;
/** A process that comes back sooner than this has left nobody a chance. */
const backToBackMs = 3;

interface Line {
  readonly turns: Fifo;
  waiting: number;
  releasedAt: number;
  streakSince: number;
}

/**
 * Who of this process is next to append to a queue. The system's lock knows no order and no fairness, so
 *
 * T1 inside a process it is one at a time and first come, first served;
 * T2 a process that appends without a pause gives way now and then, so that another one's admission gets in.
 */
export class AppendTurns {
  readonly #clock: Clock;
  readonly #lines = new Map<string, Line>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `work` when all that asked before for the same file have ended, whichever way. */
  run<T>(path: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lineOf(path);
    line.waiting++;
    return line.turns.run(async () => {
      try {
        await this.#giveWay(line);
        return await work();
      } finally {
        line.releasedAt = this.#clock.monotonicMs();
        line.waiting--;
      }
    });
  }

  #lineOf(path: string): Line {
    const found = this.#lines.get(path);
    if (found !== undefined) return found;
    this.#forgetIdle();
    const line = { turns: new Fifo(), waiting: 0, releasedAt: -Infinity, streakSince: 0 };
    this.#lines.set(path, line);
    return line;
  }

  async #giveWay(line: Line): Promise<void> {
    const now = this.#clock.monotonicMs();
    if (now - line.releasedAt > backToBackMs) line.streakSince = now;
    if (now - line.streakSince < streakMs) return;
    await this.#clock.sleep(giveWayMs);
    line.streakSince = this.#clock.monotonicMs();
  }

  #forgetIdle(): void {
    const now = this.#clock.monotonicMs();
    for (const [path, line] of this.#lines) {
      if (line.waiting === 0 && now - line.releasedAt > backToBackMs) this.#lines.delete(path);
    }
  }
}
