import { join } from "node:path";
import type { EngineContext } from "../../engine/index.ts";
import { findRun, readSession } from "../../engine/index.ts";
import type { Disk } from "../../host/index.ts";
import type { Commit } from "../../model/commit.ts";
import { isFact } from "../../model/commit.ts";
import type { Json } from "../../model/values.ts";
import { isRecord } from "../../model/values.ts";
import type { RunView } from "../../model/views.ts";
import type { Attempt } from "./attempt.ts";
import type { Stage } from "./stage.ts";
import { readText, readWitness } from "./stage.ts";
import { deeds, filesAfter, kills } from "./story.ts";

/** What is on disk when all is over: the log, the witness, the workspace. Nothing that a worker said counts here. */
export interface Evidence {
  readonly run: RunView;
  readonly commits: readonly Commit[];
  readonly operations: readonly ProvenOperation[];
  readonly witness: readonly { readonly deed: string; readonly operation: string }[];
  readonly checks: readonly Check[];
}

/** One operation and how its end came to be known. */
export interface ProvenOperation {
  readonly id: string;
  readonly tool: string;
  /** Its command or path. */
  readonly subject: string;
  readonly outcome: string;
  /** True where it changes something. */
  readonly hasEffect: boolean;
  /** Workers that died between its start and its known end. */
  readonly deaths: number;
  /** Where there were any: how recovery found out what had happened, as it recorded it. */
  readonly proof: string | undefined;
}

/** One claim of the demo, held against the evidence. */
export interface Check {
  readonly claim: string;
  readonly holds: boolean;
  /** What was found instead. */
  readonly found: string;
}

/** The lines of a session as they are on disk, each of them verified; `damage` says where that ends. */
export async function readLog(
  context: EngineContext,
  session: string,
): Promise<{ commits: Commit[]; damage: string | undefined; run: RunView }> {
  const commits: Commit[] = [];
  const read = await readSession(context, session, (commit) => commits.push(commit));
  const damage = read.damage === undefined ? undefined : `line ${read.damage.line}: ${read.damage.reason}`;
  return { commits, damage, run: findRun(read, undefined) };
}

/** Reads everything again and holds the claims against it. */
export async function gatherEvidence(
  place: { readonly context: EngineContext; readonly disk: Disk; readonly stage: Stage },
  session: string,
  attempts: readonly Attempt[],
): Promise<Evidence> {
  const { commits, damage, run } = await readLog(place.context, session);
  const witness = await readWitness(place.disk, place.stage);
  const operations = proveOperations(commits, run);
  const wrongFiles = await filesThatDiffer(place.disk, place.stage);
  const checks = [
    checkKills(attempts, operations),
    checkRun(run),
    checkOutcomes(run),
    checkProofs(operations),
    checkWitness(operations, witness),
    {
      claim: "the files are what the task asked for, no change made twice",
      holds: wrongFiles.length === 0,
      found: `not so: ${wrongFiles.join(", ")}`,
    },
    {
      claim: `the log verifies: ${commits.length} lines, each chained to the one before, 0 damaged`,
      holds: damage === undefined,
      found: damage ?? "",
    },
  ];
  return { run, commits, operations, witness, checks };
}

/** Effects that took place. */
export function effectsOf(operations: readonly ProvenOperation[]): readonly ProvenOperation[] {
  return operations.filter(({ hasEffect, outcome }) => hasEffect && outcome === "ok");
}

function checkKills(attempts: readonly Attempt[], operations: readonly ProvenOperation[]): Check {
  const killed = attempts.filter((attempt) => attempt.killed).length;
  const interrupted = operations.filter(({ deaths }) => deaths > 0).length;
  return {
    claim: `the worker was killed ${killed} times, ${interrupted} operations lost theirs on the way`,
    holds: killed > 0 && interrupted > 0,
    found: `of ${kills.length} planned kills ${killed} hit`,
  };
}

function checkRun({ status, attempts, error }: RunView): Check {
  const found = error === undefined ? `it is ${status}` : `it is ${status}: ${error}`;
  return { claim: `the run is completed, in ${attempts} attempts`, holds: status === "completed", found };
}

function checkOutcomes({ operations }: RunView): Check {
  const open = operations.filter(({ state, outcome }) => state !== "settled" || outcome === "error");
  return {
    claim: "every operation has one known outcome; none is unknown",
    holds: operations.length > 0 && open.length === 0,
    found: open.map(({ id, tool, state, outcome }) => `${tool} ${id} is ${outcome ?? state}`).join(", "),
  };
}

/** What was found out after a death must say what proves it; a guess would be told as loudly. */
function checkProofs(operations: readonly ProvenOperation[]): Check {
  const found = operations.filter(({ hasEffect, deaths }) => hasEffect && deaths > 0);
  const unproven = found.filter(({ proof }) => proof === undefined);
  return {
    claim: `the log names the proof of each of ${found.length} ends that were found after a death`,
    holds: unproven.length === 0,
    found: unproven.map(({ id, tool }) => `${tool} ${id} has none`).join(", "),
  };
}

/** The witness knows nothing of the log: it counts what really ran. */
function checkWitness(operations: readonly ProvenOperation[], witness: Evidence["witness"]): Check {
  const ran = effectsOf(operations).filter(({ tool }) => tool === "exec");
  const isOnce = witness.every(({ operation }) => ran.filter(({ id }) => id === operation).length === 1);
  const told = witness.map(({ deed }) => deed).join(", ");
  return {
    claim: `the witness has one line for each of ${ran.length} commands, and no other`,
    holds: isOnce && witness.length === ran.length && told === deeds.join(", "),
    found: `it tells ${told === "" ? "nothing" : told}`,
  };
}

async function filesThatDiffer(disk: Disk, stage: Stage): Promise<string[]> {
  const differing: string[] = [];
  for (const [path, content] of Object.entries(filesAfter)) {
    if ((await readText(disk, join(stage.workspace, path))) !== content) differing.push(path);
  }
  return differing;
}

/** The epoch of the line in which an operation started and ended, and what is recorded of its end. */
interface Trace {
  startedEpoch?: number;
  knownEpoch?: number;
  /** When the attempt that found out what happened began. */
  resumedAt?: number;
  endedAt?: number;
  details?: Json;
  replacedBy?: string;
}

/** The operations of a run with how each end came to be known, from the log alone; a replacement behind what it replaces. */
export function proveOperations(commits: readonly Commit[], run: RunView): ProvenOperation[] {
  const traces = traceOperations(commits);
  const replacements = new Set([...traces.values()].map(({ replacedBy }) => replacedBy));
  const proven = new Map(
    run.operations.map(({ id, tool, args, effect, state, outcome }): [string, ProvenOperation] => {
      const trace = traces.get(id) ?? {};
      const { startedEpoch = 0, knownEpoch = startedEpoch } = trace;
      const deaths = knownEpoch - startedEpoch;
      const proof = deaths > 0 ? proofOf(outcome, trace) : undefined;
      const [subject, hasEffect] = [subjectOf(args), effect !== "pure"];
      return [id, { id, tool, subject, outcome: outcome ?? state, hasEffect, deaths, proof }];
    }),
  );
  // What was done in an operation's place stands right behind it.
  const withReplacement = (id: string | undefined): ProvenOperation[] => {
    const operation = id === undefined ? undefined : proven.get(id);
    return operation === undefined
      ? []
      : [operation, ...withReplacement(traces.get(operation.id)?.replacedBy)];
  };
  return [...proven.keys()].filter((id) => !replacements.has(id)).flatMap(withReplacement);
}

function traceOperations(commits: readonly Commit[]): Map<string, Trace> {
  const traces = new Map<string, Trace>();
  const of = (operation: string): Trace => {
    const trace = traces.get(operation) ?? {};
    traces.set(operation, trace);
    return trace;
  };
  let raisedAt = 0;
  for (const { facts, epoch, at } of commits) {
    for (const fact of facts) {
      if (isFact(fact, "epoch.raised")) raisedAt = at;
      else if (isFact(fact, "op.started")) of(fact.operation).startedEpoch = epoch;
      else if (isFact(fact, "op.asked") && fact.replaces !== undefined) {
        of(fact.replaces).replacedBy = fact.operation;
      } else if (isFact(fact, "op.known")) {
        Object.assign(of(fact.operation), { knownEpoch: epoch, resumedAt: raisedAt, endedAt: fact.endedAt });
        of(fact.operation).details = fact.details ?? null;
      }
    }
  }
  return traces;
}

/** What a proof that is recorded says, in words. */
const proofs: Readonly<Record<string, string>> = {
  status: "its supervisor recorded its end",
  void: "its start was never claimed, and is void now",
  staged_file_present: "its file still lay staged",
  identity: "the file is the one that was staged",
  content: "the file holds what was to be written",
  target_present: "the file is still there",
  target_absent: "the file is not there",
  trash: "what it removed is in the trash",
};

/** How it was proven, as the end's own details say; undefined where they say nothing. */
function proofOf(outcome: string | undefined, trace: Trace): string | undefined {
  const name = proofIn(trace.details);
  if (name === undefined) return undefined;
  const words = proofs[name] ?? name;
  if (outcome === "not_executed") {
    const again = trace.replacedBy === undefined ? "" : `; ${shortId(trace.replacedBy)} did it`;
    return `NOT EXECUTED: ${words}${again}`;
  }
  if (name !== "status") return `EXECUTED: ${words}`;
  const { endedAt = 0, resumedAt = 0 } = trace;
  return `ADOPTED: ${endedAt < resumedAt ? "it had ended meanwhile" : "it still ran"}; ${words}`;
}

/** What the agent recorded: the status of a command, the kind of the claim on it, or what was found of a file. */
function proofIn(details: Json | undefined): string | undefined {
  if (!isRecord(details)) return undefined;
  const { proof, claim, proven_by: by } = details;
  return [proof, isRecord(claim) ? claim["kind"] : undefined, by].find((name) => typeof name === "string");
}

/** The end of an id, which tells ids of one moment apart. */
export function shortId(id: string): string {
  return `…${id.slice(-6)}`;
}

function subjectOf(args: Json): string {
  if (!isRecord(args)) return "";
  const subject = args["command"] ?? args["path"] ?? args["pattern"];
  return typeof subject === "string" ? subject : "";
}
