// `npm run campaign [-- --seed S --only TEXT --at ADDRESS --budget MIN …]`: bundles the campaign, and runs it.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

// Inside node_modules, so that the packages which stay outside of the bundle resolve from there; one for each campaign.
const cache = resolve("node_modules/.cache");
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, "holdfast-campaign-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

await build({
  entryPoints: { program: "test/crash/campaign/program.ts", worker: "test/crash/campaign/worker.ts" },
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  packages: "external",
  outdir: folder,
  outExtension: { ".js": ".mjs" },
  sourcemap: "inline",
  logLevel: "error",
});

const [program, worker] = ["program.mjs", "worker.mjs"].map((name) => join(folder, name));
const { status, signal } = spawnSync(
  process.execPath,
  ["--enable-source-maps", program, worker, ...process.argv.slice(2)],
  { stdio: "inherit" },
);
process.exitCode = signal === null ? (status ?? 1) : 1;
