import {
  resume,
  type EngineContext,
  type ResumeRequest,
  type SessionRequest,
  type WorkReport,
} from "../../src/engine/index.ts";
import { createSession } from "../../src/engine/create-session.ts";
import { SessionFold } from "../../src/engine/worker.ts";
import type { Commit } from "../../src/model/commit.ts";
import type { Fact } from "../../src/model/facts.ts";
import type { SessionState } from "../../src/model/fold.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { changesDisk, type Effect } from "../crash/memory-disk.ts";
import { MemoryClock } from "../crash/memory-host.ts";
import { filesOf, type SessionFiles } from "./session-files.ts";

/** How a session begins. */
export interface Beginning extends Partial<Omit<SessionRequest, "workspace" | "agent" | "model">> {
  /** What the model answers. */
  readonly turns: readonly unknown[];
  /** In the workspace. */
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** True where somebody waits for a person: no time passes then by itself. */
  readonly patient?: boolean;
}

/** How a process works on it. */
export interface Working extends Partial<ResumeRequest> {
  /** Told of each fact once it is durable, before the work goes on. */
  readonly onFact?: (fact: Fact) => void | Promise<void>;
}

/** A session of the engine's own making, on a machine in memory. */
export class EngineScene {
  readonly world: EngineWorld;
  readonly session: string;

  private constructor(world: EngineWorld, session: string) {
    this.world = world;
    this.session = session;
    // Others are heard while the work goes on.
    world.disk.tells = 3;
  }

  static async begin({
    turns,
    files = {},
    environment = {},
    patient,
    ...rest
  }: Beginning): Promise<EngineScene> {
    const world = new EngineWorld({ clock: new MemoryClock(patient ? { passesMsMax: 1000 } : {}) });
    world.environment = environment;
    world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns }));
    for (const [name, text] of Object.entries({ "a.txt": "a\n", ...files })) {
      world.disk.plant(`/project/${name}`, text);
    }
    const { workspace, model } = EngineWorld;
    const request = { workspace, model, agent: "builtin", policy: {}, task: "Do it.", ...rest };
    const session = await createSession(world.engine(), request);
    world.disk.settle();
    return new EngineScene(world, session);
  }

  /** The machine after all processes were killed. */
  killed(): EngineScene {
    return new EngineScene(this.world.killed(), this.session);
  }

  /** A process works until it lets go. */
  async work({ onFact, ...options }: Working = {}): Promise<WorkReport> {
    return await this.workOf(this.world.engine(), { ...options, ...(onFact && { onFact }) });
  }

  async workOf(engine: EngineContext, { onFact, ...options }: Working): Promise<WorkReport> {
    const commit = async (line: Commit): Promise<void> => {
      for (const fact of line.facts as Fact[]) await onFact?.(fact);
    };
    const request = { selector: this.session, acceptRollback: false, ...options };
    return await resume(engine, request, { commit, live: () => undefined });
  }

  /** What a death leaves right after the `nth` fact of a kind was durable. */
  async deathAfter(kind: Fact["kind"], nth = 1, options: Working = {}): Promise<EngineScene> {
    let left = nth;
    let death: EngineScene | undefined;
    const onFact = async (fact: Fact): Promise<void> => {
      if (fact.kind === kind && --left === 0) death = this.killed();
      await options.onFact?.(fact);
    };
    await this.work({ ...options, onFact });
    if (death === undefined) throw new Error(`there was no ${kind} number ${nth}`);
    return death;
  }

  /** What deaths leave before each change of the disk that `fits`. */
  async deaths(
    fits: (effect: Effect) => boolean = changesDisk,
    options: Working = {},
  ): Promise<EngineScene[]> {
    const deaths: EngineScene[] = [];
    this.world.disk.gate = (effect) => {
      if (changesDisk(effect) && fits(effect)) deaths.push(this.killed());
      return undefined;
    };
    try {
      await this.work(options);
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
    } finally {
      this.world.disk.gate = undefined;
    }
    return deaths;
  }

  /** The first death after which whoever looks finds that nobody can know what happened, looked into. */
  async doubt(): Promise<EngineScene> {
    for (const death of await this.deaths()) {
      const looked = death.killed();
      if ((await looked.work()).ending === "input_required") return looked;
    }
    throw new Error("no death leaves a doubt");
  }

  async state(): Promise<SessionState> {
    const fold = new SessionFold(this.session);
    await this.world.engine().store.readStrictly(this.session, (commit) => fold.take(commit));
    return fold.state;
  }

  /** The newest run, and its first operation of which nobody knows, else its last one. */
  async newest(): Promise<{ session: string; run: string; operation: string }> {
    const { runs, operations } = await this.state();
    const all = [...operations.values()];
    const one = all.find(({ at }) => at === "unknown") ?? all.at(-1);
    return { session: this.session, run: [...runs.keys()].at(-1) ?? "", operation: one?.operation ?? "" };
  }

  files(): SessionFiles {
    return filesOf(this.world.disk, this.session);
  }
}
