import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCassette } from "../../src/agents/builtin/models/cassette.ts";
import { writeCassette } from "../../src/engine/cassette-text.ts";
import { argsTextOf, partsOfTurn, stopReasonOf, turnOfAnswer } from "../../src/model/cassette-turn.ts";
import type { CassettePart, CassetteTurn } from "../../src/model/cassette.ts";
import { anyAnswer, type Answered } from "./any-answer.ts";

function read(text: string): readonly CassetteTurn[] {
  return parseCassette(new TextEncoder().encode(text), "recorded").turns;
}

/** An answer's parts as a log gives them back. */
function plainParts(answer: Answered): CassettePart[] {
  return answer.parts.map((part) => {
    const { providerMetadata: metadata } = part;
    const added = metadata !== undefined && { providerMetadataText: JSON.stringify(metadata) };
    if (part.type === "call") return { tool: part.tool, argsText: part.argsText, ...added };
    if (part.type === "text") return { text: part.text, ...added };
    return {
      reasoning: part.text,
      ...(part.signature !== undefined && { signature: part.signature }),
      ...added,
    };
  });
}

const unseen = /[\u007f-\u009f\u2028\u2029\ufeff]/;
// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u0008\u000b-\u001f]/;

describe("the text of a cassette", () => {
  test.each(["yaml", "json"] as const)("is read as what was written, in %s", (form) => {
    fc.assert(
      fc.property(fc.array(anyAnswer, { maxLength: 4 }), (answers) => {
        const plain = answers.map((one) => ({ ...one, parts: plainParts(one) }));
        const turns = plain.map((one) => turnOfAnswer(one));
        const text = writeCassette({ turns }, form);
        expect(unseen.test(text) || control.test(text), text).toBe(false);
        expect(text.isWellFormed()).toBe(true);
        const found = read(text);
        expect(found).toEqual(turns);
        found.forEach((turn, index) => {
          if ("error" in turn) throw new Error("it is an answer");
          const parts = partsOfTurn(turn).map((part) =>
            part.tool === undefined ? part : { ...withoutArgs(part), argsText: argsTextOf(part) },
          );
          expect(parts).toEqual(plain[index]?.parts);
          expect(stopReasonOf(turn)).toBe(plain[index]?.stopReason);
        });
      }),
      { numRuns: 400 },
    );
  });

  test("is what a person would write: blocks for lines, mappings for arguments, no more than was said", () => {
    const turns: CassetteTurn[] = [
      turnOfAnswer({
        parts: [
          { reasoning: "First\nthe file." },
          { text: "I write: it." },
          { tool: "write", argsText: '{"path":"a.txt","content":"one\\n  two\\n"}' },
          { tool: "exec", argsText: '{"command": "npm test"}' },
          { tool: "todo", argsText: "{}" },
        ],
        usage: { input: 7, output: 2 },
        stopReason: "tool-calls",
      }),
      { error: { reason: "network", message: "reset", retryable: true } },
      turnOfAnswer({
        parts: [{ text: "Cut" }, { reasoning: "", signature: "c2ln", providerMetadataText: '{"a":{}}' }],
        stopReason: "length",
        firstTokenMs: 7,
      }),
      turnOfAnswer({ parts: [], stopReason: "stop" }),
    ];
    expect(writeCassette({ turns }, "yaml")).toMatchInlineSnapshot(`
      "cassette: 1
      turns:
        - reasoning: |-
            First
            the file.
          text: "I write: it."
          calls:
            - tool: write
              args:
                path: a.txt
                content: |
                  one
                    two
            - tool: exec
              argsText: '{"command": "npm test"}'
            - tool: todo
          usage:
            input: 7
            output: 2
        - error:
            reason: network
            message: reset
            retryable: true
        - parts:
            - text: Cut
            - reasoning: ""
              signature: c2ln
              providerMetadataText: '{"a":{}}'
          stopReason: length
          firstTokenMs: 7
        - {}
      "
    `);
  });

  test("of answers of a megabyte, and of a thousand calls, is read as what was written", () => {
    const long = "a line of text, 'quoted' and \"quoted\"\n".repeat(30_000);
    const calls = Array.from({ length: 1000 }, (_, index) => ({
      tool: "write",
      argsText: JSON.stringify({ path: `file ${index}`, content: `line\n${"x".repeat(200)}\n` }),
    }));
    const turns = [
      turnOfAnswer({ parts: [{ text: long }], stopReason: "stop" }),
      turnOfAnswer({ parts: [{ text: long.replaceAll("\n", " ") }], stopReason: "stop" }),
      turnOfAnswer({ parts: [{ text: "\n".repeat(1_000_000) }], stopReason: "stop" }),
      turnOfAnswer({ parts: calls, stopReason: "tool-calls" }),
    ];
    for (const form of ["yaml", "json"] as const) expect(read(writeCassette({ turns }, form))).toEqual(turns);
  });
});

function withoutArgs({ args: _args, argsText: _argsText, ...rest }: CassettePart): CassettePart {
  return rest;
}
