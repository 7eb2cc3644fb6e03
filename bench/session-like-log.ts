import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Commit } from "../src/model/commit.ts";
import type { Fact, Part } from "../src/model/facts.ts";
import { CounterFold } from "../src/store/counters.ts";
import { encodeLine, readEnvelope, zeroSum } from "../src/store/line.ts";
import type { LogPart } from "../src/store/read-log.ts";
import { created, epochRaised, idOf, modelRequested, row } from "../test/store/builders.ts";

/** Logs as a coding session leaves them: requests, answers with calls, operations and their outputs; 2 KB a line. */

/** Gives `work` a temporary directory that is removed afterwards. */
export async function inTemporaryDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Writes a log of at least `bytesMin` bytes. */
export function writeSessionLikeLog(path: string, bytesMin: number): LogPart {
  const session = idOf("ses", "1");
  const file = openSync(path, "w");
  const pending: Uint8Array[] = [];
  const counters = new CounterFold();
  let [size, seq, epoch, sum] = [0, 0, 0, zeroSum];
  const flush = () => {
    const bytes = Buffer.concat(pending.splice(0));
    for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
  };
  const add = (facts: Commit["facts"]) => {
    if (facts[0]?.kind === "epoch.raised") epoch++;
    const numbers = counters.preview(session, seq, facts);
    if (numbers === undefined) throw new Error("a fact does not fit");
    const bytes = encodeLine(
      { ses: session, seq, epoch, at: 1_764_511_111_111 + seq, ...numbers, prev: sum },
      facts,
    );
    counters.apply({ session, seq, offset: size }, facts);
    pending.push(bytes);
    if (pending.length === 1000) flush();
    [size, seq, sum] = [size + bytes.length, seq + 1, readEnvelope(bytes)?.sum ?? ""];
  };
  try {
    add([created, row("bench")]);
    add([epochRaised()]);
    for (let turn = 1; size < bytesMin; turn++) for (const facts of turnOf(turn)) add(facts);
    flush();
  } finally {
    closeSync(file);
  }
  return { path, session };
}

const tools = ["read", "glob", "grep", "write", "edit", "delete", "exec", "fetch", "todo"];
const code = Array.from(
  { length: 400 },
  (_, index) =>
    `${"  ".repeat(index % 4)}const value${index} = read("path/to/file-${index * 7}.ts", { limit: ${index} });\n`,
).join("");

function textOf(number: number, length: number): string {
  const start = (number * 977) % (code.length - length);
  return code.slice(start, start + length);
}

/** The lines of one turn: asked, answered with two calls, both carried out, results handed over. */
function turnOf(turn: number): Fact[][] {
  const run = idOf("run", `${Math.floor(turn / 10)}`);
  const operations = [idOf("op", `${turn * 2}`), idOf("op", `${turn * 2 + 1}`)] as const;
  const id = (place: number) => idOf("msg", `${turn * 4 + place}`);
  const lines: Fact[][] = [];
  if (turn % 10 === 1) {
    const parts: Part[] = [{ type: "text", text: textOf(turn, 600) }];
    lines.push([
      { kind: "message", id: id(0), role: "user", parts, run },
      { kind: "run.created", run, message: id(0) },
      row(`run ${run}`),
    ]);
  }
  const hashes = Object.fromEntries(tools.map((tool) => [tool, "b".repeat(64)]));
  lines.push([{ ...modelRequested(run, turn), tools: hashes }]);
  lines.push(answerOf(turn, { run, operations, message: id(1) }));
  for (const operation of operations) lines.push(...effectOf(turn, operation));
  const results = operations.map((operation, index): Part => ({
    type: "tool_result",
    operation,
    outcome: "ok",
    output: textOf(turn + index, 2200),
  }));
  lines.push([
    { kind: "message", id: id(2), role: "tool", parts: results, run, turn },
    ...operations.map((operation): Fact => ({ kind: "op.settled", operation })),
  ]);
  return lines;
}

function answerOf(
  turn: number,
  { run, operations, message }: { run: string; operations: readonly string[]; message: string },
): Fact[] {
  const calls = operations.map((operation): Part => ({
    type: "tool_call",
    operation,
    tool: "read",
    args: { path: `src/file-${turn}.ts`, limit: 50 },
  }));
  const parts: Part[] = [
    { type: "reasoning", text: textOf(turn, 500) },
    { type: "text", text: textOf(turn, 300) },
    ...calls,
  ];
  return [
    { kind: "message", id: message, role: "assistant", parts, run, turn },
    {
      kind: "model.answered",
      run,
      turn,
      durationMs: 2100,
      firstTokenMs: 400,
      usage: { input: 20_000, output: 300, cachedInput: 18_000 },
      stopReason: "tool-calls",
    },
    ...operations.map((operation): Fact => ({
      kind: "op.asked",
      operation,
      run,
      turn,
      tool: "read",
      effect: "pure",
      call: `call_${turn}`,
    })),
  ];
}

function effectOf(turn: number, operation: string): Fact[][] {
  return [
    [
      {
        kind: "op.started",
        operation,
        tool: "read",
        args: { path: `src/file-${turn}.ts`, limit: 50 },
        effect: "pure",
        evidence: { class: "pure" },
      },
    ],
    [
      {
        kind: "op.known",
        operation,
        outcome: "ok",
        output: textOf(turn, 2200),
        startedAt: 1_764_511_111_111,
        endedAt: 1_764_511_111_211,
        durationMs: 100,
      },
    ],
  ];
}
