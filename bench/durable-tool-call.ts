import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HeldSession } from "../src/store/index.ts";
import { makeId } from "../src/model/ids.ts";
import type { Fact } from "../src/model/facts.ts";
import type { Bench, BenchResult } from "./bench.ts";
import { compareInRounds } from "./bench.ts";
import { compileC } from "./compile.ts";
import type { BenchPlace } from "./session.ts";
import { makePlace } from "./session.ts";

/**
 * What durability adds to a tool call: the three lines started, known and settled through the real store, beside the
 * very same bytes written and synced by a program in C.
 */

const rounds = 21;
const callsInRound = 60;
const linesOfCall = 3;

/** The lines of one call of `exec` with half a kilobyte of output. */
function linesOf(place: BenchPlace): Fact[][] {
  const { clock, ids } = place.context.host;
  const id = (prefix: "op" | "msg" | "run") => makeId(prefix, clock.now(), ids.random(10));
  const operation = id("op");
  const output = "ok 1 - makes a slug of a title\n".repeat(16);
  const part = { type: "tool_result", operation, outcome: "ok", output } as const;
  return [
    [
      {
        kind: "op.started",
        operation,
        tool: "exec",
        args: { command: "node --test test/slug.test.mjs" },
        effect: "supervised",
        evidence: { class: "supervised", cwd: place.folder, timeoutMs: 60_000, nonce: "0".repeat(32) },
      },
    ],
    [{ kind: "op.known", operation, outcome: "ok", output, durationMs: 812.5, details: { exitCode: 0 } }],
    [
      { kind: "message", id: id("msg"), role: "tool", parts: [part], run: id("run"), turn: 1 },
      { kind: "op.settled", operation },
    ],
  ];
}

async function hold(place: BenchPlace, session: string): Promise<HeldSession> {
  const { store } = place.context;
  return await store.hold(session, {
    version: "bench",
    acceptRollback: false,
    visit: () => undefined,
    visitQueue: () => undefined,
  });
}

async function measureCalls(held: HeldSession, place: BenchPlace): Promise<number> {
  const calls = Array.from({ length: callsInRound }, () => linesOf(place));
  const started = performance.now();
  for (const facts of calls.flat()) await held.append(facts);
  return ((performance.now() - started) * 1000) / callsInRound;
}

async function run(): Promise<BenchResult> {
  const place = makePlace();
  try {
    const program = compileC("raw-appends", place.folder);
    const session = await place.newSession("bench");
    const held = await hold(place, session);
    await measureCalls(held, place);
    const log = join(place.stateDirectory, "sessions", session, "log.jsonl");
    const lines = readFileSync(log, "utf8")
      .split("\n")
      .slice(-1 - callsInRound * linesOfCall);
    const source = join(place.folder, "lines");
    writeFileSync(source, lines.join("\n"));
    const raw = () =>
      Number(execFileSync(program, [source, join(place.folder, "raw.jsonl")], { encoding: "utf8" })) /
      callsInRound;
    raw();
    const result = await compareInRounds(rounds, "µs", {
      ours: () => measureCalls(held, place),
      beside: raw,
    });
    await held.abandon();
    return result;
  } finally {
    place.remove();
  }
}

/** The rows of this file. */
export const benches: readonly Bench[] = [
  {
    name: "durable tool call (started, known, settled)",
    beside: "the same bytes, write + fdatasync in C",
    goal: 1.3,
    run,
  },
];
