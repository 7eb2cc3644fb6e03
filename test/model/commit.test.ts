import { describe, expect, test } from "vitest";
import type { Commit } from "../../src/model/commit.ts";
import { isFact, rowsOfFact } from "../../src/model/commit.ts";
import type { Fact, FactKind, Part } from "../../src/model/facts.ts";
import { addUsage } from "../../src/model/values.ts";
import { printCommit } from "../../src/model/printed-line.ts";
import { examples, parts } from "./fact-examples.ts";

const envelope = { v: 1, ses: "ses_9", seq: 41, epoch: 3, at: 1_764_511_111_111 };
const counters = { rec: 57, rev: 12, msgs: 12, row: 3310 };
const chain = { prev: "0".repeat(32), sum: "1".repeat(32) };
const commit = (facts: Commit["facts"]): Commit => ({ ...envelope, ...counters, facts, ...chain });

describe("the rows of a fact", () => {
  test("follow a table that is frozen for format 1", () => {
    const message = (...some: Part[]): Fact => ({ kind: "message", id: "msg_1", role: "user", parts: some });
    const rows = Object.values(examples).map((fact) => [fact.kind, rowsOfFact(fact)] as const);
    expect(Object.fromEntries(rows.filter(([, count]) => count !== 0))).toMatchInlineSnapshot(`
      {
        "compacted": 1,
        "message": 4,
        "op.asked": 1,
        "system.changed": 1,
      }
    `);
    const alone = parts.map((part) => [part.type, rowsOfFact(message(part))] as const);
    expect(Object.fromEntries(alone)).toMatchInlineSnapshot(`
      {
        "context": 1,
        "image": 1,
        "mail": 1,
        "notice": 1,
        "reasoning": 1,
        "text": 1,
        "tool_call": 0,
        "tool_result": 0,
      }
    `);
  });

  test("count what is said once and what is added each", () => {
    const [text, reasoning, image, context, , , mail, notice] = parts as [
      Part,
      Part,
      Part,
      Part,
      Part,
      Part,
      Part,
      Part,
    ];
    const rows = (...some: Part[]) => rowsOfFact({ kind: "message", id: "msg_1", role: "user", parts: some });
    expect(rows()).toBe(0);
    expect(rows(text, reasoning, image, text)).toBe(1);
    expect(rows(context, context)).toBe(2);
    expect(rows(text, context, mail, notice, notice)).toBe(5);
  });

  test("are none for a kind that this version does not know", () => {
    expect(rowsOfFact({ kind: "goal.set", parts: [{ type: "text" }] })).toBe(0);
  });

  test("are found where the fact is of the kind that is asked for", () => {
    const fact: Fact = examples["op.asked"];
    expect(isFact(fact, "op.asked")).toBe(true);
    expect(isFact(fact, "op.known")).toBe(false);
  });
});

describe("the usage of many calls", () => {
  test("is the sum of what was reported, and a lower bound once anything was not", () => {
    const first = addUsage({}, { input: 10, output: 2, cachedInput: 4 });
    expect(first).toEqual({ input: 10, output: 2, cachedInput: 4 });
    expect(addUsage(first, { input: 1, output: 1, reasoning: 1 })).toEqual({
      input: 11,
      output: 3,
      cachedInput: 4,
      reasoning: 1,
    });
    for (const unknown of [
      undefined,
      {},
      { input: 0 },
      { output: 0 },
      { input: 0, output: 0, lowerBound: true },
    ]) {
      const sum = addUsage(first, unknown);
      expect(sum).toMatchObject({ ...first, lowerBound: true });
      expect(addUsage(sum, { input: 0, output: 0 })).toEqual(sum);
    }
  });
});

describe("the printed lines of a commit", () => {
  test("are its facts in order under one position", () => {
    const lines = printCommit(commit([examples["op.settled"], examples["run.created"]]));
    expect(lines.map((line) => JSON.stringify(line)).join("\n")).toMatchInlineSnapshot(`
      "{"schema":1,"seq":41,"at":1764511111111,"session":"ses_9","type":"op.settled","operation":"op_1"}
      {"schema":1,"seq":41,"at":1764511111111,"session":"ses_9","type":"run.created","run":"run_1","message":"msg_1"}"
    `);
  });

  test("leave out how the log is kept", () => {
    expect(printCommit(commit([examples["lease.released"], examples.row]))).toEqual([]);
  });

  test("keep the envelope and every member of every fact", () => {
    for (const kind of Object.keys(examples) as FactKind[]) {
      const fact: Fact = examples[kind];
      for (const { fact: own, ...line } of printCommit(commit([fact]))) {
        const { schema, seq, at, session, type, ...members } = line;
        expect([schema, seq, at, session, type]).toEqual([1, 41, 1_764_511_111_111, "ses_9", kind]);
        expect({ kind: type, ...members, ...own }).toEqual(fact);
        expect(own !== undefined).toBe(kind === "rewound");
      }
    }
  });

  test("keep apart what a fact calls like the envelope, also one of a later version", () => {
    const later = { kind: "later", at: 1, fact: 2, other: 3, type: 4 };
    expect(
      printCommit(commit([examples.rewound, later]))
        .map((line) => JSON.stringify(line))
        .join("\n"),
    ).toMatchInlineSnapshot(`
      "{"schema":1,"seq":41,"at":1764511111111,"session":"ses_9","type":"rewound","fact":{"session":"ses_1","seq":3}}
      {"schema":1,"seq":41,"at":1764511111111,"session":"ses_9","type":"later","other":3,"fact":{"at":1,"fact":2,"type":4}}"
    `);
  });
});
