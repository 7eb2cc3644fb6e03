import { linesOf } from "../../corpus/session-files.ts";
import { resealed } from "../../corpus/lines.ts";
import type { Random } from "../../crash/campaign/random.ts";

/** What happens to the bytes of a file. None of them knows what the bytes mean, but that lines end at 0x0A. */

/** Changes bytes; `other` are those of a file of the same kind of another session. */
type Change = (bytes: Buffer, random: Random, other: Buffer) => Buffer;

const oddities = [
  Buffer.alloc(1),
  Buffer.alloc(600),
  Buffer.from("\r"),
  Buffer.from("\n"),
  Buffer.from("\u2028"),
  Buffer.from("\ufeff"),
  Buffer.of(0xc0, 0xaf),
  Buffer.of(0xed, 0xa0, 0x80),
  Buffer.of(0xff),
  Buffer.from(" "),
  Buffer.from('{"v":1,"ses":"'),
  Buffer.from('"}\n'),
  Buffer.from(',"__proto__":{"kind":"row"}'),
  Buffer.from(',"seq":0'),
  Buffer.from("[".repeat(5000)),
  Buffer.from('{"a":'.repeat(400)),
];

const numbers = [
  "-1",
  "-0",
  "00",
  "1e99",
  "0.5",
  "9007199254740992",
  "18446744073709551616",
  "9".repeat(400),
  "1E",
  "",
];

const splice = (bytes: Buffer, at: number, removed: number, added: Uint8Array = Buffer.alloc(0)): Buffer =>
  Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);

function onLines(change: (lines: Buffer[], random: Random, other: Buffer[]) => readonly Buffer[]): Change {
  return (bytes, random, other) => Buffer.concat(change(linesOf(bytes), random, linesOf(other)));
}

/** By name: what a report says. */
const changes: Readonly<Record<string, Change>> = {
  bytes: (bytes, random) => {
    const copy = Buffer.from(bytes);
    for (let left = 1 + random.below(4); left > 0; left--)
      copy[random.below(copy.length)] = random.below(256);
    return copy;
  },
  bits: (bytes, random) => {
    const copy = Buffer.from(bytes);
    for (let left = 1 + random.below(4); left > 0; left--) {
      const at = random.below(copy.length);
      copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
    }
    return copy;
  },
  cut: (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1)),
  "cut near the end": (bytes, random) => bytes.subarray(0, Math.max(0, bytes.length - random.below(90))),
  "cut at a line end": onLines((lines, random) => lines.slice(0, random.below(lines.length + 1))),
  "beginning lost": (bytes, random) => bytes.subarray(random.below(bytes.length + 1)),
  "piece lost": (bytes, random) => splice(bytes, random.below(bytes.length), 1 + random.below(200)),
  "piece of zeros": (bytes, random) => {
    const at = random.below(bytes.length);
    const length = Math.min(bytes.length - at, 1 + random.below(512));
    return splice(bytes, at, length, Buffer.alloc(length));
  },
  "piece again": (bytes, random) => {
    const at = random.below(bytes.length);
    return splice(bytes, random.below(bytes.length), 0, bytes.subarray(at, at + 1 + random.below(400)));
  },
  oddity: (bytes, random) => splice(bytes, random.below(bytes.length + 1), 0, random.of(oddities)),
  "oddity between lines": onLines((lines, random) => {
    lines.splice(random.below(lines.length + 1), 0, random.of(oddities));
    return lines;
  }),
  "oddity before a newline": onLines((lines, random) => {
    const at = random.below(lines.length);
    const line = lines[at] ?? Buffer.alloc(0);
    lines[at] = splice(line, Math.max(0, line.length - 1), 0, random.of(oddities));
    return lines;
  }),
  "newline lost": onLines((lines, random) => {
    const at = random.below(lines.length);
    lines[at] = (lines[at] ?? Buffer.alloc(0)).subarray(0, -1);
    return lines;
  }),
  "lines swapped": onLines((lines, random) => {
    const [one, two] = [random.below(lines.length), random.below(lines.length)];
    const kept = lines[one] ?? Buffer.alloc(0);
    lines[one] = lines[two] ?? Buffer.alloc(0);
    lines[two] = kept;
    return lines;
  }),
  "lines again": onLines((lines, random) => {
    const at = random.below(lines.length);
    const block = lines.slice(at, at + 1 + random.below(3));
    lines.splice(random.below(lines.length + 1), 0, ...block);
    return lines;
  }),
  "lines lost": onLines((lines, random) => {
    lines.splice(random.below(lines.length), 1 + random.below(3));
    return lines;
  }),
  "lines of another session": onLines((lines, random, other) => {
    const from = random.below(other.length);
    lines.splice(random.below(lines.length + 1), 0, ...other.slice(from, from + 1 + random.below(3)));
    return lines;
  }),
  "another session behind it": (bytes, _random, other) => Buffer.concat([bytes, other]),
  "another session before it": (bytes, _random, other) => Buffer.concat([other, bytes]),
  "number changed": (bytes, random) => {
    const found = [...bytes.toString("latin1").matchAll(/(?<=[:,[])\d+(?=[,}\]])/g)];
    if (found.length === 0) return bytes;
    const { index, 0: digits } = random.of(found);
    return splice(bytes, index, digits.length, Buffer.from(random.of(numbers)));
  },
  "member again": (bytes, random) => {
    const found = [...bytes.toString("latin1").matchAll(/"\w+":(\d+|"\w*"|true|false),/g)];
    if (found.length === 0) return bytes;
    const { index, 0: member } = random.of(found);
    return splice(bytes, index, 0, Buffer.from(member, "latin1"));
  },
};

/** Changes to the last whole line, which then has the right sum of what it says: nobody wrote it, and it verifies. */
const forgeries: Readonly<Record<string, Change>> = Object.fromEntries(
  ["bytes", "bits", "oddity", "piece lost", "piece again", "number changed", "member again"].map((name) => [
    `${name}, sealed`,
    onLines((lines, random, other) => {
      const change = changes[name];
      const last = lines.findLastIndex((line) => line.at(-1) === 0x0a);
      const line = lines[last];
      const from = line?.indexOf('"facts":[') ?? -1;
      if (change === undefined || line === undefined || from === -1) return lines;
      const facts = line.subarray(from + 9, line.length - 86);
      const changed = change(Buffer.from(facts), random, Buffer.concat(other)).toString("latin1");
      lines[last] = resealed(line, (text) => text.replace(facts.toString("latin1"), () => changed));
      return lines;
    }),
  ]),
);

/** What was done to a file. */
export interface Mutation {
  /** For people. */
  readonly name: string;
  readonly bytes: Buffer;
  /** True where a line that nobody wrote has the right sum. */
  readonly isForged: boolean;
}

/** Changes a file once or twice. `mayForge`: it consists of lines with sums. */
export function mutate(
  bytes: Buffer,
  { random, other, mayForge }: { random: Random; other: Buffer; mayForge: boolean },
): Mutation {
  const names: string[] = [];
  let changed = bytes;
  for (let left = random.below(3) === 0 ? 2 : 1; left > 0; left--) {
    const table = mayForge && random.below(5) === 0 ? forgeries : changes;
    const [name, change] = random.of(Object.entries(table));
    names.push(name);
    changed = Buffer.from(changed.length === 0 ? changed : change(changed, random, other));
  }
  const isForged = names.some((name) => name.endsWith("sealed"));
  return { name: names.join(" + "), bytes: changed, isForged };
}
