// Adds logs to test/corpus; see "Add a log to the corpus" in CONTRIBUTING.md.
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

// Inside node_modules, so that the packages which stay outside of the bundle resolve from there.
const outfile = resolve(`node_modules/.cache/holdfast-corpus/grow-${process.pid}.mjs`);
await build({
  entryPoints: ["test/corpus/grow.ts"],
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  packages: "external",
  outfile,
  logLevel: "error",
});
try {
  await import(pathToFileURL(outfile).href);
} finally {
  rmSync(outfile, { force: true });
}
