import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { build, type Plugin } from "esbuild";

/** The programs that the real plans start: each bundled as small as can be, for a start is what a kill costs. */
export interface PeerPrograms {
  /** Works on a store; see `test/peers/store-worker.ts`. */
  readonly store: string;
  /** Works on a run; see `test/peers/run-worker.ts`. */
  readonly run: string;
  /** Supervises commands; see `test/peers/run-supervisor.ts`. */
  readonly supervisor: string;
}

const entries = ["store-worker", "run-worker", "run-supervisor"];

// Fifty languages of the schema library's messages, of which only its default is used.
const oneLanguage: Plugin = {
  name: "one language",
  setup: (setup) =>
    setup.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    })),
};

// Found at once, not looked for in many places.
const nativePart: Plugin = {
  name: "native part",
  setup: (setup) =>
    setup.onLoad({ filter: /fs-native-extensions\/binding\.js$/ }, ({ path }) => {
      const place = `prebuilds/${process.platform}-${process.arch}/fs-native-extensions.node`;
      const native = join(dirname(path), place);
      return existsSync(native)
        ? { contents: `module.exports = require(${JSON.stringify(native)})` }
        : undefined;
    }),
};

/**
 * Bundles them into one folder, named by their content, and resolves to their paths. Each is one script of the older
 * kind with its packages inside: a start costs a third less than from many small files.
 */
export async function bundlePeers(): Promise<PeerPrograms> {
  // Inside node_modules, so that what stays outside resolves from there.
  const parent = resolve("node_modules/.cache/holdfast-test");
  const { outputFiles } = await build({
    entryPoints: entries.map((name) => `test/peers/${name}.ts`),
    bundle: true,
    write: false,
    minify: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    // Never loaded here: the models are recorded ones.
    external: [
      "*.node",
      "@ai-sdk/anthropic",
      "@ai-sdk/google",
      "@ai-sdk/openai",
      "@ai-sdk/openai-compatible",
    ],
    outdir: parent,
    outExtension: { ".js": ".cjs" },
    logLevel: "silent",
    plugins: [oneLanguage, nativePart],
  });
  const hash = createHash("sha256");
  for (const { contents } of outputFiles) hash.update(contents);
  const folder = join(parent, `peers-${hash.digest("hex").slice(0, 16)}`);
  if (!existsSync(folder)) {
    // Several may do this at once: none of them may see half of it.
    const staged = `${folder}.${process.pid}`;
    mkdirSync(staged, { recursive: true });
    for (const { path, contents } of outputFiles) writeFileSync(join(staged, basename(path)), contents);
    publish(staged, folder);
  }
  const [store = "", run = "", supervisor = ""] = entries.map((name) => join(folder, `${name}.cjs`));
  return { store, run, supervisor };
}

function publish(staged: string, folder: string): void {
  try {
    renameSync(staged, folder);
  } catch (error) {
    // Somebody else was first, with the same content.
    if (!existsSync(folder))
      throw new Error(`cannot make ${basename(folder)} in ${dirname(folder)}`, { cause: error });
    rmSync(staged, { recursive: true });
  }
}
