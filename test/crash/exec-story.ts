import { execTool } from "../../src/agents/builtin/exec/index.ts";
import type { EffectResult, OperationPlace, Proof, Tool, ToolRun } from "../../src/model/agent.ts";
import type { Evidence } from "../../src/model/facts.ts";
import { promised } from "./campaign/finding.ts";
import { EngineWorld } from "./engine-world.ts";
import type { MemoryProcess } from "./memory-processes.ts";
import { isFailing, mayDoubtCommands, type MishapKind } from "./mishaps.ts";
import type { Life, Story } from "./play-under.ts";
import { Witness } from "./witness.ts";

/**
 * One command from its start on record to its clean-up, without an engine: what the engine would have on record is known
 * outside of the machine. Small enough to be played under any two mishaps.
 */

/** What would be on record. */
export interface ExecState {
  /** True when the effect was begun: it is never begun again, but proven. */
  isBegun: boolean;
  /** What was found out: an outcome, or `unknown`. The first word is the last. */
  found: string | undefined;
  /** True when a supervisor had the end on record, and let go of what says that it lives. */
  isEnded: boolean;
}

const place: OperationPlace = {
  session: "ses_1",
  run: "run_1",
  operation: "op_1",
  workspace: EngineWorld.workspace,
  spool: "/state/ses_1/spool/op_1",
  trash: "/state/ses_1/trash",
  supervisor: "/state ses_1",
};

/** Makes the story of a command line, which may leave the word `one` with the witness. */
export async function execStory(
  command = `append one ${Witness.path}; sleep 300; say one`,
): Promise<Story<ExecState, MemoryProcess>> {
  const world = new EngineWorld({ commands: true });
  world.disk.plant(`${EngineWorld.workspace}/file`, "");
  world.disk.plant("/state/ses_1/log", "");
  world.witness.set();
  const prepared = await toolOf(workerOn(world)).prepare(runOf(command));
  if (!prepared.ready) throw new Error(prepared.result.output);
  world.disk.settle();
  const start = world.killed();
  world.end();
  return {
    start,
    newState: () => ({ isBegun: false, found: undefined, isEnded: false }),
    worker: workerOn,
    notes,
    live: (life) => {
      const tool = toolOf(life.worker);
      return live(life, { tool, run: runOf(command), evidence: prepared.evidence });
    },
    judge,
  };
}

function runOf(command: string): ToolRun {
  const { signal } = new AbortController();
  return { place, args: { command }, signal, graceMs: 2000, live: () => undefined };
}

function workerOn(world: EngineWorld): MemoryProcess {
  return world.start("process", "holdfast");
}

function toolOf({ host }: MemoryProcess): Tool {
  const supervisorProgram = { file: "/supervisor", args: [] };
  return execTool({ host, supervisorProgram, environment: {}, passEnv: [], secrets: [] });
}

interface Ready {
  readonly tool: Tool;
  readonly run: ToolRun;
  readonly evidence: Evidence;
}

/** As the engine does it: begin once, else prove; have the outcome on record; clean up. */
async function live(
  { world, worker, state }: Life<ExecState, MemoryProcess>,
  ready: Ready,
): Promise<boolean> {
  if (state.found === undefined) {
    const found = await find(state, ready);
    await judgeFinal(world, ready, found);
    // Whoever died meanwhile has nothing on record.
    if (worker.isDead) return false;
    state.found = found;
  }
  if (state.found !== "unknown") await ready.tool.cleanUp(place, ready.evidence, ready.run.args);
  return true;
}

async function find(state: ExecState, { tool, run, evidence }: Ready): Promise<string> {
  if (state.isBegun) return wordOf(await tool.prove(run, evidence));
  state.isBegun = true;
  let result: EffectResult;
  try {
    result = await tool.perform(run, evidence);
  } catch {
    return wordOf(await tool.prove(run, evidence));
  }
  return result.outcome;
}

function wordOf(proof: Proof): string {
  return proof.proven === "known" ? proof.result.outcome : proof.proven;
}

/** What never happened never will, also after a power cut that takes all it can; and what happened is not undone. */
async function judgeFinal(world: EngineWorld, { run, evidence }: Ready, found: string): Promise<void> {
  if (found === "unknown") return;
  const crashed = world.crashed();
  const again = wordOf(await crashed.within(toolOf(workerOn(crashed)).prove(run, evidence)));
  crashed.end();
  // Its end may have been read before it was durable: on record it is so by then.
  const isLess = again === "unknown" && found !== "not_executed";
  // An error may be that it could not be started.
  const isNothing = again === "not_executed" && found === "error" && world.executions.length === 0;
  const isKept = again === found || isLess || isNothing;
  promised(isKept, "lost", () => `it was ${found}, and after a power cut it is ${again}`);
}

function notes({ disk: { effects } }: EngineWorld, state: ExecState): void {
  if (state.found !== undefined) return;
  const spawn = effects.find(({ verb }) => verb === "spawn");
  const alive = `${place.spool}/alive`;
  state.isEnded ||= effects.some(({ index, process, verb, path }) => {
    return process === spawn?.process && index > spawn.index && verb === "unlock" && path === alive;
  });
}

async function judge(world: EngineWorld, state: ExecState, happened: ReadonlySet<MishapKind>): Promise<void> {
  const { found } = state;
  await world.quiet();
  const count = world.executions.length;
  const { failures = [] } = world.table ?? {};
  promised(
    failures.length === 0 || isFailing(happened),
    "untyped",
    () => `a program failed: ${String(failures[0])}`,
  );
  promised(count <= 1 && world.witness.count("one") <= 1, "repeated", () => `executed ${count} times`);
  const mayErr = happened.has("command") || isFailing(happened);
  switch (found) {
    case "ok":
      promised(count === 1 && world.witness.count("one") === 1, "false success", () => "never executed");
      break;
    case "not_executed":
      promised(count === 0, "false success", () => "called not executed, and it was");
      break;
    case "unknown":
      promised(mayDoubtCommands(happened) && !state.isEnded, "wrong doubt", () => "called unknown");
      break;
    default:
      promised(found === "error" && mayErr, "other", () => `ended ${found ?? "never"}`);
  }
}
