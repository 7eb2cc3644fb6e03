import { SessionFold } from "../../../src/engine/worker.ts";
import type { Commit } from "../../../src/model/commit.ts";
import type { Repaired } from "../../../src/model/facts.ts";
import { readPage } from "../../../src/store/page.ts";
import type { Store } from "../../../src/store/index.ts";
import { openSession, storeOn } from "../../corpus/opened.ts";
import { plant, stateDirectory, type SessionFiles } from "../../corpus/session-files.ts";
import { promised } from "../../crash/campaign/finding.ts";
import type { MemoryDisk } from "../../crash/memory-disk.ts";
import { message } from "../builders.ts";
import { changedOrRefused, reading } from "./looked-at.ts";

/** What must hold of a session whose log, or a base of it, is no longer what its writers left. */

/** What was known before. */
export interface Known {
  /** The sums of all lines that somebody wrote, those of stale writers too. */
  readonly sums: ReadonlySet<string>;
  /** True where a line may have the right sum though nobody wrote it. */
  readonly isForged: boolean;
}

/** What a strict reading gave. */
interface Read {
  readonly commits: readonly Commit[];
  readonly remainder: string;
  readonly damage: { readonly offset: number; readonly line: number } | undefined;
  /** True where lines that stand twice are the end: who reads from behind takes them for it. No writer leaves that. */
  readonly endsTwice: boolean;
}

const repairing = { version: "0.1.0", visit: () => undefined, visitQueue: () => undefined };

/** Examines a session in every way that reads it, and in one of those that go on with it. Throws a finding. */
export async function examineLog(
  files: SessionFiles,
  known: Known,
  goesOnBy: "holding" | "repair",
): Promise<void> {
  const disk = plant(files);
  const read = await examineReading(disk, files.session, known);
  await examineTail(disk, files.session, read);
  if (goesOnBy === "holding") await examineHolding(plant(files), files.session, read);
  else await examineRepair(plant(files), files.session, read);
}

async function examineReading(disk: MemoryDisk, session: string, known: Known): Promise<Read> {
  const store = storeOn(disk);
  const shown: Commit[] = [];
  const diagnostic = await reading(disk, "diagnostic reading", () =>
    store.readHistory(session, (commit) => void shown.push(commit)),
  );
  promised(diagnostic.value !== undefined, "untyped", () => `showing: ${String(diagnostic.error)}`);
  const commits: Commit[] = [];
  const strict = await reading(disk, "strict reading", () =>
    store.readStrictly(session, (commit) => void commits.push(commit)),
  );
  const { damage } = diagnostic.value ?? {};
  const at = strict.error?.details.at;
  promised(
    (strict.error === undefined) === (damage === undefined),
    "other",
    () => "strict and diagnostic differ",
  );
  if (strict.error !== undefined) {
    const { code } = strict.error;
    promised(code === "log_damaged" || code === "unsupported_version", "untyped", () => `strict: ${code}`);
    promised(at !== undefined && at.offset === damage?.offset, "untyped", () => "damage without its place");
  }
  promised(
    sumsOf(shown) === sumsOf(commits),
    "other",
    () => "showing shows another prefix than strict reading",
  );
  expectWritten(commits, known);
  // What nobody wrote and still verifies is folded, projected and shown like all else.
  if (known.isForged) await reading(disk, "showing", () => openSession(disk, session));
  const remainder = damage === undefined ? (diagnostic.value?.history.remainder.state ?? "") : "damaged";
  const voids = diagnostic.value?.history.voids ?? [];
  const endsTwice = voids.some(({ seq }, index) => voids[index + 1]?.seq === seq + 1);
  return { commits, remainder, damage, endsTwice };
}

/** Never another history: each line is one that was written, and continues the one before it. */
export function expectWritten(commits: readonly Commit[], { sums, isForged }: Known): void {
  for (const [index, { sum, seq, prev }] of commits.entries()) {
    const isFirst = seq === 0 || prev === commits[index - 1]?.sum;
    promised(isFirst, "false success", () => `line ${index} does not continue the one before it`);
    // Whoever forges a sum can make one line at the end, and nothing behind it.
    const isWritten = sums.has(sum) || (isForged && index === commits.length - 1);
    promised(isWritten, "false success", () => `line ${index} is none that was written`);
  }
}

async function examineTail(disk: MemoryDisk, session: string, read: Read): Promise<void> {
  const store = storeOn(disk);
  const source = await store.source(session);
  for (const recordsMin of [2, Number.MAX_SAFE_INTEGER]) {
    const { value: page } = await reading(disk, "page", () => readPage(source, { recordsMin }));
    if (page === undefined || page.damage !== undefined) continue;
    const isAll = !page.hasMore;
    if (read.damage !== undefined) {
      // What a page cannot see of older lines it does not claim; only a message's second coming can it not see here.
      promised(!isAll || isTwice(page.commits), "other", () => "a page of everything shows no damage");
      continue;
    }
    if (read.endsTwice && !isAll) continue;
    const tail = read.commits.slice(read.commits.length - page.commits.length);
    promised(sumsOf(page.commits) === sumsOf(tail), "other", () => "a page and a full reading differ");
    promised(page.remainder.state === read.remainder, "other", () => "a page sees another remainder");
  }
  const { value: last } = await reading(disk, "last row", () => store.lastRow(session));
  if (read.damage !== undefined || read.endsTwice || last === undefined || "damage" in last) return;
  promised(last.head.sum === read.commits.at(-1)?.sum, "other", () => "a list sees another last line");
}

function isTwice(commits: readonly Commit[]): boolean {
  const ids = commits.flatMap(({ facts }) =>
    facts.flatMap((fact) => (fact.kind === "message" ? [(fact as unknown as { id: string }).id] : [])),
  );
  const rewinds = commits.some(({ facts }) => facts.some(({ kind }) => kind === "rewound"));
  return rewinds || new Set(ids).size < ids.length;
}

/** Resumed it is either right, or refused with every byte as it was. */
async function examineHolding(disk: MemoryDisk, session: string, read: Read): Promise<void> {
  const before = bytesAt(disk, session);
  const store = storeOn(disk);
  const fold = new SessionFold(session);
  const { value: held } = await changedOrRefused(
    "holding",
    store.hold(session, {
      ...repairing,
      acceptRollback: false,
      visit: (commit) => fold.take(commit),
    }),
  );
  if (held === undefined) {
    promised(
      bytesAt(disk, session).equals(before),
      "foreign write",
      () => "a refused holder changed the log",
    );
    return;
  }
  const said = await changedOrRefused("appending", held.append([message("it goes on")]));
  await changedOrRefused(
    "letting go",
    held.release(() => true),
  );
  if (said.error === undefined) await expectGoesOn(store, session, read);
}

async function expectGoesOn(store: Store, session: string, read: Read): Promise<void> {
  const after: Commit[] = [];
  const { history } = await store
    .readStrictly(session, (commit) => void after.push(commit))
    .then((value) => ({ history: value }));
  const kept = sumsOf(after.slice(0, read.commits.length)) === sumsOf(read.commits);
  promised(kept, "lost", () => "what was read before is not there after going on");
  promised(history.remainder.state === "none", "stuck", () => "it ends in a piece after going on");
  const text = JSON.stringify(after.slice(read.commits.length));
  promised(text.includes("it goes on"), "lost", () => "what was appended is not there");
}

/** Repaired twice is repaired once; nothing goes but what stands behind the last line, and that is kept. */
async function examineRepair(disk: MemoryDisk, session: string, read: Read): Promise<void> {
  const before = bytesAt(disk, session);
  const store = storeOn(disk);
  const first = await changedOrRefused("repair", store.repair(session, repairing));
  const after = bytesAt(disk, session);
  if (first.error !== undefined) {
    promised(after.equals(before), "foreign write", () => "a refused repair changed the log");
    return;
  }
  const repaired = first.value?.find(({ file }) => file === "log")?.repaired;
  promised(
    (repaired !== undefined) === (read.remainder !== "none"),
    "other",
    () => "it repaired something else",
  );
  expectKept(disk, { before, after }, repaired);
  const again = await changedOrRefused("second repair", store.repair(session, repairing));
  const isNothing = again.value?.every((one) => one.repaired === undefined) ?? false;
  promised(isNothing, "repeated", () => `a second repair: ${String(again.error ?? "repaired again")}`);
  promised(bytesAt(disk, session).equals(after), "repeated", () => "a second repair changed the log");
}

function expectKept(
  disk: MemoryDisk,
  { before, after }: { before: Buffer; after: Buffer },
  repaired?: Repaired,
): void {
  const offset = repaired?.action === "cut" ? repaired.offset : before.length;
  const kept = after.subarray(0, offset).equals(before.subarray(0, offset));
  promised(kept, "lost", () => "a repair changed what precedes the end");
  if (repaired?.saved === undefined) return;
  const saved = disk.peek(`${stateDirectory}/recovery/${repaired.saved}`) ?? new Uint8Array();
  promised(before.subarray(offset).equals(saved), "lost", () => "what was cut is not kept");
}

function bytesAt(disk: MemoryDisk, session: string): Buffer {
  return Buffer.from(disk.peek(`${stateDirectory}/sessions/${session}/log.jsonl`) ?? []);
}

function sumsOf(commits: readonly Commit[]): string {
  return commits.map(({ sum }) => sum).join();
}
