import { StopSwitch, type LiveEvent, type Observer } from "../../../src/engine/index.ts";
import type { Commit } from "../../../src/model/commit.ts";
import type { Fact } from "../../../src/model/facts.ts";
import type { EngineMachine } from "./engine-machine.ts";

/** The people around one process that works: what they are told, and what they then do. */
export class People implements Observer {
  readonly #machine: EngineMachine;
  readonly #leaving: AbortController;
  readonly #counts = new Map<string, number>();
  readonly #doings: Promise<void>[] = [];
  readonly #failures: unknown[] = [];
  #attempt = 1;
  stops = new StopSwitch();

  /** `leaving`: has the process leave. */
  constructor(machine: EngineMachine, leaving: AbortController) {
    this.#machine = machine;
    this.#leaving = leaving;
  }

  commit(commit: Commit): void {
    this.#machine.world.told.push(commit);
    for (const fact of commit.facts as Fact[]) {
      if (fact.kind === "run.started") this.#attempt = fact.attempt;
      this.#notice(fact.kind);
    }
  }

  live(event: LiveEvent): void {
    this.#notice(event.type);
  }

  /** Resolves to how they failed, when all of them have done what they do. */
  async end(): Promise<unknown[]> {
    this.#machine.hurry();
    for (let count = -1; count < this.#doings.length;) {
      count = this.#doings.length;
      await Promise.all(this.#doings);
    }
    return this.#failures;
  }

  #notice(what: string): void {
    const nth = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, nth);
    const { setting } = this.#machine;
    const doing = setting.meanwhile?.({
      machine: this.#machine,
      what,
      nth,
      attempt: this.#attempt,
      stops: this.stops,
      leave: () => this.#leaving.abort(),
    });
    if (doing !== undefined) this.#doings.push(this.#watch(doing));
  }

  async #watch(doing: Promise<unknown>): Promise<void> {
    try {
      await doing;
    } catch (error) {
      this.#failures.push(error);
      // Whoever waits for what this one was to do would wait for ever.
      this.#leaving.abort();
    }
  }
}
