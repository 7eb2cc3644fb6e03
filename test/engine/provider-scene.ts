import { expect } from "vitest";
import { resume, runTask, type LiveEvent, type WorkReport } from "../../src/engine/index.ts";
import type { Host } from "../../src/host/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import { exitCodeOfEnding } from "../../src/model/ending.ts";
import { type CallLimits, openEngine } from "../../src/open.ts";
import { environmentOf, secretKey, wires, type Wire } from "../agents/wire.ts";
import type { ModelServer, ModelTurn } from "../peers/model-server.ts";
import { temporaryDirectory } from "../store/real-stage.ts";
import { examine, expectKept, expectSettledOnce, factsOf, type Examined } from "./examine.ts";
import { Home, type Programs } from "./home.ts";

/** The whole engine over real HTTP, with a clock on which every pause is over at once and no limit ever runs out by itself. */

/** Limits whose lengths tell them from each other, and from every pause before a repetition. */
const limits: CallLimits = { headMs: 1.25, silenceMs: 2.25, progressMs: 3.25, refusalMs: 4.25 };

/** A limit that runs out as soon as it is waited for and `when` holds. */
export interface Expiry {
  limit: keyof CallLimits;
  /** Absent: once. */
  always?: true;
  when?: (scene: ProviderScene) => boolean;
}

// Nothing here starts a command, so no program is needed.
const programs: Programs = { worker: "", supervisor: "" };

/** One session against the server. */
export class ProviderScene {
  readonly home: Home;
  /** Pauses that were asked for, in milliseconds; none of them is really made. */
  readonly pauses: number[] = [];
  readonly live: LiveEvent[] = [];
  readonly commits: Commit[] = [];
  /** Limits that were waited for. */
  readonly begun = new Set<keyof CallLimits>();
  readonly #server: ModelServer;
  readonly #from: number;
  // Nothing here proves anything about the disk, and there are hundreds of scenes.
  readonly #folder = temporaryDirectory({ inMemory: true });
  #expiry: Expiry | undefined;
  /** Ends the wait for the limit that runs out. */
  #expired: AbortSignal | undefined;

  constructor(server: ModelServer, url = server.url) {
    this.#server = server;
    this.#from = server.requests.length;
    this.home = new Home(programs, this.#folder.path);
    this.home.environment = { ...this.home.environment, ...environmentOf(url) };
  }

  end(): void {
    this.home.end();
    this.#folder.remove();
  }

  /** From here on this limit runs out, once or whenever it is begun. */
  expire(expiry: Expiry): void {
    this.#expiry = expiry;
  }

  async run(wire: Wire, ...turns: ModelTurn[]): Promise<WorkReport> {
    this.#server.push(...turns);
    const task = this.home.task({ model: wires[wire].model });
    return await runTask(this.#engine(), task, this.#observer(), () => undefined);
  }

  async resume(...turns: ModelTurn[]): Promise<WorkReport> {
    this.#server.push(...turns);
    const request = { selector: this.home.sessions()[0] ?? "", acceptRollback: false };
    return await resume(this.#engine(), request, this.#observer());
  }

  /** Requests that reached the server for this session. */
  asked(): ModelServer["requests"] {
    return this.#server.requests.slice(this.#from);
  }

  /** The exit code with which the command would end. */
  exitCode({ ending }: WorkReport): number {
    const suspended = this.commits.flatMap((commit) => commit.facts).findLast(isSuspension);
    return exitCodeOfEnding({ ending, reason: suspended?.reason });
  }

  /**
   * The session, read strictly, and what always holds: one request a call, but for `unseen` that found nobody; one end
   * a call; no key anywhere.
   */
  async examine({ unseen = 0 } = {}): Promise<Examined> {
    const examined = await examine(this.home.engine(), this.home.sessions()[0] ?? "");
    expectKept(examined, this.commits);
    expectSettledOnce(examined);
    expect(this.asked()).toHaveLength(factsOf(examined, "model.requested").length - unseen);
    const calls = examined.facts.filter((fact) => fact.kind.startsWith("model.")).map((fact) => fact.kind);
    const ends = calls.filter((_, index) => index % 2 === 1);
    expect(calls.filter((_, index) => index % 2 === 0)).toEqual(ends.map(() => "model.requested"));
    expect(ends).not.toContain("model.requested");
    expect(JSON.stringify([examined.commits, this.live])).not.toContain(secretKey);
    return examined;
  }

  #observer(): { commit(commit: Commit): void; live(event: LiveEvent): void } {
    return {
      commit: (commit) => void this.commits.push(commit),
      live: (event) => void this.live.push(event),
    };
  }

  #engine(): ReturnType<typeof openEngine> {
    const host: Host = this.home.host();
    const sleep = (ms: number, signal?: AbortSignal) => this.#sleep(ms, signal);
    return openEngine({
      host: { ...host, clock: { ...host.clock, sleep } },
      stateDirectory: this.home.state,
      singleWriter: false,
      environment: this.home.environment,
      version: "0.0.0-test",
      supervisorProgram: { file: process.execPath, args: [] },
      callLimits: limits,
    });
  }

  async #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    // A limit is waited for whole, or in eighths.
    const limit = (Object.keys(limits) as (keyof CallLimits)[]).find(
      (name) => limits[name] === ms || limits[name] / 8 === ms,
    );
    if (limit === undefined) return void this.pauses.push(ms);
    this.begun.add(limit);
    while (signal?.aborted !== true && this.#expired !== signal) {
      const expiry = this.#expiry;
      if (expiry?.limit === limit && (expiry.when?.(this) ?? true)) {
        if (expiry.always !== true) this.#expiry = undefined;
        this.#expired = signal;
      } else await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}

function isSuspension(
  fact: Commit["facts"][number],
): fact is Extract<typeof fact, { kind: "run.suspended" }> {
  return fact.kind === "run.suspended";
}
