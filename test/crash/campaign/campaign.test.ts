import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CampaignReport } from "./report.ts";

/** The seed of every test run: the same cases each time. The full campaign takes another one each time. */
const seed = 1;

test("a small crash campaign loses nothing, repeats nothing and calls nothing done that is not", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-campaign-"));
  try {
    const file = join(folder, "campaign.json");
    const args = ["scripts/campaign.mjs", "--small", "--seed", String(seed), "--report", file];
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
    console.log(stdout);
    const report = JSON.parse(readFileSync(file, "utf8")) as CampaignReport;
    // With the command that tries each of them again.
    expect(report.found.map(({ promise, message, repeat }) => `${promise}: ${message}\n${repeat}`)).toEqual(
      [],
    );
    expect(status).toBe(0);
    // A kind of mishap that befell nobody would find nothing; one case of one plan may well come to nothing.
    const mishapOf = (plan: string): string => plan.slice(0, plan.indexOf(":"));
    const busy = report.plans.filter(({ counts }) => Object.values(counts).some((count) => count > 0));
    const skipped = report.skipped.map(mishapOf);
    const idle = new Set(report.plans.map(({ plan }) => mishapOf(plan)));
    for (const name of [...busy.map(({ plan }) => mishapOf(plan)), ...skipped]) idle.delete(name);
    expect([...idle]).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 600_000);
