import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { EngineContext } from "../src/engine/index.ts";
import { createSession } from "../src/engine/index.ts";
import { nodeHost } from "../src/host/index.ts";
import { openEngine } from "../src/open.ts";

/** A folder on the disk that the repository is on (`/tmp` may be memory), with a state directory and a workspace. */
export interface BenchPlace {
  readonly folder: string;
  readonly stateDirectory: string;
  readonly context: EngineContext;
  /** Makes a session as `holdfast run` does; resolves to its id. */
  newSession(title: string): Promise<string>;
  remove(): void;
}

/** Makes an empty one. The caller removes it. */
export function makePlace(): BenchPlace {
  const parent = resolve("node_modules/.cache");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "holdfast-bench-state-"));
  const [stateDirectory, workspace] = [join(folder, "state"), join(folder, "workspace")];
  mkdirSync(workspace);
  const cassette = join(folder, "cassette.json");
  writeFileSync(cassette, JSON.stringify({ cassette: 1, turns: [{ text: "Done." }] }));
  const context = openEngine({
    host: nodeHost(),
    stateDirectory,
    singleWriter: false,
    environment: process.env,
    version: "bench",
    supervisorProgram: { file: process.execPath, args: [resolve("dist/supervisor.cjs")] },
  });
  return {
    folder,
    stateDirectory,
    context,
    newSession: (title) =>
      createSession(context, {
        workspace,
        agent: "builtin",
        model: `cassette:${cassette}`,
        policy: {},
        title,
        task: title,
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
