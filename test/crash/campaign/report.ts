import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { addCounts, noCounts, type FoundFault, type TaskResult } from "./task.ts";
import type { Counts } from "./plan.ts";
import type { Wish } from "./schedule.ts";

/** What a campaign came to, as campaign.json has it. */
export interface CampaignReport {
  readonly commit: string;
  readonly node: string;
  readonly platform: string;
  readonly cores: number;
  readonly seed: number;
  readonly size: "small" | "full";
  readonly startedAt: string;
  readonly durationMs: number;
  readonly totals: Counts;
  /** So many plans were wanted; those that found time are listed. */
  readonly planCount: number;
  readonly plans: readonly PlanReport[];
  readonly found: readonly (FoundFault & { readonly repeat: string })[];
  readonly skipped: readonly string[];
}

/** What one plan came to. */
export interface PlanReport {
  readonly plan: string;
  readonly cases: number;
  readonly counts: Counts;
  readonly durationMs: number;
  readonly cpuMs: number;
}

/** What a report says of the campaign besides its results. */
interface Circumstances extends Pick<Wish, "seed" | "size"> {
  readonly planCount: number;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** Puts together what all tasks came to. */
export function reportOf(
  results: readonly TaskResult[],
  { planCount, seed, size, startedAt, durationMs }: Circumstances,
): CampaignReport {
  const plans = new Map<string, PlanReport>();
  for (const result of results) {
    const before = plans.get(result.plan) ?? { cases: 0, counts: noCounts, durationMs: 0, cpuMs: 0 };
    plans.set(result.plan, {
      plan: result.plan,
      cases: before.cases + result.cases,
      counts: addCounts(before.counts, result.counts),
      durationMs: Math.round(before.durationMs + result.durationMs),
      cpuMs: Math.round(before.cpuMs + result.cpuMs),
    });
  }
  return {
    commit: currentCommit(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cores: cpus().length,
    seed,
    size,
    startedAt: startedAt.toISOString(),
    durationMs: Math.round(durationMs),
    planCount,
    totals: results.reduce((sum, { counts }) => addCounts(sum, counts), noCounts),
    plans: [...plans.values()],
    found: results.flatMap(({ found }) =>
      found.map((fault) => ({ ...fault, repeat: repeatOf(fault, seed) })),
    ),
    skipped: [...new Set(results.flatMap(({ plan, skipped }) => skipped.map((why) => `${plan}: ${why}`)))],
  };
}

/** The command that tries one case again. */
export function repeatOf({ plan, address }: Pick<FoundFault, "plan" | "address">, seed: number): string {
  return `npm run campaign -- --seed ${seed} --only ${quoted(plan)} --at ${quoted(address)}`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function git(...args: string[]): string {
  return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}

function currentCommit(): string {
  try {
    const commit = git("rev-parse", "HEAD");
    const changes = git("status", "--porcelain", "--untracked-files=no");
    return changes === "" ? commit : `${commit} with changes`;
  } catch {
    return "unknown: no git here";
  }
}
