import { setImmediate as turn } from "node:timers/promises";
import {
  resume,
  StopSwitch,
  type EngineContext,
  type ResumeRequest,
  type LiveEvent,
  type WorkReport,
} from "../../src/engine/index.ts";
import { createSession } from "../../src/engine/create-session.ts";
import type { Commit } from "../../src/model/commit.ts";
import type { Fact, FactKind } from "../../src/model/facts.ts";
import type { GivenPolicy } from "../../src/model/policy.ts";
import type { OperationState } from "../../src/model/operation.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import type { Fate, UnsyncedChange } from "../crash/memory-disk.ts";
import { MemoryClock } from "../crash/memory-host.ts";
import { examine, type Examined } from "./examine.ts";

/** A session in memory whose work can be stopped, asked for things and watched at each of its steps. */

export const secondMs = 1000;
export const hourMs = 3_600_000;

export interface StageOptions {
  /** What the model answers. */
  readonly turns: readonly unknown[];
  readonly files?: Readonly<Record<string, string>>;
  readonly policy?: GivenPolicy;
}

/** The machine with its one session. What sleeps longer than a second wakes when somebody lets the time pass. */
export class Stage {
  readonly world: EngineWorld;
  readonly session: string;

  private constructor(world: EngineWorld, session: string) {
    this.world = world;
    this.session = session;
    // Others are heard while the work goes on.
    world.disk.tells = 3;
  }

  static async set({ turns, files = {}, policy = {} }: StageOptions): Promise<Stage> {
    const world = new EngineWorld({ clock: new MemoryClock({ passesMsMax: secondMs }) });
    world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
    world.disk.plant("/project/a.txt", "a\n");
    for (const [name, text] of Object.entries(files)) world.disk.plant(`/project/${name}`, text);
    const { workspace, model } = EngineWorld;
    const request = { workspace, model, agent: "builtin", policy, task: "Do it." };
    const session = await createSession(world.engine(), request);
    world.disk.settle();
    return new Stage(world, session);
  }

  /** The machine after all processes were killed. */
  killed(): Stage {
    return new Stage(this.world.killed(), this.session);
  }

  /** The machine after a power cut. */
  crashed(choose: (change: UnsyncedChange, index: number) => Fate): Stage {
    return new Stage(this.world.crashed(choose), this.session);
  }

  /** Has a new process go on with the session. */
  work(options: WorkOptions = {}): Work {
    return new Work(this, options);
  }

  examine(): Promise<Examined> {
    return examine(this.world.engine(), this.session);
  }

  /** Operations in the order in which the model asked for them, with those that were made in their place. */
  async operations(): Promise<OperationState[]> {
    return [...(await this.examine()).state.operations.values()];
  }

  text(name: string): string | undefined {
    return this.world.text(`/project/${name}`);
  }
}

export interface WorkOptions extends Partial<ResumeRequest> {
  /** Told of each fact as it is committed, before the work goes on. */
  readonly onFact?: (fact: Fact, commit: Commit) => void;
}

/** A process that works. */
export class Work {
  readonly stops = new StopSwitch();
  readonly leaving = new AbortController();
  readonly report: Promise<WorkReport>;
  readonly facts: Fact[] = [];
  readonly engine: EngineContext;
  readonly die: () => void;
  /** What is live, of text. */
  heard = "";
  readonly #waiters = new Set<{ readonly kind: FactKind; readonly nth: number; readonly done: () => void }>();

  constructor(stage: Stage, { onFact, ...options }: WorkOptions) {
    const { engine, die } = stage.world.process();
    [this.engine, this.die] = [engine, die];
    const commit = (line: Commit): void => {
      stage.world.told.push(line);
      for (const fact of line.facts as Fact[]) {
        this.facts.push(fact);
        onFact?.(fact, line);
      }
      for (const waiter of this.#waiters) if (this.count(waiter.kind) >= waiter.nth) waiter.done();
    };
    const live = (event: LiveEvent): void => {
      if ("text" in event) this.heard += event.text;
    };
    const { stops } = this;
    const request = { selector: stage.session, acceptRollback: false, stops, signal: this.leaving.signal };
    this.report = resume(engine, { ...request, ...options }, { commit, live });
    // Whoever awaits it sees how it failed.
    this.report.catch(() => undefined);
  }

  count(kind: FactKind): number {
    return this.facts.filter((fact) => fact.kind === kind).length;
  }

  /** Resolves when the `nth` fact of a kind was committed and the work waits for something that time or people bring. */
  async waits(kind: FactKind, nth = 1): Promise<void> {
    const comes = new Promise<void>((done) => this.#waiters.add({ kind, nth, done }));
    const ends = this.report.then(
      ({ ending }) => `it ended first: ${ending}`,
      (error: unknown) => `it failed first: ${String(error)}`,
    );
    const isThere = () => this.count(kind) >= nth;
    const end = isThere() ? undefined : await Promise.race([comes, ends]);
    if (!isThere()) throw new Error(end ?? "");
    await idle();
  }
}

/** Resolves when nothing goes on in memory any more but what waits for time or people. */
export async function idle(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await turn();
}
