// Builds dist/: a small CommonJS entry, the rest as lazily loaded ESM chunks, the supervisor, and the types.
// `--quiet` leaves the types out, which only users of the library need; `--to DIR` builds into another folder.
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { licencesOf } from "./licences.mjs";

const { values } = parseArgs({
  options: { quiet: { type: "boolean", default: false }, to: { type: "string", default: "dist" } },
});
const { quiet, to } = values;
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
rmSync(to, { recursive: true, force: true });

// Bundled CommonJS packages ask for Node's own modules by require.
const requireBanner =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';
const common = {
  bundle: true,
  platform: "node",
  target: "node20",
  // Native code is found beside its own package.
  external: ["fs-native-extensions"],
  define: { HOLDFAST_VERSION: JSON.stringify(version) },
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
};
// Fifty languages of the schema library's messages, of which only its default is used: 13 ms of each start.
const oneLanguage = {
  name: "one language",
  setup: (setup) =>
    setup.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    })),
};
const single = { ...common, format: "cjs", minify: true };
const entry = await build({
  ...single,
  entryPoints: ["src/main.ts"],
  outfile: join(to, "main.cjs"),
  banner: { js: "#!/usr/bin/env node" },
  external: [...single.external, "./list.cjs"],
  plugins: [
    {
      name: "lazy commands",
      setup: (setup) =>
        setup.onResolve({ filter: /\/commands\.ts$/ }, () => ({ path: "./commands.js", external: true })),
    },
  ],
});
// Asked for again and again: what it needs, and nothing else.
await build({ ...single, entryPoints: ["src/list.ts"], outfile: join(to, "list.cjs") });
// Started anew for every session that runs a command: one small file starts twice as fast as chunks.
const supervisor = await build({
  ...single,
  entryPoints: ["src/supervisor.ts"],
  outfile: join(to, "supervisor.cjs"),
});
const rest = await build({
  ...common,
  format: "esm",
  splitting: true,
  plugins: [oneLanguage],
  entryPoints: ["src/commands.ts", "src/index.ts"],
  outdir: to,
  chunkNames: "chunks/[name]-[hash]",
  banner: { js: requireBanner },
});
chmodSync(join(to, "main.cjs"), 0o755);
writeFileSync(
  join(to, "licences.txt"),
  licencesOf([entry, supervisor, rest].map(({ metafile }) => metafile)),
);
if (!quiet) {
  const types = ["-p", "tsconfig.build.json", "--outDir", join(to, "types")];
  execFileSync("node_modules/.bin/tsc", types, { stdio: "inherit" });
}
