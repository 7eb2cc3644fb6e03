import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changeExcerpt } from "../../src/agents/builtin/tools/change-excerpt.ts";
import { replaceText } from "../../src/agents/builtin/tools/replacement.ts";

/** Every place where `wanted` stands, found by looking at each. */
function placesOf(text: string, wanted: string): number[] {
  return Array.from({ length: text.length }, (_, at) => at).filter((at) => text.startsWith(wanted, at));
}

const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "$", "&", "\uFEFF"), maxLength: 30 });
const wanted = fc.string({ unit: fc.constantFrom("a", "b", "\n", "$"), minLength: 1, maxLength: 3 });

describe("replacing text", () => {
  test("replaces the one occurrence and nothing else, or tells how many there are", () => {
    fc.assert(
      fc.property(text, wanted, text, (before, old, fresh) => {
        const places = placesOf(before, old);
        const replaced = replaceText(before, { old, new: fresh, all: false });
        expect(replaced.count).toBe(places.length);
        if (places.length !== 1) {
          expect(replaced.text).toBeUndefined();
          return;
        }
        const at = places[0] ?? 0;
        expect(replaced.text).toBe(before.slice(0, at) + fresh + before.slice(at + old.length));
      }),
      { numRuns: 5_000 },
    );
  });

  test("replaces all occurrences from the left where all are wanted", () => {
    fc.assert(
      fc.property(text, wanted, text, (before, old, fresh) => {
        let expected = "";
        let count = 0;
        for (let at = 0; at < before.length;) {
          const isHit = before.startsWith(old, at);
          expected += isHit ? fresh : before[at];
          count += isHit ? 1 : 0;
          at += isHit ? old.length : 1;
        }
        const replaced = replaceText(before, { old, new: fresh, all: true });
        expect(replaced.count).toBe(count);
        expect(replaced.text).toBe(count === 0 ? undefined : expected);
      }),
      { numRuns: 5_000 },
    );
  });

  test("a text whose lines all end in CRLF keeps it so, whatever line ends the model writes", () => {
    fc.assert(
      fc.property(text, wanted, text, fc.boolean(), (before, old, fresh, all) => {
        const windows = (part: string): string => part.replaceAll("\n", "\r\n");
        const plain = replaceText(`${before}\n`, { old, new: fresh, all });
        for (const write of [windows, (part: string) => part]) {
          const replaced = replaceText(windows(`${before}\n`), { old: write(old), new: write(fresh), all });
          expect(replaced.text).toBe(plain.text === undefined ? undefined : windows(plain.text));
        }
      }),
      { numRuns: 5_000 },
    );
  });

  test("a text of mixed line ends is taken as it is", () => {
    const mixed = "a\r\nb\nc";
    expect(replaceText(mixed, { old: "b\n", new: "B\n", all: false }).text).toBe("a\r\nB\nc");
    expect(replaceText(mixed, { old: "a\nb", new: "x", all: false }).count).toBe(0);
  });
});

test("the excerpt of a change shows what went and what came, and never much", () => {
  expect(changeExcerpt("one\ntwo\nthree\nfour\n", "one\ntwo\n3\nfour\n")).toBe(
    ["@@ line 3 @@", " one", " two", "-three", "+3", " four", " "].join("\n"),
  );
  expect(changeExcerpt("same", "same")).toBe("");
  const long = Array.from({ length: 9_000 }, (_, index) => `${index}${"x".repeat(500)}`).join("\n");
  expect(changeExcerpt("", long).length).toBeLessThan(4_000);
});
