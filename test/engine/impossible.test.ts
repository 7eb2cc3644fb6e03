import { describe, expect, test } from "vitest";
import { findRun, readSession, resume, runTask, viewSession } from "../../src/engine/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import type { Fact } from "../../src/model/facts.ts";
import { encodeLine } from "../../src/store/line.ts";
import { EngineWorld } from "../crash/engine-world.ts";

const { workspace, model } = EngineWorld;

interface Spoiled {
  world: EngineWorld;
  selector: string;
  run: string;
  log: string;
  /** Where the line begins that cannot be true. */
  offset: number;
  lines: number;
}

/** A finished session with one line more: in the chain, of legal facts, and impossible. */
async function spoil(impossible: (run: string) => Fact[]): Promise<Spoiled> {
  const world = new EngineWorld();
  world.disk.plant("/cassette.json", JSON.stringify({ cassette: 1, turns: [{ text: "Done." }] }));
  world.disk.plant("/project/a.txt", "a\n");
  const request = { workspace, model, agent: "builtin", policy: {}, task: "Do it." };
  const { session, run = "" } = await runTask(world.engine(), request, world.observer(), () => undefined);
  const log = `/state/sessions/${session}/log.jsonl`;
  const text = world.text(log) ?? "";
  const lines = text.trimEnd().split("\n");
  const last = JSON.parse(lines.at(-1) ?? "") as Commit;
  const withRow = lines.findLastIndex((line) => line.includes('{"kind":"row"'));
  const row = Buffer.byteLength(
    lines
      .slice(0, withRow)
      .map((line) => `${line}\n`)
      .join(""),
  );
  const { ses, epoch, at, rec, rev, msgs, sum: prev } = last;
  const envelope = { ses, seq: last.seq + 1, epoch, at, rec, rev, msgs, row, prev };
  const line = new TextDecoder().decode(encodeLine(envelope, impossible(run)));
  world.disk.plant(log, text + line);
  return { world, selector: session, run, log, offset: Buffer.byteLength(text), lines: lines.length };
}

describe("a line that cannot be true, in a log whose chain is whole", () => {
  test.each<[string, (run: string) => Fact[], RegExp]>([
    [
      "of a run that is over",
      (run) => [{ kind: "run.started", run, attempt: 2 }],
      /run\.started of run .*completed/,
    ],
    [
      "of an operation that nobody asked for",
      () => [{ kind: "op.settled", operation: "op_1" }],
      /nobody asked for/,
    ],
    [
      "where only its last fact is impossible",
      () => [
        { kind: "run.created", run: "run_2", message: "msg_1" },
        { kind: "run.created", run: "run_2", message: "msg_1" },
      ],
      /created twice/,
    ],
  ])(
    "%s is damage with its place: what is before it is shown, and nothing is written",
    async (_, facts, reason) => {
      const { world, selector, run, log, offset, lines } = await spoil(facts);
      const read = await readSession(world.engine(), selector);
      expect(read.damage).toMatchObject({
        line: lines + 1,
        offset,
        reason: expect.stringMatching(reason) as string,
      });
      expect(viewSession(read)).toMatchObject({
        damaged: expect.stringContaining(`byte ${offset}`) as string,
        runs: [{ run, status: "completed" }],
      });
      expect(findRun(read, undefined)).toMatchObject({ run, status: "completed", text: "Done." });

      const before = world.text(log);
      await expect(
        resume(world.engine(), { selector, acceptRollback: false }, world.observer()),
      ).rejects.toMatchObject({
        code: "log_damaged",
        details: { at: { file: log, line: lines + 1, offset } },
      });
      expect(world.text(log)).toBe(before);
    },
  );
});
