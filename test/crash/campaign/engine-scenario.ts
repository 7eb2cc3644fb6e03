import { repairSession, type WorkReport } from "../../../src/engine/index.ts";
import { isHoldfastError } from "../../../src/model/errors.ts";
import { isOver } from "../../../src/model/run.ts";
import type { OperationState } from "../../../src/model/operation.ts";
import type { AgentDefinition } from "../../../src/model/facts.ts";
import type { GivenPolicy } from "../../../src/model/policy.ts";
import type { WorkControl } from "../../../src/engine/index.ts";
import { EngineWorld } from "../engine-world.ts";
import { MemoryClock } from "../memory-host.ts";
import { effectOf, timesOf } from "./effects.ts";
import { judgeSession } from "./engine-judge.ts";
import { EngineMachine, type Moment } from "./engine-machine.ts";
import { Finding, promised } from "./finding.ts";
import type { MachineScenario } from "./machine.ts";
import type { WholeSession } from "./whole-session.ts";

/** A scenario of the engine: what the model says, what stands in the workspace, and what people do. */
export interface EngineScenario {
  readonly name: string;
  /** True where it has many hundred effects: a small campaign then tries only a few of them. */
  readonly isLong?: boolean;
  /** What the model answers, turn by turn; what is asked of it after that it answers with few words. */
  readonly turns: readonly unknown[];
  /** The workspace before. */
  readonly files?: Readonly<Record<string, string>>;
  readonly policy?: GivenPolicy;
  readonly definition?: AgentDefinition;
  /** How people let the processes work that they start. */
  readonly control?: () => WorkControl;
  /** What people do when they notice something of a process that works, whichever that is. */
  readonly meanwhile?: (moment: Moment) => Promise<unknown> | undefined;
  /** True where a user changes the files, so that they do not witness what was done any more. */
  readonly touched?: true;
  /** What happened before, and is not crashed. */
  readonly prepare?: (machine: EngineMachine) => Promise<unknown>;
  /** What is crashed; giving the task where absent. */
  readonly act?: (machine: EngineMachine) => Promise<unknown>;
  /** What a person does besides resuming, before each resume; nothing where absent. Also that may be crashed. */
  readonly attend?: (machine: EngineMachine, whole: WholeSession) => Promise<void>;
  /** What must be so at the end besides what must always be. Throws a Finding. */
  readonly judge?: (machine: EngineMachine, whole: WholeSession) => void | Promise<void>;
}

/** How often somebody goes on before it counts as stuck. */
const roundsMax = 12;

/** Turns that are left for what is asked after the scenario. */
const spareTurns = Array.from({ length: 6 }, (_, index) => ({ text: `More ${index}.` }));

/** The same with what always follows: the session is resumed until nothing is left, written on, and compared. */
export function engineScenario(scenario: EngineScenario): MachineScenario<EngineMachine> {
  const { name, prepare, act = (machine) => machine.run() } = scenario;
  return {
    name,
    set: async () => {
      const world = newWorld(scenario);
      const machine = new EngineMachine(world, {
        policy: scenario.policy ?? {},
        control: scenario.control ?? (() => ({})),
        ...(scenario.definition && { definition: scenario.definition }),
        ...(scenario.meanwhile && { meanwhile: scenario.meanwhile }),
      });
      await prepare?.(machine);
      machine.disk.settle();
      return machine;
    },
    act: async (machine) => void (await act(machine)),
    reopen: (machine) => finish(machine, scenario),
    goOn: async (machine) => {
      await finish(machine, scenario);
      await writeOn(machine, scenario);
    },
    look: async (machine) => {
      const sessions = await machine.world.engine().store.ids();
      if (sessions.length > 0) await judgeSession(machine, scenario.touched);
      else promised(machine.world.begun.length === 0, "lost", () => `${machine.world.begun.join()} is gone`);
    },
    judge: async (machine) => {
      const whole = await judgeSession(machine, scenario.touched);
      await scenario.judge?.(machine, whole);
    },
  };
}

function newWorld({ turns, files = {} }: EngineScenario): EngineWorld {
  const world = new EngineWorld({ clock: new MemoryClock({ passesMsMax: 5000 }) });
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns: [...turns, ...spareTurns] }));
  world.disk.plant("/project/readme.txt", "read me\n");
  for (const [path, text] of Object.entries(files)) world.disk.plant(`/project/${path}`, text);
  world.disk.settle();
  return world;
}

/** Goes on as a person would, until nothing is left to do. */
async function finish(machine: EngineMachine, scenario: EngineScenario): Promise<void> {
  let last = "";
  for (let round = 0; round < roundsMax; round++) {
    const sessions = await machine.world.engine().store.ids();
    if (sessions.length === 0) {
      promised(machine.world.begun.length === 0, "lost", () => `${machine.world.begun.join()} is gone`);
      last = (await unlessLeft(scenario, machine.run()))?.ending ?? "left";
      continue;
    }
    const report = await goOnOnce(machine, scenario);
    if (report?.ending === "idle") return;
    last = report?.ending ?? "repaired";
  }
  throw new Finding("stuck", `after ${roundsMax} rounds it is still ${last}`);
}

async function goOnOnce(machine: EngineMachine, scenario: EngineScenario): Promise<WorkReport | undefined> {
  try {
    await scenario.attend?.(machine, await machine.whole());
    const report = await unlessLeft(scenario, machine.resume());
    if (report?.ending === "input_required") await sayWhatIsSo(machine);
    return report;
  } catch (error) {
    if (!machine.mayRepair || !isHoldfastError(error, "durability_unknown")) throw error;
    await repairSession(machine.world.engine(), await machine.session());
    return undefined;
  }
}

/** The report; undefined where those who notice things had the process leave, which they do once. */
async function unlessLeft(
  { meanwhile }: EngineScenario,
  work: Promise<WorkReport>,
): Promise<WorkReport | undefined> {
  try {
    return await work;
  } catch (error) {
    if (meanwhile === undefined || !isHoldfastError(error, "interrupted")) throw error;
    return undefined;
  }
}

/** A person looks at the world, and says of each operation that nobody can know of what is so. */
async function sayWhatIsSo(machine: EngineMachine): Promise<void> {
  const { state } = await machine.whole();
  for (const operation of state.operations.values()) {
    if (operation.at === "unknown")
      await machine.resolve(operation.operation, truth(machine, state, operation));
  }
}

function truth(
  machine: EngineMachine,
  state: WholeSession["state"],
  operation: OperationState,
): "ok" | "not_executed" {
  return (timesOf(machine.textOf, effectOf(state, operation)) ?? 0) > 0 ? "ok" : "not_executed";
}

/** Leaves one more message, and has it done. */
async function writeOn(machine: EngineMachine, scenario: EngineScenario): Promise<void> {
  await machine.send(`And on ${machine.told.length}.`);
  await finish(machine, scenario);
  const { state, queue } = await machine.whole();
  const waiting = [...queue.deliveries.values()].filter(
    ({ at }) => at !== "acknowledged" && at !== "removed",
  );
  promised(waiting.length === 0, "stuck", () => `${waiting.length} deliveries still wait`);
  promised(state.released, "stuck", () => "nobody holds the session and it is not released");
  const open = [...state.runs.values()].filter((run) => !isOver(run));
  promised(open.length === 0, "stuck", () => `${open.length} runs are still open`);
}
