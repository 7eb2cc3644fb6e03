import type { GivenPolicy } from "../../../src/model/policy.ts";
import type { Outcome } from "../../../src/model/values.ts";
import {
  approveOperation,
  abandonRun,
  cancelRun,
  resolveOperation,
  resume,
  runTask,
  send,
  type ResumeRequest,
  type SendReport,
  type WorkControl,
  type WorkReport,
} from "../../../src/engine/index.ts";
import { EngineWorld } from "../engine-world.ts";
import type { Fate, UnsyncedChange } from "../memory-disk.ts";
import { readWhole, type WholeSession } from "./whole-session.ts";
import type { Machine } from "./machine.ts";

/** What somebody outside was told, and must find true for ever. */
export type Told =
  | { readonly is: "sent"; readonly session: string; readonly delivery: string; readonly text: string }
  | { readonly is: "resolved"; readonly operation: string; readonly outcome: Outcome }
  | { readonly is: "approved"; readonly operation: string; readonly decision: "allow" | "deny" }
  | { readonly is: "stopped"; readonly run: string; readonly as: "canceled" | "failed" }
  /** A line that some reader got as one that stays. */
  | { readonly is: "seen"; readonly session: string; readonly seq: number; readonly sum: string };

/** What is the same for all machines of a scenario. */
export interface Setting {
  readonly policy: GivenPolicy;
  /** How people let processes work that they start. */
  readonly control: () => WorkControl;
}

/** A machine in memory on which the engine works, and the people around it, who remember what they were told. */
export class EngineMachine implements Machine<EngineMachine> {
  readonly world: EngineWorld;
  readonly setting: Setting;
  readonly told: Told[];
  /** Texts that somebody tried to leave: of these each may be in the queue, once. */
  readonly tried: Set<string>;
  mayRepair: boolean;

  constructor(world: EngineWorld, setting: Setting, from?: EngineMachine) {
    this.world = world;
    this.setting = setting;
    this.told = [...(from?.told ?? [])];
    this.tried = new Set(from?.tried);
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
    return JSON.stringify([sums, begun, this.told, [...this.tried], this.mayRepair]);
  }

  // What people do; each is a process of its own

  /** Somebody gives the task. */
  async run(task = "Do it.", control: WorkControl = {}): Promise<WorkReport> {
    const { workspace, model } = EngineWorld;
    const request = { workspace, model, agent: "builtin", policy: this.setting.policy, task };
    this.tried.add(task);
    return await runTask(
      this.world.engine(),
      { ...request, ...this.setting.control(), ...control },
      this.world.observer(),
      (session) => void this.world.begun.push(session),
    );
  }

  /** Somebody has the session go on. */
  async resume(request: Partial<ResumeRequest> = {}): Promise<WorkReport> {
    const selector = await this.session();
    if (request.task !== undefined) this.tried.add(request.task);
    const whole = { selector, acceptRollback: false, ...this.setting.control(), ...request };
    return await resume(this.world.engine(), whole, this.world.observer());
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
  async approve(operation: string, decision: "allow" | "deny" = "allow"): Promise<void> {
    const session = await this.session();
    const { run } = await this.operation(operation);
    await approveOperation(this.world.engine(), {
      session,
      run,
      operation,
      decision,
      remember: false,
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
}
