import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanText, oneLine } from "../../src/cli/text/clean.ts";
import { nearestName } from "../../src/cli/text/nearest.ts";
import { treeLines } from "../../src/cli/text/tree.ts";
import {
  formatAge,
  formatBytes,
  formatCount,
  formatDuration,
  formatUsage,
  parseDuration,
} from "../../src/cli/text/units.ts";
import { fitEnd, fitStart, padEnd, widthOf } from "../../src/cli/text/width.ts";
import { WordWrap, wrapText } from "../../src/cli/text/wrap.ts";
import { shortIds } from "../../src/cli/short-ids.ts";

const anyText = fc.string({ unit: "binary", maxLength: 200 });
const lineText = fc.string({ unit: "grapheme", maxLength: 80 }).map(oneLine);

describe("cleaning", () => {
  // oxlint-disable-next-line no-control-regex
  const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

  test("no control character but newline and tab is left in any text", () => {
    fc.assert(fc.property(anyText, (text) => !control.test(cleanText(text))));
  });

  test("no control character gets through in pieces that it would not get through whole", () => {
    fc.assert(
      fc.property(anyText, fc.nat(200), (text, at) => {
        const pieces = cleanText(text.slice(0, at)) + cleanText(text.slice(at));
        return !control.test(pieces) && pieces.isWellFormed();
      }),
    );
  });

  test("ordinary text stays as it is", () => {
    for (const text of ["", "a b\tc\nd", "日本語 – “quoted” 👍🏽", "𝒳"]) expect(cleanText(text)).toBe(text);
  });

  test("colours go, what else would move a terminal is shown", () => {
    expect(cleanText("\u001b[1;31mred\u001b[0m")).toBe("red");
    expect(cleanText("\u001b]0;title\u0007")).toBe("␛]0;title␇");
    expect(cleanText("\u001b[2Jgone\u009b2J")).toBe("␛[2Jgone\ufffd2J");
    expect(cleanText("over\rwritten\r\nnext")).toBe("over␍written\nnext");
    expect(cleanText("abc\u202edcba")).toBe("abc\ufffddcba");
  });

  test("one line is one line", () => {
    fc.assert(fc.property(anyText, (text) => !/[\n\t]/.test(oneLine(text))));
    expect(oneLine("  a\n\n b\tc ")).toBe("a b c");
  });
});

describe("widths", () => {
  test("wide, narrow and combining characters take the columns that a terminal gives them", () => {
    expect(widthOf("plain")).toBe(5);
    expect(widthOf("日本語")).toBe(6);
    expect(widthOf("한글")).toBe(4);
    expect(widthOf("e\u0301")).toBe(1);
    expect(widthOf("ｗｉｄｅ")).toBe(8);
    expect(widthOf("👍")).toBe(2);
    expect(widthOf("–…→")).toBe(3);
  });

  test("a text that was made to fit, fits, and one that fits is not touched", () => {
    fc.assert(
      fc.property(lineText, fc.nat(40), (text, width) => {
        for (const fitted of [fitEnd(text, width), fitStart(text, width)]) {
          if (widthOf(fitted) > Math.max(width, 0)) return false;
          if (widthOf(text) <= width && fitted !== text) return false;
        }
        return widthOf(padEnd(text, width)) >= width;
      }),
    );
  });

  test("a path keeps its end, everything else its beginning", () => {
    expect(fitStart("/home/somebody/project", 12)).toBe("…ody/project");
    expect(fitEnd("Fix the failing test", 12)).toBe("Fix the fai…");
  });
});

describe("wrapping", () => {
  test("breaking lines loses nothing but the blanks at which they are broken", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "bc", " ", "  ", "\n", "日", "`"), maxLength: 120 }),
        (text) => {
          const words = (one: string) => one.split(/\s+/).filter((word) => word !== "");
          expect(words(wrapText(text, 10).join("\n"))).toEqual(words(text));
        },
      ),
    );
  });

  test("pieces are broken as the whole is", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "`"), maxLength: 12 }), {
          maxLength: 12,
        }),
        (pieces) => {
          const wrap = new WordWrap(9);
          const streamed = pieces.map((piece) => wrap.push(piece)).join("") + wrap.end();
          expect(streamed).toBe(wrapText(pieces.join(""), 9).join("\n"));
        },
      ),
    );
  });

  test("no line of words that fit is wider than the screen", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "日"), minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), (words) => {
        for (const line of wrapText(words.join(" "), 12)) expect(widthOf(line)).toBeLessThanOrEqual(12);
      }),
    );
  });

  test("code between fences and words that are too long stay whole", () => {
    const code = "```sh\nnpm run build && npm test -- --run everything\n```";
    expect(wrapText(code, 20).join("\n")).toBe(code);
    expect(wrapText("see https://example.test/a/very/long/path now", 12)).toEqual([
      "see",
      "https://example.test/a/very/long/path",
      "now",
    ]);
  });
});

describe("numbers", () => {
  test("durations, ages, sizes and counts are short and exact enough", () => {
    expect([0, 12.4, 999, 1000, 59_900, 60_000, 125_000, 3_600_000, 5_400_000].map(formatDuration)).toEqual([
      "0 ms",
      "12 ms",
      "999 ms",
      "1.0 s",
      "59.9 s",
      "1 min",
      "2 min 5 s",
      "1 h",
      "1 h 30 min",
    ]);
    const now = Date.UTC(2026, 5, 15);
    const ages = [0, 5000, 180_000, 7_200_000, 4 * 86_400_000].map((ms) => formatAge(now - ms, now));
    expect(ages).toEqual(["now", "5s ago", "3m ago", "2h ago", "4d ago"]);
    expect(formatAge(now - 400 * 86_400_000, now)).toMatch(/^25-05-\d\d$/);
    expect([0, 1, 1023, 1024, 5_000_000, 3e9].map(formatBytes)).toEqual([
      "0 bytes",
      "1 byte",
      "1 023 bytes",
      "1.0 KiB",
      "4.8 MiB",
      "2.8 GiB",
    ]);
    expect([formatCount(1, "turn"), formatCount(1_234_567, "turn")]).toEqual(["1 turn", "1 234 567 turns"]);
  });

  test("a duration is never shown as more than its unit holds", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e8, noNaN: true }),
        (ms) => !/\b60(\.0)? s|\b60 min/.test(formatDuration(ms)),
      ),
    );
  });

  test("tokens say when they are a lower bound, and when nothing is known", () => {
    expect(formatUsage({ input: 1200, output: 30 })).toBe("1 200 in, 30 out");
    expect(formatUsage({ input: 1200, cachedInput: 1000, lowerBound: true })).toBe(
      "≥ 1 200 in (1 000 cached)",
    );
    expect(formatUsage({ lowerBound: true })).toBe("not reported");
  });
});

describe("names", () => {
  test("short ids are unambiguous beginnings of at least 14 characters", () => {
    const id = fc
      .string({ unit: fc.constantFrom("0", "1", "a"), minLength: 26, maxLength: 26 })
      .map((body) => `ses_0123456789${body}`.slice(0, 30));
    fc.assert(
      fc.property(fc.uniqueArray(id, { maxLength: 20 }), (ids) => {
        const short = shortIds(ids);
        for (const one of ids) {
          expect(short(one).length).toBeGreaterThanOrEqual(14);
          expect(ids.filter((other) => other.startsWith(short(one)))).toEqual([one]);
        }
      }),
    );
  });

  test("a misspelt word finds its name, a strange one finds none", () => {
    const names = ["list", "show", "resolve"];
    expect(["lst", "shwo", "resolv", "lists"].map((word) => nearestName(word, names))).toEqual([
      "list",
      "show",
      "resolve",
      "list",
    ]);
    expect(nearestName("frobnicate", names)).toBeUndefined();
  });

  test("evidence is a line for each member", () => {
    expect(
      treeLines({
        status: "blank",
        output: { bytes: 8, tail: "a\nb\n" },
        pids: [{ pid: 1, what: "x" }, 2],
        none: [],
      }),
    ).toEqual([
      "status: blank",
      "output:",
      "  bytes: 8",
      "  tail:",
      "    a",
      "    b",
      "pids:",
      "  - pid: 1",
      "    what: x",
      "  - 2",
      "none: none",
    ]);
  });
});

describe("durations as they are typed", () => {
  test("are milliseconds, whatever their unit; a bare number is seconds", () => {
    const typed = { "500ms": 500, "2s": 2000, "2": 2000, "0": 0, "1.5m": 90_000, "1 min": 60_000 };
    for (const [text, ms] of Object.entries({ ...typed, "1h": 3_600_000, "7d": 604_800_000 })) {
      expect([text, parseDuration(text)]).toEqual([text, ms]);
    }
  });

  test("are refused where they are none", () => {
    for (const text of ["", "soon", "-1s", "1w", "s", "1e3", "2 s s", "1,5s", "Infinity"]) {
      expect([text, parseDuration(text)]).toEqual([text, undefined]);
    }
  });
});
