// `npm run bench [-- name …]`: bundles bench/*.ts, runs each file in a process of its own, prints a table, and writes
// bench-results.json. Nothing fails above a goal: the numbers are compared and shown.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { cpus, release, type } from "node:os";
import { basename, join, resolve } from "node:path";
import { build } from "esbuild";

const wanted = process.argv.slice(2);
const files = readdirSync("bench")
  .filter((name) => name.endsWith(".ts"))
  .filter((name) => /^export const benches/m.test(readFileSync(`bench/${name}`, "utf8")))
  .map((name) => basename(name, ".ts"))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .toSorted();
if (files.length === 0) {
  console.error(`no benchmark is called ${wanted.join(" or ")}`);
  process.exit(2);
}

function run(args) {
  return spawnSync(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] }).status;
}

/** Runs the rows of a file and leaves them in `results`. Loaded anew for each, so that none warms another's code. */
const runner = `
const [program, results] = process.argv.slice(2);
const { benches } = await import(program);
const { writeFileSync } = await import("node:fs");
const rows = [];
for (const bench of benches) {
  const { name, beside, goal } = bench;
  try {
    rows.push({ name, beside, goal, result: await bench.run() });
  } catch (error) {
    rows.push({ name, beside, goal, problem: String(error instanceof Error ? error.message : error).split("\\n", 1)[0] });
  }
}
writeFileSync(results, JSON.stringify(rows));
`;

function number(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function cells({ name, beside, goal, result, problem }) {
  if (result === undefined) return [name, beside, "", "", "", `≤ ${goal}`, `not measured: ${problem}`];
  const { ours, beside: other, unit, ratio, notes } = result;
  const verdict = ratio <= goal ? "good" : "above its goal";
  const measured = [`${number(ours)} ${unit}`, `${number(other)} ${unit}`, ratio.toFixed(2)];
  return [name, beside, ...measured, `≤ ${goal}`, notes === undefined ? verdict : `${verdict} (${notes})`];
}

function printTable(rows) {
  const table = [["what", "beside", "ours", "its", "ratio", "goal", ""], ...rows.map(cells)];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    );
}

if (run(["scripts/build.mjs", "--quiet"]) !== 0) process.exit(1);
// Inside node_modules, so that packages which stay outside of the bundles are found from there.
mkdirSync("node_modules/.cache", { recursive: true });
const folder = resolve(mkdtempSync("node_modules/.cache/holdfast-bench-"));
const rows = [];
try {
  await build({
    entryPoints: files.map((name) => `bench/${name}.ts`),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
  });
  writeFileSync(join(folder, "runner.mjs"), runner);
  for (const name of files) {
    console.error(`measuring ${name} …`);
    const results = join(folder, `${name}.json`);
    const status = run(["--expose-gc", join(folder, "runner.mjs"), join(folder, `${name}.mjs`), results]);
    if (status === 0) rows.push(...JSON.parse(readFileSync(results, "utf8")));
    else rows.push({ name, beside: "", goal: 0, problem: `its process ended with ${status}` });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
printTable(rows);
const [processor] = cpus();
const machine = {
  node: process.version,
  system: `${type()} ${release()}`,
  processor: processor?.model,
  cores: cpus().length,
};
writeFileSync(
  "bench-results.json",
  `${JSON.stringify({ at: new Date().toISOString(), machine, rows }, null, 2)}\n`,
);
