import type { AgentDefinition } from "../../../src/model/facts.ts";
import type { GivenPolicy } from "../../../src/model/policy.ts";
import type { Outcome } from "../../../src/model/values.ts";
import {
  approveOperation,
  abandonRun,
  cancelRun,
  resolveOperation,
  createSession,
  resume,
  runTask,
  send,
  StopSwitch,
  type Observer,
  type ResumeRequest,
  type SendReport,
  type WorkControl,
  type WorkReport,
} from "../../../src/engine/index.ts";
import { EngineWorld } from "../engine-world.ts";
import { changesDisk, type ComingEffect, type Fate, type UnsyncedChange } from "../memory-disk.ts";
import { readWhole, type WholeSession } from "./whole-session.ts";
import { worstOf } from "./at-once.ts";
import type { Machine } from "./machine.ts";
import { People } from "./people.ts";

/** What somebody outside was told, and must find true for ever. */
export type Told =
  | { readonly is: "sent"; readonly session: string; readonly delivery: string; readonly text: string }
  | { readonly is: "resolved"; readonly operation: string; readonly outcome: Outcome }
  | { readonly is: "approved"; readonly operation: string; readonly decision: "allow" | "deny" }
  | { readonly is: "stopped"; readonly run: string; readonly as: "canceled" | "failed" }
  /** A user's own: nothing that is promised about it is on record. */
  | { readonly is: "saved"; readonly path: string }
  /** How many answers of the model somebody recorded, of those that stay. */
  | { readonly is: "recorded"; readonly answers: number }
  /** A line that some reader got as one that stays. */
  | { readonly is: "seen"; readonly session: string; readonly seq: number; readonly sum: string };

/** What somebody notices of a process that works. */
export interface Moment {
  readonly machine: EngineMachine;
  /** The kind of a fact that was committed, or the type of what is only live. */
  readonly what: string;
  /** The how many-th of its kind in this process, from 1. */
  readonly nth: number;
  /** Which attempt of its run this is. */
  readonly attempt: number;
  /** Stops that very process. */
  readonly stops: StopSwitch;
  /** Has that very process leave at once. */
  readonly leave: () => void;
}

/** What is the same for all machines of a scenario. */
export interface Setting {
  readonly policy: GivenPolicy;
  readonly definition?: AgentDefinition;
  /** How people let processes work that they start. */
  readonly control: () => WorkControl;
  /** What people do when they notice something; nobody waits for it, and whoever works leaves where it fails. */
  readonly meanwhile?: (moment: Moment) => Promise<unknown> | undefined;
}

/** A machine in memory on which the engine works, and the people around it, who remember what they were told. */
export class EngineMachine implements Machine<EngineMachine> {
  readonly world: EngineWorld;
  readonly setting: Setting;
  readonly told: Told[];
  /** Texts that somebody tried to leave: of these each may be in the queue, once. */
  readonly tried: Set<string>;
  mayRepair: boolean;
  /** Words of people, as `allow` or `deny`, that somebody wanted to hold for later operations as well. */
  readonly lastingWords: Set<string>;
  /** What somebody did that is done once, whoever dies over it. */
  readonly did: Set<string>;
  /** Deliveries of which somebody was told that the process that lives takes them. */
  readonly promisedToBeTaken = new Set<string>();
  readonly #waiting = new Set<() => void>();

  constructor(world: EngineWorld, setting: Setting, from?: EngineMachine) {
    this.world = world;
    this.setting = setting;
    // Others are heard while the work goes on.
    world.disk.tells = 3;
    this.did = new Set(from?.did);
    this.told = [...(from?.told ?? [])];
    this.tried = new Set(from?.tried);
    this.lastingWords = new Set(from?.lastingWords);
    this.mayRepair = from?.mayRepair ?? false;
  }

  get disk(): EngineWorld["disk"] {
    return this.world.disk;
  }

  killed(): EngineMachine {
    return new EngineMachine(this.world.killed(), this.setting, this);
  }

  crashed(choose: (change: UnsyncedChange, index: number) => Fate = () => "dropped"): EngineMachine {
    return new EngineMachine(this.world.crashed(choose), this.setting, this);
  }

  knows(): string {
    const { told, begun } = this.world;
    const sums = told.map(({ ses, sum }) => `${ses} ${sum}`);
    return JSON.stringify([
      sums,
      begun,
      this.told,
      [...this.tried],
      [...this.did],
      [...this.lastingWords],
      this.mayRepair,
    ]);
  }

  // What people do; each is a process of its own

  /** Somebody gives the task. */
  async run(task = "Do it.", control: WorkControl = {}): Promise<WorkReport> {
    const { workspace, model } = EngineWorld;
    const { policy, definition } = this.setting;
    const agent = { agent: "builtin", policy, ...(definition && { definition }) };
    this.tried.add(task);
    const engine = this.world.engine();
    return await this.#accompany((own, observer) =>
      runTask(
        engine,
        { workspace, model, ...agent, task, ...own, ...control },
        observer,
        (session) => void this.world.begun.push(session),
      ),
    );
  }

  /** Somebody has the session go on. */
  async resume(request: Partial<ResumeRequest> = {}): Promise<WorkReport> {
    const selector = await this.session();
    if (request.task !== undefined) this.tried.add(request.task);
    const engine = this.world.engine();
    return await this.#accompany((own, observer) =>
      resume(engine, { selector, acceptRollback: false, ...own, ...request }, observer),
    );
  }

  /** Works with people around who notice what happens, and rejects where one of them fails. */
  async #accompany(
    work: (control: WorkControl, observer: Observer) => Promise<WorkReport>,
  ): Promise<WorkReport> {
    const leaving = new AbortController();
    const people = new People(this, leaving);
    const control = { ...this.setting.control(), signal: leaving.signal };
    const stops = control.stops ?? people.stops;
    people.stops = stops;
    const [ended] = await Promise.allSettled([work({ ...control, stops }, people)]);
    const failures = await people.end();
    if (ended.status === "rejected") failures.push(ended.reason);
    if (failures.length > 0) throw worstOf(failures);
    if (ended.status === "rejected") throw ended.reason;
    return ended.value;
  }

  /** Has that done before the effect that comes so many steps later, and not waited for. */
  after(steps: number, act: () => Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      let left = steps;
      const go = (): void => {
        this.#waiting.delete(go);
        this.disk.onlooker = undefined;
        act().then(resolve, reject);
      };
      this.#waiting.add(go);
      this.disk.onlooker = () => {
        if (left-- === 0) go();
        return undefined;
      };
    });
  }

  /** Has those act at last who waited for a step that did not come. */
  hurry(): void {
    for (const go of this.#waiting) go();
  }

  /** A new process works until right before the first effect that fits, and dies there. */
  async workUntil(fits: (coming: ComingEffect) => boolean): Promise<void> {
    const { engine, die } = this.world.process();
    const selector = await this.session();
    await new Promise<void>((resolve, reject) => {
      this.disk.onlooker = (coming) => {
        if (!changesDisk(coming) || !fits(coming)) return undefined;
        die();
        this.disk.onlooker = undefined;
        resolve();
        return undefined;
      };
      const control = this.setting.control();
      resume(engine, { selector, acceptRollback: false, ...control }, this.world.observer()).then(
        ({ ending }) => reject(new Error(`it was over before: ${ending}`)),
        reject,
      );
    });
  }

  /** Somebody makes a session and goes away before anything is done. */
  async create(task = "Do it."): Promise<string> {
    const { workspace, model } = EngineWorld;
    const { policy, definition } = this.setting;
    this.tried.add(task);
    const agent = { agent: "builtin", policy, ...(definition && { definition }) };
    const session = await createSession(this.world.engine(), { workspace, model, ...agent, task });
    this.world.begun.push(session);
    return session;
  }

  /** Somebody leaves a message. */
  async send(text: string, key?: string): Promise<SendReport> {
    const session = await this.session();
    this.tried.add(text);
    const report = await send(this.world.engine(), {
      selector: session,
      text,
      ...(key !== undefined && { key }),
    });
    const { delivery } = report;
    if (!this.told.some((one) => one.is === "sent" && one.delivery === delivery))
      this.told.push({ is: "sent", session, delivery, text });
    return report;
  }

  /** Somebody allows or denies the operation that waits. */
  async approve(operation: string, decision: "allow" | "deny" = "allow", remember = false): Promise<void> {
    const session = await this.session();
    const { run } = await this.operation(operation);
    if (remember) this.lastingWords.add(decision);
    await approveOperation(this.world.engine(), {
      session,
      run,
      operation,
      decision,
      remember,
      by: "ada",
    });
    this.told.push({ is: "approved", operation, decision });
  }

  /** Somebody says how an operation that nobody can know of ended. */
  async resolve(operation: string, outcome: "ok" | "error" | "not_executed", output = "seen"): Promise<void> {
    const session = await this.session();
    const { run } = await this.operation(operation);
    const words = outcome === "not_executed" ? {} : { output };
    await resolveOperation(this.world.engine(), { session, run, operation, outcome, ...words, by: "ada" });
    this.told.push({ is: "resolved", operation, outcome });
  }

  /** Somebody cancels the run that is open, or gives it up. */
  async stop(verb: "cancel" | "abandon" = "cancel"): Promise<void> {
    const session = await this.session();
    const stopRun = verb === "cancel" ? cancelRun : abandonRun;
    const { run } = await stopRun(this.world.engine(), { session, by: "ada" });
    this.told.push({ is: "stopped", run, as: verb === "cancel" ? "canceled" : "failed" });
  }

  // What can be seen

  /** The one session; rejects where there is none. */
  async session(): Promise<string> {
    const [session] = await this.world.engine().store.ids();
    if (session === undefined) throw new Error("there is no session");
    return session;
  }

  async whole(): Promise<WholeSession> {
    return await readWhole(this.world.engine(), await this.session());
  }

  async operation(id: string): Promise<{ readonly run: string }> {
    const { state } = await this.whole();
    const found = state.operations.get(id);
    if (found === undefined) throw new Error(`there is no operation ${id}`);
    return found;
  }

  text(path: string): string | undefined {
    return this.world.text(path);
  }

  /** The content of a file of the workspace. */
  readonly textOf = (path: string): string | undefined => this.world.text(`/project/${path}`);
}
