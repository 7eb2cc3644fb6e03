import type { TaskRequest } from "../engine/index.ts";
import { runTask } from "../engine/index.ts";
import type { Outside } from "./outside.ts";

/** Runs one command; resolves to the exit code. */
export async function runCommandLine(args: readonly string[], outside: Outside): Promise<number> {
  const [workspace = ".", model = "", task = ""] = args;
  const context = outside.open({ stateDirectory: outside.stateDirectory, singleWriter: false });
  const request: TaskRequest = { workspace, model, task, agent: "builtin", policy: { allowShell: true } };
  const observer = {
    commit: (commit: unknown) => void outside.stdout.write(`${JSON.stringify(commit)}\n`),
    live: () => undefined,
  };
  await runTask(context, request, observer, () => undefined);
  return 0;
}
