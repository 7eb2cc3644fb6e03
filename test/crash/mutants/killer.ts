import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/** What may kill a mutant: test files and folders, or a plan of the campaign. */
export type Killer =
  | { readonly kind: "tests"; readonly paths: readonly string[] }
  | { readonly kind: "plan"; readonly name: string };

/** What a killer came to: `by` is the test or the case that failed. */
export type Verdict =
  | { readonly state: "passed" }
  | { readonly state: "late" }
  | { readonly state: "failed"; readonly by: string; readonly paths: readonly string[] };

/** The killer that a mutant names. */
export function killerOf(name: string): Killer {
  return name.endsWith(".test.ts") ? { kind: "tests", paths: [name] } : { kind: "plan", name };
}

/** Has a killer try in a copy of the repository, for so long at most. */
export async function attempt(killer: Killer, folder: string, limitMs: number): Promise<Verdict> {
  const report = join(folder, "killer.json");
  rmSync(report, { force: true });
  const code = await exitOf(await commandOf(killer, folder, report), folder, limitMs);
  if (code === "late") return { state: "late" };
  if (code === 0) return { state: "passed" };
  return { state: "failed", ...(killer.kind === "tests" ? failedTest(report) : failedCase(killer, report)) };
}

async function commandOf(killer: Killer, folder: string, report: string): Promise<readonly string[]> {
  if (killer.kind === "plan") return ["--enable-source-maps", await bundlePlans(folder), killer.name, report];
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--bail=1", "--maxWorkers=1"];
  return [...vitest, "--reporter=json", `--outputFile=${report}`, ...killer.paths];
}

/** Bundles the plans of the campaign, with the mutant in them. */
async function bundlePlans(folder: string): Promise<string> {
  const outfile = join(folder, "node_modules", ".cache", "try-plan.mjs");
  await build({
    entryPoints: [join(folder, "test/crash/mutants/try-plan.ts")],
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    packages: "external",
    sourcemap: "inline",
    outfile,
    logLevel: "silent",
  });
  return outfile;
}

/** The exit code, or `late`: then it was ended, with all that it had started. */
function exitOf(command: readonly string[], folder: string, limitMs: number): Promise<number | "late"> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, command, { cwd: folder, stdio: "ignore", detached: true });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      endGroup(child);
    }, limitMs);
    child.on("error", reject);
    child.on("exit", (code) => {
      clearTimeout(timer);
      // What a test left behind holds files of the copy.
      endGroup(child);
      resolve(isLate ? "late" : (code ?? 1));
    });
  });
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

interface FoundCase {
  readonly address: string;
  readonly fault: string;
}

function failedTest(report: string): { by: string; paths: readonly string[] } {
  const { testResults = [] } = read<TestReport>(report) ?? {};
  const file = testResults.find(({ status }) => status === "failed");
  if (file === undefined) return { by: "the test runner, which did not end well", paths: [] };
  const path = file.name.slice(file.name.indexOf("/test/") + 1);
  const test = file.assertionResults.find(({ status }) => status === "failed");
  return { by: `${path}: ${test?.fullName ?? file.message.split("\n")[0]}`, paths: [path] };
}

function failedCase(
  { name }: Extract<Killer, { kind: "plan" }>,
  report: string,
): { by: string; paths: readonly string[] } {
  const found = read<FoundCase>(report);
  const by =
    found === undefined ? `${name}: it did not end well` : `${name} at ${found.address}: ${found.fault}`;
  return { by: by.slice(0, 300), paths: [name] };
}

function read<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as T;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
