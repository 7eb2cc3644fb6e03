import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { transform } from "esbuild";
import type { Mutant } from "./mutant.ts";

const left: ReadonlySet<string> = new Set([".git", ".ci", "node_modules", "dist", "coverage"]);

/** A copy of the repository in a folder of its own, in which one mutant at a time lives. */
export class Copy {
  readonly folder = mkdtempSync(join(tmpdir(), "holdfast-mutant-"));

  constructor(repository = resolve(".")) {
    for (const name of readdirSync(repository)) {
      if (!left.has(name)) cpSync(join(repository, name), join(this.folder, name), { recursive: true });
    }
    // A folder of its own with links in it: what tests keep beside the packages stays in the copy.
    const packages = join(this.folder, "node_modules");
    mkdirSync(packages);
    for (const name of readdirSync(join(repository, "node_modules"))) {
      if (name === ".cache" || name.startsWith(".vite")) continue;
      symlinkSync(join(repository, "node_modules", name), join(packages, name));
    }
  }

  /** Does something with the mutant in place; then all is as it was. Rejects where the mutant does not fit. */
  async with<T>(mutant: Mutant, work: () => Promise<T>): Promise<T> {
    const path = join(this.folder, "src", mutant.file);
    const text = readFileSync(path, "utf8");
    const damaged = await damagedText(mutant, text);
    writeFileSync(path, damaged);
    try {
      return await work();
    } finally {
      writeFileSync(path, text);
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The text with the mutant in it. Rejects where it does not stand there exactly once, or makes no program. */
export async function damagedText({ name, file, find, replace }: Mutant, text: string): Promise<string> {
  const times = text.split(find).length - 1;
  if (times !== 1) throw new Error(`what ${name} replaces stands ${times} times in src/${file}`);
  const damaged = text.replace(find, () => replace);
  await transform(damaged, { loader: "ts" });
  return damaged;
}
