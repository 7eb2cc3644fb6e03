import { messageBytesMax } from "../../../host/index.ts";
import type { EffectResult, Prepared, Proof, Tool, ToolRun } from "../../../model/agent.ts";
import { HoldfastError } from "../../../model/errors.ts";
import type { Evidence } from "../../../model/facts.ts";
import type { Outcome } from "../../../model/values.ts";
import { defaultTimeoutMs, execParameters, parseArguments, resolveDirectory } from "./arguments.ts";
import {
  reachSupervisor,
  supervisorAddress,
  type Answer,
  type SupervisorConnection,
  type SupervisorProgram,
  type WorkerHost,
} from "./connection.ts";
import { filterEnvironment, operationEnvironment } from "./environment.ts";
import { connectClaimant, followToEnd, type Following } from "./follow.ts";
import type { Start } from "./messages.ts";
import { proveCommand } from "./proof.ts";
import { resultOf } from "./result.ts";
import { makeSpool, removeSpool } from "./spool.ts";

/** What the `exec` tool is made of. */
export interface ExecToolOptions {
  readonly host: WorkerHost;
  readonly supervisorProgram: SupervisorProgram;
  /** Our environment; commands see the part of it that holds no secret. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Exact names that are passed nevertheless. */
  readonly passEnv: readonly string[];
  /** Known secret values, masked in all output. */
  readonly secrets: readonly string[];
}

type SupervisedEvidence = Extract<Evidence, { class: "supervised" }>;

/** How often a start is asked for again whose answer was lost. */
const startTries = 3;
/** A request may still grow a little before it is sent: its time limit depends on when that is. */
const spareBytes = 1024;

/** Makes the `exec` tool: shell commands that outlive the worker and are never run twice. */
export function execTool(options: ExecToolOptions): Tool {
  return {
    name: "exec",
    description:
      "Runs a shell command in the workspace with /bin/sh -c, without input and without a terminal. Returns what it " +
      "wrote, stdout and stderr in order; of a long output the beginning and the end. A command that should go on in " +
      "the background must redirect its output.",
    parameters: execParameters,
    effect: "supervised",
    capability: "exec",
    prepare: (run) => prepare(options, run),
    perform: (run, evidence) => perform(options, run, supervised(evidence)),
    prove: (run, evidence) => prove(options, run, supervised(evidence)),
    cleanUp: (place) => removeSpool(options.host.disk, place.spool),
  };
}

function supervised(evidence: Evidence): SupervisedEvidence {
  if (evidence.class === "supervised") return evidence;
  throw new HoldfastError("internal", `exec was given evidence of the class ${evidence.class}.`);
}

async function prepare({ host, ...options }: ExecToolOptions, run: ToolRun): Promise<Prepared> {
  const args = parseArguments(run.args);
  if (typeof args === "string") return refused(args);
  const directory = await resolveDirectory(host.disk, run.place.workspace, args.cwd ?? ".");
  if (typeof directory === "string") return refused(directory);
  const evidence: SupervisedEvidence = {
    class: "supervised",
    cwd: directory.path,
    timeoutMs: args.timeoutMs ?? defaultTimeoutMs,
    nonce: Buffer.from(host.ids.random(16)).toString("hex"),
  };
  const request = requestFor({ host, ...options }, run, evidence);
  if (Buffer.byteLength(JSON.stringify(request)) > messageBytesMax - spareBytes) {
    return refused("The command and its environment are too long to be started.");
  }
  await makeSpool(host.disk, run.place.spool);
  return { ready: true, evidence };
}

function refused(output: string): Prepared {
  return { ready: false, result: { outcome: "error", output } };
}

function requestFor(options: ExecToolOptions, run: ToolRun, evidence: SupervisedEvidence): Start {
  const { host, environment, passEnv, secrets } = options;
  const args = parseArguments(run.args);
  if (typeof args === "string") throw new HoldfastError("internal", `exec was started unchecked. ${args}`);
  const leftMs = run.deadlineAt === undefined ? Infinity : Math.max(1, run.deadlineAt - host.clock.now());
  const timeoutMs = Math.min(evidence.timeoutMs ?? Infinity, leftMs);
  return {
    type: "start",
    operation: run.place.operation,
    nonce: evidence.nonce,
    spool: run.place.spool,
    command: args.command,
    cwd: evidence.cwd,
    env: { ...filterEnvironment({ environment, passEnv, secrets }), ...operationEnvironment(run.place) },
    secrets: [...secrets],
    ...(Number.isFinite(timeoutMs) ? { timeoutMs } : {}),
  };
}

async function perform(
  options: ExecToolOptions,
  run: ToolRun,
  evidence: SupervisedEvidence,
): Promise<EffectResult> {
  const { host } = options;
  const following: Following = { host, run, nonce: evidence.nonce };
  if (run.signal.aborted) return notStarted("it was canceled before", "canceled");
  const directory = await resolveDirectory(host.disk, run.place.workspace, evidence.cwd);
  if (typeof directory === "string" || directory.path !== evidence.cwd) {
    return notStarted(`the directory ${evidence.cwd} has changed`);
  }
  const started = await start(options, run, evidence);
  if ("outcome" in started) return started;
  const connection = started.connection ?? (await connectClaimant(following));
  try {
    const ending = await followToEnd({ ...following, connection });
    if (ending.state === "lost") throw unprovable(run, ending.reason);
    return await resultOf(host.disk, run.place.spool, ending.status);
  } finally {
    connection?.close();
  }
}

/**
 * Has the command started. The claim makes it safe to ask again where an answer was lost, also another supervisor. Only
 * of the first request can a refusal mean that nothing was started: a lost one may still be under way.
 */
async function start(
  options: ExecToolOptions,
  run: ToolRun,
  evidence: SupervisedEvidence,
): Promise<{ connection?: SupervisorConnection } | EffectResult> {
  const { host, supervisorProgram } = options;
  const address = await supervisorAddress(host, run.place);
  for (let tries = 1; tries <= startTries; tries++) {
    let connection: SupervisorConnection;
    try {
      connection = await reachSupervisor(host, address, supervisorProgram, run.signal);
    } catch (error) {
      if (tries > 1) throw error;
      const outcome = run.signal.aborted ? "canceled" : "not_executed";
      return notStarted(error instanceof Error ? error.message : String(error), outcome);
    }
    const answer = await request(connection, run, requestFor(options, run, evidence));
    if (answer?.type === "accepted") return { connection };
    connection.close();
    if (answer?.reason === "claimed_elsewhere") return {};
    if (answer?.reason === "spool") {
      if (tries > 1) throw unprovable(run, answer.message);
      return notStarted(answer.message);
    }
  }
  throw unprovable(run, "The supervisor's answer was lost.");
}

/** A cancel that comes meanwhile follows the request through the same connection. */
async function request(connection: SupervisorConnection, run: ToolRun, message: Start): Promise<Answer> {
  const cancel = (): void => void connection.cancel(run.place.operation, run.graceMs);
  run.signal.addEventListener("abort", cancel);
  try {
    const answer = connection.request(message);
    if (run.signal.aborted) cancel();
    return await answer;
  } finally {
    run.signal.removeEventListener("abort", cancel);
  }
}

function notStarted(why: string, outcome: Outcome = "not_executed"): EffectResult {
  return { outcome, output: `[not started: ${why}]` };
}

function unprovable(run: ToolRun, why: string): HoldfastError {
  return new HoldfastError("agent_failed", `What became of ${run.place.operation} is to be proven. ${why}`);
}

function prove({ host }: ExecToolOptions, run: ToolRun, evidence: SupervisedEvidence): Promise<Proof> {
  return proveCommand({ host, run, nonce: evidence.nonce });
}
