import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { duration } from "../campaign/table.ts";
import { runMutants, type MutantResult } from "./run.ts";

/** The mutants from the command line: one line for each, then a report. */

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    jobs: { type: "string", default: "2" },
    report: { type: "string", default: "mutants.json" },
    quick: { type: "boolean", default: false },
  },
});

const report = await runMutants({
  only: values.only,
  jobs: Number(values.jobs),
  isQuick: values.quick,
  told: ({ name, state, by, seconds }: MutantResult) =>
    console.log(`${state.padEnd(9)} ${seconds.toFixed(1).padStart(6)} s  ${name}\n${"".padEnd(20)}${by}`),
});
writeFileSync(values.report, `${JSON.stringify(report, undefined, 2)}\n`);
const { killed, explained, faults, durationMs } = report;
console.log(
  `${report.mutants.length} mutants: ${killed} killed, ${explained} explained, ${faults.length} to be looked at`,
);
for (const { name, state, by } of faults) console.log(`- ${name} is ${state}: ${by}`);
console.log(`${duration(durationMs)}, report: ${values.report}`);
process.exitCode = faults.length === 0 && report.mutants.length > 0 ? 0 : 1;
