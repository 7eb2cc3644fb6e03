import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { Copy } from "./copy.ts";
import { mutants } from "./index.ts";
import { attempt, killerOf, type Killer, type Verdict } from "./killer.ts";
import type { Mutant } from "./mutant.ts";

/** How mutants are run. */
export interface MutantOptions {
  /** Only mutants whose name, or whose file in `src`, holds this text. */
  readonly only?: string;
  /** Copies in which mutants live at the same time; 2 where absent. */
  readonly jobs?: number;
  /** True where only the suspects are asked: a mutant that they do not kill counts as alive. */
  readonly isQuick?: boolean;
  /** Told what became of each mutant, as soon as it is known. */
  readonly told?: (result: MutantResult) => void;
}

/** What became of one mutant. */
export interface MutantResult {
  readonly name: string;
  readonly file: string;
  readonly breaks: string;
  /**
   * `explained`: nothing killed it, and the list says why. `alive`: nothing killed it. `wrong`: something killed it that
   * nothing should see. `unfit`: its text is not there once, or what kills it fails without it as well.
   */
  readonly state: "killed" | "explained" | "alive" | "wrong" | "unfit";
  /** What killed it, or why it does not fit, or why nothing can see it. */
  readonly by: string;
  readonly seconds: number;
}

/** What became of all of them. */
export interface MutantReport {
  readonly commit: string;
  readonly cores: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly killed: number;
  readonly explained: number;
  /** Those that say that something is missing: alive, wrong or unfit. */
  readonly faults: readonly MutantResult[];
  readonly mutants: readonly MutantResult[];
}

const suspectMsMax = 120_000;
const everythingMsMax = 900_000;

/** What everybody must pass whom no suspect killed; the small campaign is among it. */
const everything: readonly Killer[] = [
  { kind: "tests", paths: ["test/crash", "test/store", "test/contracts"] },
  { kind: "tests", paths: ["test/engine"] },
];

/** Applies each mutant to a copy of the repository in which this process stands, and has the tests look for it. */
export async function runMutants(options: MutantOptions = {}): Promise<MutantReport> {
  const { only = "", jobs = 2 } = options;
  const startedAt = new Date();
  const start = performance.now();
  const waiting = mutants.filter(({ name, file }) => name.includes(only) || file.includes(only));
  const results: MutantResult[] = [];
  const bench = new Bench(options);
  const lane = async (): Promise<void> => {
    const copy = new Copy();
    try {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const result = await bench.run(mutant, copy);
        results.push(result);
        options.told?.(result);
      }
    } finally {
      copy.remove();
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, waiting.length) }, lane));
  const count = (state: MutantResult["state"]): number => results.filter((one) => one.state === state).length;
  return {
    commit: execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).trim(),
    cores: cpus().length,
    startedAt: startedAt.toISOString(),
    durationMs: Math.round(performance.now() - start),
    killed: count("killed"),
    explained: count("explained"),
    faults: results.filter(({ state }) => state !== "killed" && state !== "explained"),
    mutants: results,
  };
}

/** Runs mutants, and knows which killers pass where there is none. */
class Bench {
  readonly #isQuick: boolean;
  readonly #sound = new Map<string, Promise<Verdict>>();

  constructor({ isQuick = false }: MutantOptions) {
    this.#isQuick = isQuick;
  }

  async run(mutant: Mutant, copy: Copy): Promise<MutantResult> {
    const start = performance.now();
    const { name, file, breaks } = mutant;
    const ended = (state: MutantResult["state"], by: string): MutantResult => {
      const seconds = Math.round((performance.now() - start) / 100) / 10;
      return { name, file, breaks, state, by, seconds };
    };
    try {
      const by = await this.#kill(mutant, copy);
      if ("explained" in mutant)
        return by === undefined ? ended("explained", mutant.explained) : ended("wrong", by);
      return by === undefined ? ended("alive", "nothing noticed it") : ended("killed", by);
    } catch (error) {
      return ended("unfit", error instanceof Error ? error.message : String(error));
    }
  }

  /** What killed it; undefined where nothing did. */
  async #kill(mutant: Mutant, copy: Copy): Promise<string | undefined> {
    const suspects = "killedBy" in mutant ? mutant.killedBy.map(killerOf) : [];
    for (const suspect of suspects) {
      const verdict = await copy.with(mutant, () => attempt(suspect, copy.folder, suspectMsMax));
      if (verdict.state === "passed") continue;
      if (verdict.state === "failed") {
        await this.#refuseUnsound(suspect, copy);
        return verdict.by;
      }
      const sound = await attempt(suspect, copy.folder, suspectMsMax / 2);
      if (sound.state !== "passed") throw new Error(`${nameOf(suspect)} is too slow here to tell anything`);
      return `${nameOf(suspect)}: it did not end`;
    }
    if (this.#isQuick) return undefined;
    for (const killer of everything) {
      const verdict = await copy.with(mutant, () => attempt(killer, copy.folder, everythingMsMax));
      if (verdict.state === "late") throw new Error(`${nameOf(killer)} did not end`);
      if (verdict.state === "passed") continue;
      const [path] = verdict.paths;
      await this.#refuseUnsound(path === undefined ? killer : killerOf(path), copy);
      return verdict.by;
    }
    return undefined;
  }

  /** Rejects where a killer does not pass without any mutant either: then it says nothing. */
  async #refuseUnsound(killer: Killer, { folder }: Copy): Promise<void> {
    const name = nameOf(killer);
    const known = this.#sound.get(name) ?? attempt(killer, folder, everythingMsMax);
    this.#sound.set(name, known);
    const verdict = await known;
    if (verdict.state === "failed") throw new Error(`${verdict.by} fails without any mutant, too`);
    if (verdict.state === "late") throw new Error(`${name} does not end without any mutant either`);
  }
}

function nameOf(killer: Killer): string {
  return killer.kind === "tests" ? killer.paths.join(" ") : killer.name;
}
