import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { runSupervisor } from "../../src/agents/builtin/exec/index.ts";
import { nodeHost } from "../../src/host/index.ts";
import { dieBefore, failAt, watchedHost, type Before } from "./watched-host.ts";

/** A supervisor with limits of a test's choice, that dies or waits where the test wants it to. */
export interface SupervisorPeerOptions {
  lingerMs?: number;
  graceMs?: number;
  drainMs?: number;
  outputBytesMax?: number;
  /** Dies before its n-th effect, after it noted that by making `file`; where that exists it lives on. */
  die?: { at: number; file: string };
  /** Has its n-th effect fail, noting that by making `file`; with `isLasting` all later ones too. */
  fail?: { at: number; code: string; file: string; isLasting: boolean };
  /**
   * Waits before the `nth` (from 1) of these effects until the file is there, and says so by making `<file>.waiting`.
   * Where that exists, another supervisor waits or waited, and this one does not.
   */
  hold?: Hold;
}

interface Hold {
  effect: string;
  nth: number;
  file: string;
}

function holdBefore({ effect, nth, file }: Hold): Before {
  let seen = 0;
  return async (name) => {
    if (name === effect) seen++;
    if (name !== effect || seen !== nth || existsSync(`${file}.waiting`)) return;
    writeFileSync(`${file}.waiting`, "");
    while (!existsSync(file)) await sleep(5);
  };
}

const { values } = parseArgs({
  options: {
    options: { type: "string" },
    session: { type: "string" },
    socket: { type: "string" },
    nonce: { type: "string" },
  },
});
const { session = "", socket = "", nonce = "" } = values;
const options = JSON.parse(values.options ?? "{}") as SupervisorPeerOptions;
const { die, hold, fail, ...limits } = options;

function befores(): Before {
  if (hold !== undefined) return holdBefore(hold);
  if (fail !== undefined) return failAt(fail.at, fail.code, fail.file, fail.isLasting);
  return die === undefined || existsSync(die.file) ? () => undefined : dieBefore(die.at, die.file);
}

const host = watchedHost(nodeHost(), befores());
const ending = new AbortController();
process.on("SIGTERM", () => ending.abort());
await runSupervisor(
  host,
  { lingerMs: 300, graceMs: 300, drainMs: 300, ...limits, session, socket, nonce },
  ending.signal,
);
