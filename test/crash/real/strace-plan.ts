import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createSession } from "../../../src/engine/index.ts";
import { promised } from "../campaign/finding.ts";
import type { Case, Counts, Extent, Plan } from "../campaign/plan.ts";
import { CliPlay, storageRefusals } from "./cli-play.ts";
import { draw } from "./draw.ts";
import { Room } from "./room.ts";
import { skipCase } from "./skip-case.ts";

/** What befalls the `at`-th of these calls of the system. */
interface Injection {
  readonly call: string;
  /** A failure's name, or SIGKILL. */
  readonly what: string;
  readonly at: number;
  /** True where all later ones fail too. */
  readonly isLasting: boolean;
}

/** Which calls fail how; `step`: every how manieth is looked at in full. */
const faults: readonly { readonly call: string; readonly whats: readonly string[]; readonly step: number }[] =
  [
    { call: "fdatasync", whats: ["EIO", "ENOSPC", "SIGKILL"], step: 2 },
    { call: "fsync", whats: ["EIO", "SIGKILL"], step: 2 },
    { call: "write", whats: ["ENOSPC", "EIO", "SIGKILL"], step: 2 },
    { call: "pwrite64", whats: ["ENOSPC", "EIO", "SIGKILL"], step: 2 },
    { call: "openat", whats: ["EMFILE", "EACCES", "EIO"], step: 10 },
    { call: "link", whats: ["ENOSPC", "EACCES"], step: 1 },
    { call: "rename", whats: ["ENOSPC", "EACCES", "EIO", "SIGKILL"], step: 2 },
    { call: "unlink", whats: ["EIO", "SIGKILL"], step: 2 },
    { call: "mkdir", whats: ["ENOSPC", "EACCES"], step: 2 },
  ];

/** Calls whose failure may leave it unknown what is on disk. */
const mayDoubt = new Set(["fdatasync", "fsync", "write", "pwrite64", "openat"]);

/** The built program runs a command and an edit while strace has its calls of the system fail. */
export function stracePlan(): Plan {
  const room = new Room();
  let counts: Promise<ReadonlyMap<string, number>> | undefined;
  const reason = whyNot();
  const caseOf = (injection: Injection): Case => ({
    address: [injection.call, injection.what, injection.at, injection.isLasting ? "on" : "once"].join("."),
    run: () => inject(room, injection),
  });
  return {
    scenario: "system-calls",
    mishap: "strace",
    isReal: true,
    async *cases(extent) {
      if (reason !== undefined) {
        yield skipCase(reason);
        return;
      }
      counts ??= countCalls(room);
      for (const injection of injectionsOf(await counts, extent)) yield caseOf(injection);
    },
    caseAt: async (address) => {
      if (address === "skipped") return skipCase(reason ?? "it could run");
      const [call = "", what = "", at = "", lasting = ""] = address.split(".");
      return caseOf({ call, what, at: Number(at), isLasting: lasting === "on" });
    },
    end: () => room.end(),
  };
}

function whyNot(): string | undefined {
  const tried = spawnSync("strace", ["-qq", "-o", "/dev/null", "-e", "trace=fsync", "true"], {
    encoding: "utf8",
  });
  if (tried.error !== undefined) return `there is no strace: ${tried.error.message}`;
  return tried.status === 0 ? undefined : `strace may not follow a process here: ${tried.stderr.trim()}`;
}

function* injectionsOf(counts: ReadonlyMap<string, number>, { seed, size }: Extent): Generator<Injection> {
  if (size === "small") {
    const half = (call: string): number => Math.ceil((counts.get(call) ?? 0) * 0.6);
    yield { call: "fdatasync", what: "EIO", at: half("fdatasync"), isLasting: false };
    yield { call: "pwrite64", what: "ENOSPC", at: half("pwrite64"), isLasting: true };
    return;
  }
  if (size === "endless") {
    for (let round = 0; ; round++) {
      const { call, whats } = faults[draw(faults.length, seed, "call", round)] ?? {
        call: "fsync",
        whats: ["EIO"],
      };
      const what = whats[draw(whats.length, seed, "what", round)] ?? "EIO";
      const at = 1 + draw(counts.get(call) ?? 1, seed, "at", round);
      yield { call, what, at, isLasting: what !== "SIGKILL" && draw(2, seed, "lasting", round) === 0 };
    }
  }
  yield* allInjections(counts, seed);
}

/** One of each, then the next of each: whoever stops early has seen something of everything. */
function* allInjections(counts: ReadonlyMap<string, number>, seed: number): Generator<Injection> {
  const most = Math.max(...counts.values());
  for (let at = 1; at <= most + 1; at++) {
    for (const { call, whats, step } of faults) {
      // One more than there are: it passes without a fault.
      if (at > (counts.get(call) ?? 0) + 1 || (at + draw(step, seed)) % step !== 0) continue;
      for (const what of whats) {
        const isLasting = what === "SIGKILL" ? [false] : [false, true];
        for (const lasting of isLasting) yield { call, what, at, isLasting: lasting };
      }
    }
  }
}

/**
 * Node itself tells its threads things by `write`, which no real system ever refuses, and hangs where one is refused. So
 * these are only those to the files of a session, whose paths must be known before: it is there already.
 */
async function onlyFiles(play: CliPlay, call: string): Promise<string[]> {
  if (call !== "write") return [];
  const { home, model } = play.staged;
  await createSession(await home.engine(), home.task(model));
  return ["log.jsonl", "queue.jsonl"].flatMap((name) => ["-P", home.inSession(name)]);
}

function startUnder(play: CliPlay, options: readonly string[]): { file: string; args: string[] } {
  const log = join(play.staged.home.folder, "strace");
  return { file: "strace", args: ["-q", "-o", log, ...options, ...play.words] };
}

async function countCalls(room: Room): Promise<ReadonlyMap<string, number>> {
  const others = faults.map(({ call }) => call).filter((call) => call !== "write");
  return new Map([...(await countOf(room, others)), ...(await countOf(room, ["write"]))]);
}

async function countOf(room: Room, calls: readonly string[]): Promise<[string, number][]> {
  const play = new CliPlay(room);
  try {
    const files = await onlyFiles(play, calls.join());
    const end = await play.call(startUnder(play, ["-e", `trace=${calls.join(",")}`, ...files]));
    promised(end.code === 0, "other", () => `the program does not even run under strace: ${end.stderr}`);
    const log = readFileSync(join(play.staged.home.folder, "strace"), "utf8").split("\n");
    return calls.map((call) => [call, log.filter((line) => line.startsWith(`${call}(`)).length]);
  } finally {
    await play.end();
  }
}

async function inject(room: Room, { call, what, at, isLasting }: Injection): Promise<Partial<Counts>> {
  const play = new CliPlay(room);
  const isKill = what === "SIGKILL";
  const effect = isKill ? "signal=SIGKILL" : `error=${what}`;
  const when = `${at}${isLasting ? "+" : ""}`;
  try {
    const files = await onlyFiles(play, call);
    const options = ["-e", `trace=${call}`, "-e", `inject=${call}:${effect}:when=${when}`, ...files];
    const end = await play.call(startUnder(play, options));
    const path = join(play.staged.home.folder, "strace");
    const log = existsSync(path) ? readFileSync(path, "utf8") : "";
    const failure = play.failureOf(end);
    // A failure may have met what matters to nobody, or a tool, whose result says so; what else ends a call is refused storage.
    if (failure !== undefined) {
      promised(
        storageRefusals.has(failure),
        "untyped",
        () => `${what} of ${call} is told as ${failure}: ${end.stderr}`,
      );
    }
    await play.judge(!isKill && mayDoubt.has(call));
    return {
      kills: log.includes("killed by SIGKILL") ? 1 : 0,
      faults: isKill ? 0 : log.split("(INJECTED)").length - 1,
    };
  } finally {
    await play.end();
  }
}
