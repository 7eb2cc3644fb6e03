import { existsSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { execTool } from "../../src/agents/builtin/exec/index.ts";
import { nodeHost } from "../../src/host/index.ts";
import type { OperationPlace, ToolRun } from "../../src/model/agent.ts";
import type { Evidence } from "../../src/model/facts.ts";
import type { Json } from "../../src/model/values.ts";
import { dieBefore, watchedHost } from "./watched-host.ts";

/** A worker that performs one command, or proves it where its start is on record. Its answer is JSON on stdout. */
export interface WorkerPeerOptions {
  place: OperationPlace;
  args: Json;
  runtime: string;
  supervisorArgs: string[];
  /** Holds the evidence: the operation's start on record. Made by this worker where it is absent. */
  record: string;
  /** Dies before its n-th effect after the start is on record, noting that by making `file`. */
  die?: { at: number; file: string };
}

const options = JSON.parse(process.argv[2] ?? "{}") as WorkerPeerOptions;
const plain = nodeHost({ environment: { XDG_RUNTIME_DIR: options.runtime } });
const { die } = options;
const common = {
  supervisorProgram: { file: process.execPath, args: options.supervisorArgs },
  environment: { PATH: process.env["PATH"] },
  passEnv: [],
  secrets: [],
};
const run: ToolRun = {
  place: options.place,
  args: options.args,
  signal: new AbortController().signal,
  graceMs: 2000,
  live: () => undefined,
};

async function startOnRecord(): Promise<Evidence> {
  const prepared = await execTool({ host: plain, ...common }).prepare(run);
  if (!prepared.ready) throw new Error(prepared.result.output);
  const descriptor = openSync(options.record, "w");
  writeFileSync(descriptor, JSON.stringify(prepared.evidence));
  fsyncSync(descriptor);
  return prepared.evidence;
}

const isRecovery = existsSync(options.record);
const evidence = isRecovery
  ? (JSON.parse(readFileSync(options.record, "utf8")) as Evidence)
  : await startOnRecord();
const host = die === undefined ? plain : watchedHost(plain, dieBefore(die.at, die.file));
const tool = execTool({ host, ...common });
const answer = isRecovery ? await tool.prove(run, evidence) : await tool.perform(run, evidence);
process.stdout.write(JSON.stringify(answer));
