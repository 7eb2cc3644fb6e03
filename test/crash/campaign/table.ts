import type { CampaignReport } from "./report.ts";
import { addCounts, noCounts } from "./task.ts";
import type { Counts } from "./plan.ts";

/** The report as people read it, within 80 columns. */

const columns: readonly [title: string, count: keyof Counts][] = [
  ["kills", "kills"],
  ["faults", "faults"],
  ["deaths", "simulatedKills"],
  ["power cuts", "powerStates"],
  ["gone on", "goneOn"],
  ["orders", "orders"],
  ["histories", "histories"],
];

const nameWidth = 10;
const widths = [6, ...columns.map(([title]) => Math.max(8, title.length + 1))];

/** All of it: a line for each mishap, what it means, what was found and how to see that again. */
export function tableOf(report: CampaignReport): string {
  const mishaps = [...new Set(report.plans.map(({ plan }) => mishapOf(plan)))];
  const lines = mishaps.map((mishap) => {
    const plans = report.plans.filter(({ plan }) => mishapOf(plan) === mishap);
    const counts = plans.reduce((sum, one) => addCounts(sum, one.counts), noCounts);
    return lineOf(mishap, [triedOf(plans), ...columns.map(([, name]) => counts[name])]);
  });
  const titles = ["plans", ...columns.map(([title]) => title)];
  const heads = titles.map((title, index) => title.padStart(widths[index] ?? 0)).join("");
  return [
    `${"".padEnd(nameWidth)}${heads}`,
    ...lines,
    lineOf("together", [triedOf(report.plans), ...columns.map(([, name]) => report.totals[name])]),
    "",
    "kills       processes really ended by SIGKILL",
    "faults      effects made to fail: EIO, ENOSPC, EMFILE, EACCES, short writes",
    "deaths      processes in memory that died, alone or all at once",
    "power cuts  machines in memory after a power cut, equal ones of one turn once",
    "gone on     of deaths and power cuts: those that were worked on to the end",
    "orders      orders in which several processes were let act",
    "histories   random histories, command sequences and damaged files",
    ...part("Left out", report.skipped),
    ...part(
      "Found",
      report.found.map(({ promise, message, repeat }) => `${promise}: ${message}\n  ${repeat}`),
    ),
    "",
    `${triedOf(report.plans)} of ${report.planCount} plans had a case and time for it`,
    `seed ${report.seed}, ${report.size}, ${duration(report.durationMs)} on ${report.cores} cores, commit ${report.commit.replace(/(?<=^[0-9a-f]{12})[0-9a-f]+/, "")}`,
    report.found.length === 0
      ? "Nothing was lost, repeated or falsely told."
      : `${report.found.length} found`,
  ].join("\n");
}

function triedOf(plans: CampaignReport["plans"]): number {
  return plans.filter(({ cases }) => cases > 0).length;
}

function mishapOf(plan: string): string {
  return plan.slice(0, plan.indexOf(":"));
}

function lineOf(name: string, numbers: readonly number[]): string {
  const cells = numbers.map((number, index) => number.toLocaleString("en").padStart(widths[index] ?? 0));
  return `${name.padEnd(nameWidth)}${cells.join("")}`;
}

function part(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", `${title}:`, ...lines.map((line) => `- ${line}`)];
}

/** In minutes and seconds. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
