import { isHoldfastError } from "../../src/model/errors.ts";
import type { Effect } from "./memory-disk.ts";

/**
 * Lets several writers append at the same time, in an order that the test decides. One append is four steps:
 *
 *     verify (all that is read before) → write → sync → acknowledge (all that is read afterwards)
 */
export const stepsOfAppend = 4;
const writeStep = 1;

/** Every order in which writers with these many steps each can go; `counts` are used up. */
export function* interleavings(counts: number[], order: number[] = []): Generator<readonly number[]> {
  if (counts.every((count) => count === 0)) yield order;
  for (const [writer, count] of counts.entries()) {
    if (count === 0) continue;
    counts[writer] = count - 1;
    order.push(writer);
    yield* interleavings(counts, order);
    order.pop();
    counts[writer] = count;
  }
}

/**
 * False where another order has the same effect and comes earlier: two neighbouring steps of different writers that
 * both only read, or both only sync, can change places without anybody noticing. Only writes cannot.
 */
export function isFirstOfItsKind(order: readonly number[]): boolean {
  const taken = new Map<number, number>();
  let before: { writer: number; step: number } | undefined;
  for (const writer of order) {
    const step = taken.get(writer) ?? 0;
    taken.set(writer, step + 1);
    if (before !== undefined && before.step === step && step !== writeStep && before.writer > writer)
      return false;
    before = { writer, step };
  }
  return true;
}

/** How an append ended: what it resolved to, or the code of its error. */
export type Outcome<T> = { readonly value: T } | { readonly code: string };

/** One append that waits before each of its steps. */
export class SteppedAppend<T> {
  readonly #start: () => Promise<T>;
  #phase: "verify" | "write" | "sync" | "acknowledge" = "verify";
  #started = false;
  #go: (() => void) | undefined;
  #arrived: () => void = () => undefined;
  outcome: Outcome<T> | undefined;

  constructor(start: () => Promise<T>) {
    this.#start = start;
  }

  /** The gate for the effects of this append's process. */
  gate({ verb }: Effect): Promise<void> | undefined {
    if (this.#phase === "verify" && verb === "write") return this.#pauseBefore("write");
    if (this.#phase === "write" && verb === "sync") return this.#pauseBefore("sync");
    if (this.#phase === "sync" && verb !== "sync") return this.#pauseBefore("acknowledge");
    return undefined;
  }

  /** Takes the next step, and resolves when it is done; to how the append ended, when it has. */
  async step(): Promise<Outcome<T> | undefined> {
    const arrived = new Promise<void>((resolve) => (this.#arrived = resolve));
    if (this.#started) this.#go?.();
    else this.#run();
    this.#started = true;
    await arrived;
    return this.outcome;
  }

  #run(): void {
    const end = (outcome: Outcome<T>): void => {
      this.outcome = outcome;
      this.#arrived();
    };
    this.#start().then(
      (value) => end({ value }),
      (error: unknown) => end({ code: isHoldfastError(error) ? error.code : String(error) }),
    );
  }

  #pauseBefore(phase: "write" | "sync" | "acknowledge"): Promise<void> {
    this.#phase = phase;
    const go = new Promise<void>((resolve) => (this.#go = resolve));
    this.#arrived();
    return go;
  }
}
