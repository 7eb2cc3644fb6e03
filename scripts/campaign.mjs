// `npm run campaign [-- --seed S --only TEXT --at ADDRESS --budget MIN …]`: bundles the campaign, and runs it. With
// `--mutants` it damages copies of the product instead, and sees whether that is noticed.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

// Inside node_modules, so that the packages which stay outside of the bundle resolve from there; one for each campaign.
const cache = resolve("node_modules/.cache");
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, "holdfast-campaign-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

async function runCampaign(args) {
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
  return runNode(["--enable-source-maps", program, worker, ...args]);
}

function runNode(args) {
  const { status, signal } = spawnSync(process.execPath, args, { stdio: "inherit" });
  return signal === null ? (status ?? 1) : 1;
}

const args = process.argv.slice(2);
const others = args.filter((one) => one !== "--mutants");
process.exitCode =
  others.length < args.length ? runNode(["scripts/mutants.mjs", ...others]) : await runCampaign(args);
