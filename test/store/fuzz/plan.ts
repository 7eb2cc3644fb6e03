import { encodeStatus, type Status } from "../../../src/agents/builtin/exec/status.ts";
import { bytesOf, withFiles } from "../../corpus/session-files.ts";
import { Finding } from "../../crash/campaign/finding.ts";
import type { Case, Extent, Plan } from "../../crash/campaign/plan.ts";
import { examineLog } from "./log-exam.ts";
import { mutate, type Mutation } from "./mutations.ts";
import { examineQueue } from "./queue-exam.ts";
import { Random, seedFrom } from "../../crash/campaign/random.ts";
import { changeable, makeSeeds, type Seed } from "./seeds.ts";
import {
  examineBlob,
  examineCassette,
  examineClaim,
  examineHead,
  examineLive,
  examineState,
  examineStatus,
} from "./small-exams.ts";

/** So many files are changed in an extent that is not endless. */
const sizes: Readonly<Record<Extent["size"], number>> = { small: 500, full: 200_000, endless: Infinity };

/** Changed files of every kind, read in every way. An address is `<seed>.<number>`. */
export const fuzzPlan: Plan = {
  scenario: "changed files",
  mishap: "fuzz",
  hasChance: true,
  cases: async function* ({ seed, size }) {
    for (let number = 0; number < sizes[size]; number++) yield await caseAt(`${seed}.${number}`);
  },
  caseAt,
};

let seeds: Promise<readonly Seed[]> | undefined;

async function caseAt(address: string): Promise<Case> {
  if (!/^\d+\.\d+$/.test(address)) throw new Error(`there is no case ${address}`);
  seeds ??= makeSeeds();
  const made = await seeds;
  return {
    address,
    run: async () => {
      await runCase(made, new Random(seedFrom(address)));
      return { histories: 1 };
    },
  };
}

async function runCase(made: readonly Seed[], random: Random): Promise<void> {
  const seed = random.of(made);
  const kind = random.below(10);
  const what = kind < 6 ? random.of(logsOf(seed)) : kind < 8 ? "queue.jsonl" : random.of(othersOf(seed));
  const own = contentOf(seed, what);
  const another = random.of(made);
  const other = contentOf(another, what);
  const mayForge = what.endsWith("log.jsonl") || what === "queue.jsonl" || what.startsWith("base/");
  const goesOnBy = random.of(["holding", "repair"] as const);
  const mutation = mutate(own, { random, other, mayForge });
  try {
    await examine({ seed, another, goesOnBy }, what, mutation);
  } catch (error) {
    const where = `${what} of ${seed.name}, ${mutation.name}`;
    if (error instanceof Finding) throw new Finding(error.promise, `${where}: ${error.message}`, error);
    throw new Finding("untyped", `${where}: ${String(error)}`, error);
  }
}

const logsOf = (seed: Seed): string[] =>
  changeable(seed).filter((name) => name === "log.jsonl" || name.startsWith("base/"));

const beside = ["state.json", "claim", "status", "cassette.json", "cassette.yaml"];

function othersOf(seed: Seed): string[] {
  const own = changeable(seed).filter((name) => /^(head|live\.jsonl|blobs\/.*)$/.test(name));
  return [...own, ...beside];
}

interface Chosen {
  readonly seed: Seed;
  /** Whose bytes may have been mixed in. */
  readonly another: Seed;
  readonly goesOnBy: "holding" | "repair";
}

async function examine(
  { seed, another, goesOnBy }: Chosen,
  what: string,
  { bytes, isForged }: Mutation,
): Promise<void> {
  const files = withFiles(seed.lean, { [what]: bytes });
  const known = { sums: new Set([...seed.sums, ...another.sums]), isForged };
  if (what === "log.jsonl" || what.startsWith("base/")) return await examineLog(files, known, goesOnBy);
  if (what === "queue.jsonl") return await examineQueue(files, known);
  if (what === "head") return await examineHead(files, bytes.equals(contentOf(another, what)));
  if (what === "state.json") return await examineState(seed.lean, bytes, "sto_01m8qjssp4m2rsvcsqj510rd43");
  if (what === "live.jsonl") return await examineLive(bytes, seqOf(bytesOf(seed.files, what)));
  if (what === "claim") return await examineClaim(bytes);
  if (what === "status") return await examineStatus(bytes, status, { state: "ended", status });
  if (what.startsWith("blobs/")) return await examineBlob(seed.files, what.slice("blobs/".length), bytes);
  await examineCassette(bytes);
}

function seqOf(live: Buffer): number {
  return Number(/"seq":(\d+)/.exec(live.toString())?.[1] ?? 0);
}

function contentOf(seed: Seed, what: string): Buffer {
  return Buffer.from(fixed[what] ?? bytesOf(seed.files, what));
}

const status: Status = {
  v: 1,
  operation: "op_1",
  nonce: "0123456789abcdef",
  end: { kind: "exited", code: 3 },
  startedAt: 1_764_511_111_111,
  endedAt: 1_764_511_112_111,
  durationMs: 1000.5,
  outputBytes: 12,
  outputSha256: "ab".repeat(32),
  dropped: 0,
  survivors: [{ pid: 4711, command: "sleep 30" }],
  survivorsUnlisted: 0,
};

const claimant = { operation: "op_1", nonce: "0123456789abcdef", pid: 4711, startTime: "1", bootId: "boot" };
const claim = { kind: "start", v: 1, ...claimant, socket: "/run/s", supervisor: "n" };
const turns = [
  { reasoning: "r", text: "é", calls: [{ tool: "write", args: { path: "a", content: "b\n" } }] },
  { error: { status: 429, message: "slow down", retryAfterMs: 50 } },
  { parts: [{ text: "a" }, { tool: "read", argsText: '{"path": "a"}' }], usage: { input: 1, output: 2 } },
];

const state = {
  v: 1,
  store: "sto_01m8qjssp4m2rsvcsqj510rd43",
  device: "dev_01m8qjssp4m2rsvcsqj510rd43",
  inode: "1",
};

/** Files that stand beside no session, or that none of the seeds has. */
const fixed: Readonly<Record<string, Uint8Array | string>> = {
  "state.json": `${JSON.stringify(state)}\n`,
  claim: `${JSON.stringify(claim)}\n`,
  status: encodeStatus(status),
  "cassette.json": JSON.stringify({ cassette: 1, turns }),
  "cassette.yaml": `cassette: 1
turns:
  - reasoning: &r Two small files are enough.
    text: *r
    calls:
      - { tool: write, args: { path: src/a.txt, content: "one\\ntwo" } }
  - error: { status: 429, message: slow down, retryAfterMs: 50 }
  - text: |
      Done.
`,
};
