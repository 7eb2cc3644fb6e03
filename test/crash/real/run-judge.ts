import { join } from "node:path";
import type { EngineContext } from "../../../src/engine/index.ts";
import { isHoldfastError } from "../../../src/model/errors.ts";
import type { SessionState } from "../../../src/model/fold.ts";
import type { OperationState } from "../../../src/model/operation.ts";
import { effectOf, timesOf, type AskedEffect } from "../campaign/effects.ts";
import { Finding, promised } from "../campaign/finding.ts";
import { callsOf, judgeAnswers, judgeTold, judgeTries } from "../campaign/record-judge.ts";
import { readSession, type WholeSession } from "../campaign/whole-session.ts";
import type { RunHome } from "./run-home.ts";

/** Reads log and queue. Rejects with a finding where anything of them is not as it must be. */
export async function readRun(engine: EngineContext, session: string): Promise<WholeSession> {
  try {
    return await readSession(engine, session);
  } catch (error) {
    const code = isHoldfastError(error) ? `${error.code}: ` : "";
    throw new Finding("lost", `the session cannot be read: ${code}${String(error)}`, error);
  }
}

/** What always holds: what was told is there, nothing was done twice, the world is as the record says. */
export async function judgeRun(home: RunHome): Promise<WholeSession> {
  const run = await readRun(await home.engine(), home.session);
  for (const session of home.begun)
    promised(home.sessions().includes(session), "lost", () => `${session} is gone`);
  judgeTold(home.told, run.commits);
  judgeAnswers(run.commits);
  for (const tries of callsOf(run.state)) judgeCall(home, run.state, tries);
  return run;
}

function judgeCall(home: RunHome, state: SessionState, tries: readonly OperationState[]): void {
  judgeTries(tries);
  const last = tries.at(-1);
  if (last === undefined) return;
  const name = `${last.tool} ${last.operation}`;
  const times = timesOfCall(home, effectOf(state, last));
  if (times === undefined) return;
  promised(times <= 1, "repeated", () => `${name} happened ${times} times`);
  if (!("result" in last)) return;
  const { outcome } = last.result;
  if (outcome === "ok") promised(times === 1, "false success", () => `${name} is ok and did not happen`);
  if (outcome === "not_executed")
    promised(times === 0, "lost", () => `${name} is not_executed and did happen`);
}

/** How often the world shows it, commands included; undefined for what leaves no trace. */
export function timesOfCall(home: RunHome, effect: AskedEffect): number | undefined {
  if (effect.tool !== "exec") return timesOf((path) => home.text(home.workspace, path), effect);
  const word = /echo (\w+) >>/.exec(String(effect.args?.["command"]))?.[1];
  return word === undefined ? undefined : home.times(word);
}

/** What is open between asked and known may be called unknown only where nothing on disk proves it. */
export function judgeDoubt(home: RunHome, state: SessionState, operation: OperationState): void {
  const name = `${operation.tool} ${operation.operation}`;
  if (operation.tool === "exec") {
    const spool = home.inSession("spool", operation.operation);
    const claim = home.text(join(spool, "claim")) ?? "";
    promised(
      claim.includes('"kind":"start"'),
      "wrong doubt",
      () => `${name} is unknown and nobody claimed it`,
    );
    const status = (home.text(join(spool, "status")) ?? "").trim();
    promised(status === "", "wrong doubt", () => `${name} is unknown and its end is on record: ${status}`);
    return;
  }
  // The one change of a file that leaves nothing to prove it by: a new file between its two names.
  const isBetween = operation.tool === "write" && timesOfCall(home, effectOf(state, operation)) === 0;
  promised(isBetween, "wrong doubt", () => `${name} is called unknown`);
}
