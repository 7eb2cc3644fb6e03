import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import type { Bench, BenchResult } from "./bench.ts";
import { compareInRounds, median } from "./bench.ts";
import { compileC } from "./compile.ts";
import { makePlace } from "./session.ts";

/** What it costs to start: processor time of whole processes, which other work on the machine does not stretch. */

const rounds = 15;
const startsInRound = 4;
const sessions = 100;

async function measureStart(args: readonly string[], sessionsBefore: number): Promise<BenchResult> {
  const place = makePlace();
  try {
    const program = compileC("cpu-time", place.folder);
    for (let number = 1; number <= sessionsBefore; number++) await place.newSession(`Session ${number}`);
    const environment: NodeJS.ProcessEnv = { ...process.env, HOLDFAST_STATE_DIR: place.stateDirectory };
    // Node 20 reads these certificates at every start, which would drown what is measured.
    delete environment["NODE_EXTRA_CA_CERTS"];
    const cpuMs = (...command: readonly string[]) => {
      const output = execFileSync(program, [String(startsInRound), process.execPath, ...command], {
        env: environment,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
      return median(output.trim().split("\n").map(Number)) / 1000;
    };
    return await compareInRounds(rounds, "CPU ms", {
      ours: () => cpuMs(resolve("dist/main.cjs"), ...args),
      beside: () => cpuMs("-e", "0"),
    });
  } finally {
    place.remove();
  }
}

/** The rows of this file. */
export const benches: readonly Bench[] = [
  {
    name: "holdfast --version",
    beside: "node -e 0",
    goal: 1.3,
    run: () => measureStart(["--version"], 0),
  },
  {
    name: `holdfast session list, ${sessions} sessions`,
    beside: "node -e 0",
    goal: 1.6,
    run: () => measureStart(["session", "list"], sessions),
  },
];
