/**
 * Lets the n-th effect of a scenario fail, once and from then on, for n = 0, 1, 2, … until it passes; then looks whether
 * every failure was told as a typed one, whether the same process and a new one can go on, and what a power cut leaves.
 */
import { isHoldfastError } from "../../src/model/errors.ts";
import { goOn } from "../store/go-on.ts";
import { prepared, type Scenario } from "./every-crash.ts";
import type { Effect, Fault, Verb } from "./memory-disk.ts";
import type { World } from "./world.ts";

/** A way to fail, and the effects that it befalls. */
export interface FaultKind {
  readonly name: string;
  readonly fault: Fault;
  readonly verbs: ReadonlySet<Verb>;
}

const opening: readonly Verb[] = ["open", "create", "lock", "list", "fileSystem", "syncDirectory", "cutTail"];
const naming: readonly Verb[] = ["create", "makeDirectory", "rename", "link", "remove"];
const touching: readonly Verb[] = ["read", "write", "sync", "truncate", "stat", "statLink", "statFile"];

/** What may fail, and how. */
export const faultKinds: readonly FaultKind[] = [
  { name: "EIO", fault: { code: "EIO" }, verbs: new Set([...opening, ...naming, ...touching]) },
  { name: "EIO after a cut", fault: { afterwards: "EIO" }, verbs: new Set(["cutTail"]) },
  { name: "ENOSPC", fault: { code: "ENOSPC" }, verbs: new Set(["write", "sync", ...naming]) },
  { name: "EMFILE", fault: { code: "EMFILE" }, verbs: new Set(opening) },
  { name: "EACCES", fault: { code: "EACCES" }, verbs: new Set(["open", "lock", "list", ...naming]) },
  { name: "a short write", fault: { short: 7 }, verbs: new Set(["write"]) },
];

/** How much was looked at. */
export interface FaultTally {
  faults: number;
  /** Runs in which nothing failed. */
  passed: number;
  /** Runs after which it was unknown what is on disk, and somebody had to repair it. */
  repaired: number;
  /** Runs after which it was unknown, and the disk took no note of it either. */
  unnoted: number;
  readonly codes: Record<string, number>;
}

/** Fails everywhere; throws at the first state that the product does not master, naming it. */
export async function everyFault(scenario: Scenario, kind: FaultKind): Promise<FaultTally> {
  const tally: FaultTally = { faults: 0, passed: 0, repaired: 0, unnoted: 0, codes: {} };
  const start = await prepared(scenario);
  for (const sticky of [false, true]) {
    for (let n = 0; ; n++) {
      const world = start.killed();
      const failed = await actWithFault(scenario, world, { kind, n, sticky, tally });
      if (failed === undefined) break;
      tally.faults++;
      const label = `${kind.name} ${sticky ? "from" : "at"} ${failed.first}`;
      try {
        await examine(scenario, world, { ...failed, tally });
      } catch (error) {
        const code = isHoldfastError(error) ? `${error.code}: ` : "";
        throw new Error(`${label}: ${code}${String(error)}`, { cause: error });
      }
    }
    tally.passed++;
  }
  return tally;
}

interface Failed {
  /** The first effect that failed. */
  readonly first: string;
  /** The code of what the scenario rejected with, if it did. */
  readonly code: string | undefined;
}

/** Resolves to undefined where the scenario has no n-th effect that could fail so. */
async function actWithFault(
  scenario: Scenario,
  world: World,
  { kind, n, sticky, tally }: { kind: FaultKind; n: number; sticky: boolean; tally: FaultTally },
): Promise<Failed | undefined> {
  let count = 0;
  let first: string | undefined;
  world.disk.fault = (effect: Effect) => {
    // What the scenario does by hand is not the product's.
    if (effect.process === "main" || !kind.verbs.has(effect.verb)) return undefined;
    const index = count++;
    if (index !== n && !(sticky && index > n)) return undefined;
    first ??= `effect ${effect.index} (${effect.process}: ${effect.verb} ${effect.path})`;
    // A short write of less than it would take anyway is none.
    if (kind.fault.short !== undefined && (effect.bytes ?? 0) <= kind.fault.short) return { short: 0 };
    return kind.fault;
  };
  const code = await codeOf(scenario.act(world)).catch((error: unknown) => {
    throw new Error(`untyped ${String(error)} at ${first}`, { cause: error });
  });
  if (code !== undefined) tally.codes[code] = (tally.codes[code] ?? 0) + 1;
  world.disk.fault = undefined;
  return first === undefined ? undefined : { first, code };
}

const allowed = new Set(["io_error", "disk_full", "durability_unknown"]);

async function examine(
  scenario: Scenario,
  world: World,
  failed: Failed & { tally: FaultTally },
): Promise<void> {
  const { tally } = failed;
  if (failed.code !== undefined && !allowed.has(failed.code)) throw new Error(`told as ${failed.code}`);
  const isUnknown = failed.code === "durability_unknown";
  if (isUnknown && !isNoted(world)) {
    // The disk takes neither the cut nor the note: what it tells other processes is documented to be a guess.
    tally.unnoted++;
    return await goOn(world.crashed());
  }
  const codeNow = await codeOf(scenario.again?.(world));
  if (codeNow !== undefined && codeNow !== failed.code)
    throw new Error(`told as ${codeNow} when none fails any more`);
  const again = world.killed();
  if (isUnknown) {
    tally.repaired++;
    again.oracle.mayRepair = true;
  }
  await goOn(again);
  await goOn(again.crashed());
}

/** The code of a failure; undefined where there is none. */
async function codeOf(attempt: Promise<void> | undefined): Promise<string | undefined> {
  try {
    await attempt;
    return undefined;
  } catch (error) {
    if (isHoldfastError(error)) return error.code;
    throw error;
  }
}

function isNoted({ disk }: World): boolean {
  const heads = disk.files().filter((path) => path.endsWith("/head"));
  return heads.some((path) => Buffer.from(disk.peek(path) ?? "").includes('"unsure":[{'));
}
