import fc from "fast-check";
import type { Commit } from "../../src/model/commit.ts";
import type { BaseRef, Fact, OpaqueFact } from "../../src/model/facts.ts";
import { encodeLine, readEnvelope, zeroSum } from "../../src/store/line.ts";
import { created, row } from "./builders.ts";
import { MemoryDisk } from "../crash/memory-disk.ts";
import type { HistorySource, LogPart } from "../../src/store/read-log.ts";

/**
 * Builds logs as a writer would, with counters of its own: naive lists of message ids, and a table of records written
 * down a second time. So what readers say is compared with something that they do not compute themselves.
 */

/** Any fact, also of kinds that nobody knows. */
export type AnyFact = Fact | OpaqueFact;

/** A line that stands in a built file. */
export interface BuiltLine {
  readonly verdict: "accepted" | "void";
  readonly offset: number;
  readonly bytes: Buffer;
  readonly commit: Commit;
}

const time = 1_764_511_111_111;

/** Records of one fact, by the table of format 1. */
export function recordsOf(fact: AnyFact): number {
  if (["op.asked", "compacted", "system.changed"].includes(fact.kind)) return 1;
  if (fact.kind !== "message") return 0;
  const types = (fact as { parts: { type: string }[] }).parts.map((part) => part.type);
  const spoken = types.some((type) => ["text", "reasoning", "image"].includes(type)) ? 1 : 0;
  return spoken + types.filter((type) => ["context", "mail", "notice"].includes(type)).length;
}

/** A file of a history, cut where a branch left it. */
interface BuiltPart {
  readonly builder: LogBuilder;
  readonly base: BaseRef;
}

/** One session's log that grows line by line. */
export class LogBuilder {
  readonly session: string;
  readonly parents: readonly BuiltPart[];
  readonly lines: BuiltLine[] = [];
  /** Message ids that were visible after each line, by `session:seq`. */
  readonly #visibleAfter = new Map<string, readonly string[]>();
  #visible: readonly string[] = [];
  #rec = 0;
  #rev = 0;
  #row = 0;
  #epoch = 0;

  /** Starts with line 0. */
  constructor(session: string, parents: readonly BuiltPart[] = [], facts: readonly AnyFact[] = [row("new")]) {
    this.session = session;
    this.parents = parents;
    for (const commit of this.inherited) this.#count(commit.facts, commit);
    const bases = parents.map((part) => part.base);
    this.add([bases.length === 0 ? created : { ...created, bases }, ...facts]);
  }

  /** Accepted lines of the bases, oldest first. */
  get inherited(): readonly Commit[] {
    return this.parents.flatMap(({ builder, base }) =>
      builder.accepted.filter((line) => line.commit.seq <= base.seq).map((line) => line.commit),
    );
  }

  /** Accepted lines of this file. */
  get accepted(): readonly BuiltLine[] {
    return this.lines.filter((line) => line.verdict === "accepted");
  }

  /** What a full reading gives. */
  get commits(): readonly Commit[] {
    return [...this.inherited, ...this.accepted.map((line) => line.commit)];
  }

  get bytes(): Buffer {
    return Buffer.concat(this.lines.map((line) => line.bytes));
  }

  get size(): number {
    const last = this.lines.at(-1);
    return last === undefined ? 0 : last.offset + last.bytes.length;
  }

  /** Appends an accepted line, whose epoch rises where the first fact says so. `lies` are put in place of the truth. */
  add(facts: readonly AnyFact[], lies: Partial<Commit> = {}): BuiltLine {
    const last = this.accepted.at(-1)?.commit;
    if (facts[0]?.kind === "epoch.raised") this.#epoch++;
    const [rec, row] = [this.#rec, this.#row];
    const position = { ses: this.session, seq: (last?.seq ?? -1) + 1 };
    this.#count(facts, position);
    if (facts.some((fact) => fact.kind === "row")) this.#row = this.size;
    const line = this.#build("accepted", {
      ...position,
      facts,
      epoch: this.#epoch,
      rec,
      rev: this.#rev,
      msgs: this.#visible.length,
      row,
      prev: last?.sum ?? this.parents.at(-1)?.base.sum ?? zeroSum,
      ...lies,
    });
    this.lines.push(line);
    return line;
  }

  /** Appends what a stale writer would: a line in the place of an accepted one. */
  addStale(seq: number, facts: readonly AnyFact[]): BuiltLine {
    const original = this.accepted[seq]?.commit;
    if (original === undefined) throw new Error(`no line ${seq}`);
    const line = this.#build("void", { ...original, facts, epoch: Math.max(0, original.epoch - 1) });
    this.lines.push(line);
    return line;
  }

  /** Appends a line again, byte for byte. */
  addAgain(index: number): void {
    const line = this.lines[index];
    if (line === undefined) throw new Error(`no line ${index}`);
    this.lines.push({ ...line, verdict: "void", offset: this.size });
  }

  /** A branch that goes on after an accepted line of this file, or of the base `part`. */
  fork(session: string, seq: number, part = this.parents.length): LogBuilder {
    const builder = this.parents[part]?.builder ?? this;
    const line = builder.accepted[seq];
    if (line === undefined) throw new Error(`no line ${seq}`);
    const base = {
      session: builder.session,
      seq,
      sum: line.commit.sum,
      bytes: line.offset + line.bytes.length,
    };
    return new LogBuilder(session, [...this.parents.slice(0, part), { builder, base }]);
  }

  /** What readers are given: the files on a disk in memory, the session's own log with `bytes` in it. */
  source(bytes: Uint8Array = this.bytes): HistorySource & { readonly disk: MemoryDisk } {
    const disk = new MemoryDisk();
    disk.plant("/log", bytes);
    const bases = this.parents.map(({ builder, base }, index): LogPart => {
      disk.plant(`/base/${index}`, builder.bytes);
      return { path: `/base/${index}`, session: builder.session, base };
    });
    return { disk, bases, own: { path: "/log", session: this.session } };
  }

  /** How a failed property shows it. */
  [fc.toStringMethod](): string {
    const lineText = ({ verdict, offset, commit }: BuiltLine) =>
      `${verdict === "void" ? "void " : ""}${commit.seq}/${commit.epoch}@${offset}:${commit.facts.map((fact) => fact.kind).join("+")}`;
    const parents = this.parents.map(({ builder, base }) => `${builder[fc.toStringMethod]()} to ${base.seq}`);
    return [...parents, `[${this.lines.map(lineText).join(" ")}]`].join(" | ");
  }

  #build(verdict: BuiltLine["verdict"], fields: Omit<Commit, "v" | "sum" | "at">): BuiltLine {
    const { facts, ...envelope } = fields;
    const input = { ...envelope, at: time + this.lines.length };
    const bytes = Buffer.from(encodeLine(input, facts));
    const sum = readEnvelope(bytes)?.sum;
    if (sum === undefined) throw new Error("a built line does not verify");
    const parsed = JSON.parse(bytes.toString()) as Commit;
    return { verdict, offset: this.size, bytes, commit: { ...parsed, sum } };
  }

  #count(facts: readonly AnyFact[], at: { ses: string; seq: number }): void {
    let visible = this.#visible;
    for (const fact of facts) {
      this.#rec += recordsOf(fact);
      if (fact.kind === "message") visible = [...visible, (fact as { id: string }).id];
      if (fact.kind === "rewound") {
        const { session, seq } = fact as { session: string; seq: number };
        visible = this.#visibleAfter.get(`${session}:${seq}`) ?? visible;
      }
    }
    if (visible.join() !== this.#visible.join()) this.#rev++;
    this.#visible = visible;
    this.#visibleAfter.set(`${at.ses}:${at.seq}`, visible);
  }
}
