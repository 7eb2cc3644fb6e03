import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeLine, lineBytesMax, readEnvelope, zeroSum } from "../../src/store/line.ts";
import { parseFacts } from "../../src/store/read-facts.ts";
import type { AnyFact } from "./build-log.ts";
import { idOf, message } from "./builders.ts";

const ses = idOf("ses", "line");

/** The bytes of a line around any text in the place of its facts; the sum is made here, not by the product. */
function rawLine(facts: string, envelope: Readonly<Record<string, string>> = {}): Buffer {
  const members = {
    v: "1",
    seq: "3",
    epoch: "1",
    at: "5",
    rec: "0",
    rev: "1",
    msgs: "1",
    row: "0",
    ...envelope,
  };
  const { v, seq, epoch, at, rec, rev, msgs, row } = members;
  const { ses: session = ses, prev = zeroSum } = envelope;
  const hashed =
    `{"v":${v},"ses":"${session}","seq":${seq},"epoch":${epoch},"at":${at},"rec":${rec},"rev":${rev}` +
    `,"msgs":${msgs},"row":${row},"facts":${facts},"prev":"${prev}"`;
  return Buffer.from(`${hashed},"sum":"${sumOf(Buffer.from(hashed))}"}\n`);
}

function sumOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 32);
}

function parse(line: Uint8Array) {
  const envelope = readEnvelope(line);
  return envelope === undefined ? undefined : parseFacts(line, envelope);
}

describe("the format is frozen", () => {
  test("a line of version 1 has these bytes and no others", () => {
    const envelope = {
      ses: "ses_01kbagxny7f0dnrf6zzx2xw9f4",
      seq: 41,
      epoch: 3,
      at: 1_764_511_111_111,
      rec: 57,
      rev: 12,
      msgs: 12,
      row: 3310,
      prev: "00112233445566778899aabbccddeeff",
    };
    const facts: AnyFact[] = [
      { kind: "message", id: "msg_1", role: "user", parts: [{ type: "text", text: 'a "b" \u2028 é \\ \n' }] },
      { kind: "run.created", run: "run_1", message: "msg_1" },
    ];
    const golden =
      '{"v":1,"ses":"ses_01kbagxny7f0dnrf6zzx2xw9f4","seq":41,"epoch":3,"at":1764511111111,"rec":57,"rev":12,' +
      '"msgs":12,"row":3310,"facts":[{"kind":"message","id":"msg_1","role":"user","parts":[{"type":"text",' +
      '"text":"a \\"b\\" \u2028 é \\\\ \\n"}]},{"kind":"run.created","run":"run_1","message":"msg_1"}],' +
      '"prev":"00112233445566778899aabbccddeeff","sum":"7012dab8331bad8bae5e5babb19c6fc2"}\n';
    expect(Buffer.from(encodeLine(envelope, facts)).toString()).toBe(golden);
    expect(readEnvelope(Buffer.from(golden))).toMatchObject({ v: 1, ...envelope });
  });

  test("the tail is 85 bytes, and the sum is taken over all but the last 43", () => {
    const line = Buffer.from(
      encodeLine({ ses, seq: 0, epoch: 0, at: 0, rec: 0, rev: 0, msgs: 0, row: 0, prev: zeroSum }, [
        message("x"),
      ]),
    );
    expect(line.subarray(-85).toString()).toMatch(/^,"prev":"0{32}","sum":"[0-9a-f]{32}"\}\n$/);
    expect(line.subarray(-35, -3).toString()).toBe(sumOf(line.subarray(0, -43)));
  });
});

describe("a line that a writer wrote", () => {
  test("is read as it was written, whatever its facts hold", () => {
    const number = fc.oneof(fc.nat(), fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER));
    const sum = fc.stringMatching(/^[0-9a-f]{32}$/);
    fc.assert(
      fc.property(
        fc.record({
          seq: number,
          epoch: number,
          at: number,
          rec: number,
          rev: number,
          msgs: number,
          row: number,
          prev: sum,
        }),
        fc.array(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()), {
          minLength: 1,
          maxLength: 4,
        }),
        (envelope, values) => {
          const facts = values.map((value) => ({ kind: "goal.any", value: value as unknown }));
          const line = encodeLine({ ses, ...envelope }, facts);
          expect(readEnvelope(line)).toMatchObject({ v: 1, ses, ...envelope });
          expect(parse(line)).toEqual({ facts: JSON.parse(JSON.stringify(facts)) as unknown });
        },
      ),
    );
  });

  test.each([
    ["keys named sum and prev", { sum: "0".repeat(32), prev: "1".repeat(32) }],
    ["the same keys behind others", { text: "", prev: "1".repeat(32), sum: "0".repeat(32) }],
    ["a text that looks like a tail", `,"prev":"${zeroSum}","sum":"${zeroSum}"}`],
    ["line separators of Unicode", "\u2028\u2029\u0085"],
    ["carriage returns and line feeds", "a\r\nb\rc\n"],
    ["an escaped lone surrogate", "\ud800"],
    ["NUL and other controls", "\u0000\u0001\u007f"],
    ["a byte order mark", "\ufeffx"],
    ["characters beyond the first plane", "\u{1f600}"],
  ])("may hold %s", (_name, value) => {
    const line = encodeLine(
      { ses, seq: 0, epoch: 0, at: 0, rec: 0, rev: 0, msgs: 0, row: 0, prev: zeroSum },
      [{ kind: "goal.any", value }],
    );
    expect(Buffer.from(line).indexOf(0x0a)).toBe(line.length - 1);
    expect(parse(line)).toEqual({ facts: [{ kind: "goal.any", value }] });
  });
});

describe("what is no line does not verify", () => {
  const good = rawLine('[{"kind":"x"}]');

  test("the line that the others are made from does", () => {
    expect(readEnvelope(good)).toMatchObject({ v: 1, ses, seq: 3, epoch: 1, at: 5, prev: zeroSum });
  });

  test.each([
    ["a leading zero", { seq: "03" }],
    ["a sign", { seq: "+3" }],
    ["a negative number", { seq: "-3" }],
    ["a fraction", { at: "1.5" }],
    ["an exponent", { at: "1e3" }],
    ["a number over 2^53 - 1", { at: "9007199254740992" }],
    ["17 digits", { at: "10000000000000000" }],
    ["no number", { rec: "" }],
    ["a space", { rec: " 0" }],
    ["a number as text", { rec: '"0"' }],
    ["null", { row: "null" }],
    ["a shorter id", { ses: ses.slice(0, -1) }],
    ["a longer id", { ses: `${ses}0` }],
    ["an id of another kind", { ses: ses.replace("ses_", "run_") }],
    ["an id with a letter that ids lack", { ses: `${ses.slice(0, -1)}l` }],
    ["an upper-case id", { ses: ses.toUpperCase() }],
    ["an upper-case prev", { prev: "A".repeat(32) }],
    ["a shorter prev", { prev: "0".repeat(31) }],
  ])("with %s, though its sum fits", (_name, envelope: Readonly<Record<string, string>>) => {
    expect(readEnvelope(rawLine('[{"kind":"x"}]', envelope))).toBeUndefined();
  });

  test("the largest number that is exact does", () => {
    expect(readEnvelope(rawLine('[{"kind":"x"}]', { at: "9007199254740991" }))?.at).toBe(
      Number.MAX_SAFE_INTEGER,
    );
  });

  test.each([
    ["other member order", (text: string) => text.replace('"v":1,', "").replace('"seq"', '"v":1,"seq"')],
    ["a space between members", (text: string) => text.replace(',"rev"', ', "rev"')],
    ["a further member", (text: string) => text.replace('"rev"', '"x":1,"rev"')],
    ["facts that are no array", (text: string) => text.replace('[{"kind":"x"}]', '{"kind":"x"}')],
    ["a missing newline", (text: string) => text.slice(0, -1)],
    ["a carriage return before the newline", (text: string) => text.replace("\n", "\r\n")],
    ["a second newline", (text: string) => `${text}\n`],
    ["something before it", (text: string) => `x${text}`],
    ["a byte order mark before it", (text: string) => `\ufeff${text}`],
  ])("with %s, whatever sum it carries", (_name, change) => {
    const changed = Buffer.from(change(good.toString()));
    expect(readEnvelope(changed)).toBeUndefined();
    const hashed = changed.subarray(0, -43);
    const resealed = Buffer.concat([hashed, Buffer.from(`,"sum":"${sumOf(hashed)}"}\n`)]);
    if (change(good.toString()).endsWith('"}\n')) expect(readEnvelope(resealed)).toBeUndefined();
  });

  test("when any one bit of it is other", () => {
    for (let index = 0; index < good.length; index++) {
      for (const bit of [1, 4, 32, 128]) {
        const changed = Buffer.from(good);
        changed[index] = (changed[index] ?? 0) ^ bit;
        expect(readEnvelope(changed)).toBeUndefined();
      }
    }
  });

  test("over 1 MiB with its newline, and at 1 MiB it does", () => {
    const around = rawLine('[{"kind":"x","text":""}]').length;
    const facts = (length: number) => `[{"kind":"x","text":"${"a".repeat(length - around)}"}]`;
    expect(readEnvelope(rawLine(facts(lineBytesMax)))).toBeDefined();
    expect(readEnvelope(rawLine(facts(lineBytesMax + 1)))).toBeUndefined();
  });

  test("made of chance", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => readEnvelope(bytes) === undefined));
  });
});

describe("facts are refused", () => {
  test.each([
    ["no fact at all", "[]", /at least one fact/],
    ["text that is no JSON", '[{"kind":"x",}]', /not JSON/],
    ["two arrays", '[{"kind":"x"}],[{"kind":"x"}]', /not JSON/],
    ["a fact that is a number", "[1]", /is an object/],
    ["a fact that is a list", '[["kind"]]', /is an object/],
    ["a fact whose kind is not first", '[{"a":1,"kind":"x"}]', /first member/],
    ["a fact whose kind is no text", '[{"kind":1}]', /first member/],
    ["a fact without a kind", "[{}]", /first member/],
    ["a known fact with a wrong member", '[{"kind":"rewound","session":"s","seq":"1"}]', /rewound: seq/],
    ["a known fact that lacks a member", '[{"kind":"op.settled"}]', /op.settled: operation/],
    [
      "two messages",
      `[${JSON.stringify(message("a"))},${JSON.stringify(message("b"))}]`,
      /message stands first/,
    ],
    [
      "a row that is not last",
      '[{"kind":"row","title":"","titleBy":"auto","archived":false,"pinned":false,"agent":"","binding":"","state":"","openUnknowns":0},{"kind":"x"}]',
      /row stands last/,
    ],
    ["session.created in a later line", '[{"kind":"session.created"}]', /session.created/],
    [
      "an epoch that is raised later in the line",
      '[{"kind":"x"},{"kind":"epoch.raised","store":"","device":"","host":"","bootId":"","pid":1,"startTime":"","version":""}]',
      /epoch.raised stands first/,
    ],
    ["a kind that is said twice, to fool the chain", '[{"kind":"epoch.raised","kind":"x"}]', /disagree/],
    [
      "a kind that is spelled so that the chain overlooks it",
      '[{"kind":"epoch\\u002eraised","store":"","device":"","host":"","bootId":"","pid":1,"startTime":"","version":""}]',
      /disagree/,
    ],
  ])("that are %s", (_name, facts, fault) => {
    expect(parse(rawLine(facts))).toEqual({ fault: expect.stringMatching(fault) as string });
  });

  test("that are not UTF-8: an overlong form, a surrogate, a lone continuation", () => {
    for (const bytes of [[0xc0, 0x80], [0xed, 0xa0, 0x80], [0x80], [0xf4, 0x90, 0x80, 0x80]]) {
      const text = rawLine('[{"kind":"x","text":"????"}]').toString("latin1");
      const hashed = Buffer.from(
        text.replace("????", Buffer.from(bytes).toString("latin1")),
        "latin1",
      ).subarray(0, -43);
      const line = Buffer.concat([hashed, Buffer.from(`,"sum":"${sumOf(hashed)}"}\n`)]);
      expect(readEnvelope(line)).toBeDefined();
      expect(parse(line)).toEqual({ fault: "is not UTF-8" });
    }
  });

  test("never because they are of an unknown kind, hold unknown members, or have spaces", () => {
    expect(parse(rawLine('[ {"kind" : "never.heard.of", "a": [1, null]} ]'))).toEqual({
      facts: [{ kind: "never.heard.of", a: [1, null] }],
    });
    expect(parse(rawLine('[{"kind":"op.settled","operation":"op_1","more":true}]'))).toEqual({
      facts: [{ kind: "op.settled", operation: "op_1", more: true }],
    });
    expect(parse(rawLine('[{"kind":"x","a":1,"a":2}]'))).toEqual({ facts: [{ kind: "x", a: 2 }] });
  });
});
