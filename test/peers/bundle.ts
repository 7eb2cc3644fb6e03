import { createHash, randomBytes } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { build } from "esbuild";

// Inside node_modules, so that the packages which stay outside of the bundle resolve from there.
const folder = resolve("node_modules/.cache/holdfast-test");

/**
 * Bundles a TypeScript program into one .mjs file that plain Node runs, and resolves to its path. `entry` is relative
 * to the repository's root. Packages are not bundled. The same content gets the same path, so nothing piles up.
 */
export async function bundleForNode(entry: string): Promise<string> {
  const result = await build({
    entryPoints: [resolve(entry)],
    bundle: true,
    write: false,
    platform: "node",
    target: "node20",
    format: "esm",
    packages: "external",
    sourcemap: "inline",
    outdir: folder,
    logLevel: "silent",
  });
  const content = result.outputFiles[0]?.contents;
  if (content === undefined) throw new Error(`esbuild made nothing of ${entry}`);
  const key = createHash("sha256").update(content).digest("hex").slice(0, 16);
  const path = join(folder, key, basename(entry).replace(/\.ts$/, ".mjs"));
  await mkdir(join(folder, key), { recursive: true });
  // Test files run in parallel and may bundle the same entry: none of them may see half a file.
  const staged = `${path}.${randomBytes(6).toString("hex")}`;
  await writeFile(staged, content);
  await rename(staged, path);
  return path;
}
