// `node scripts/mutants.mjs [--only TEXT --jobs N --report FILE --quick]`: damages copies of the product, one change at
// a time, and has the tests look for each. Exits with 1 where one is alive that nobody has explained.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { spawnSync } from "node:child_process";
import { build } from "esbuild";

// Inside node_modules, so that the packages which stay outside of the bundle resolve from there.
const cache = resolve("node_modules/.cache");
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, "holdfast-mutants-"));
const program = join(folder, "program.mjs");
try {
  await build({
    entryPoints: ["test/crash/mutants/program.ts"],
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    packages: "external",
    outfile: program,
    logLevel: "error",
  });
  const args = ["--enable-source-maps", program, ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
