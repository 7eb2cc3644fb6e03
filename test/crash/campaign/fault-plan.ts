/**
 * Lets the n-th effect of a scenario fail, once and from then on, for n = 0, 1, 2, … until it passes; the same again
 * inside a recovery. Every failure must be told by its name; then the same processes, new ones, and those who come after
 * a power cut must be able to go on, with nothing lost.
 *
 * An address is what fails and when, `EIO@12` once or `EIO@12+` from then on; in a recovery the step at which all died
 * comes first: `7k/EIO@3`.
 */
import { isDiskError } from "../../../src/host/index.ts";
import { errorTable, isHoldfastError } from "../../../src/model/errors.ts";
import type { Effect, Fault, Verb } from "../memory-disk.ts";
import { Finding } from "./finding.ts";
import type { Machine, MachineScenario } from "./machine.ts";
import type { Case, Counts, Extent, Plan } from "./plan.ts";
import { Random, seedFrom } from "./random.ts";
import { everyPoint, findingAt } from "./steps.ts";

/** A way to fail, and the effects that it befalls. */
interface FaultKind {
  readonly fault: Fault;
  readonly verbs: ReadonlySet<Verb>;
}

const opening: readonly Verb[] = ["open", "create", "lock", "list", "fileSystem", "syncDirectory", "cutTail"];
const naming: readonly Verb[] = ["create", "makeDirectory", "rename", "link", "remove", "removeDirectory"];
const touching: readonly Verb[] = ["read", "write", "sync", "truncate", "stat", "statLink", "statFile"];

const kinds: Readonly<Record<string, FaultKind>> = {
  EIO: { fault: { code: "EIO" }, verbs: new Set([...opening, ...naming, ...touching]) },
  cut: { fault: { afterwards: "EIO" }, verbs: new Set<Verb>(["cutTail"]) },
  ENOSPC: { fault: { code: "ENOSPC" }, verbs: new Set<Verb>(["write", "sync", ...naming]) },
  EMFILE: { fault: { code: "EMFILE" }, verbs: new Set(opening) },
  EACCES: { fault: { code: "EACCES" }, verbs: new Set<Verb>(["open", "lock", "list", ...naming]) },
  short: { fault: { short: 7 }, verbs: new Set<Verb>(["write"]) },
};

/** One fault, as an address has it. */
interface Mishap {
  readonly kind: string;
  readonly at: number;
  readonly isLasting: boolean;
  /** The step of the act at which all were killed, where the recovery is what fails. */
  readonly killedAt?: number;
}

/** Of how many deaths a recovery is made to fail: at most so many in a small plan and in a full one. */
const recoveriesMax = { small: 1, full: 12 };

/** The plan of a scenario. */
export function faultPlan<M extends Machine<M>>(scenario: MachineScenario<M>): Plan {
  return new FaultPlan(scenario);
}

class FaultPlan<M extends Machine<M>> implements Plan {
  readonly mishap = "fault";
  readonly scenario: string;
  readonly #does: MachineScenario<M>;
  #start: M | undefined;
  #points: readonly M[] | undefined;
  /** Whether the last case had nothing left to fail. */
  #passed = false;

  constructor(scenario: MachineScenario<M>) {
    this.#does = scenario;
    this.scenario = scenario.name;
  }

  async *cases({ size, seed }: Extent): AsyncIterable<Case> {
    if (size === "endless") return;
    yield* this.#rising({}, size, seed);
    const random = new Random(seed ^ seedFrom(`fault ${this.scenario}`));
    const points = await this.#pointsOfAct();
    const count = Math.min(points.length, recoveriesMax[size]);
    for (let round = 0; round < count; round++) {
      yield* this.#rising({ killedAt: random.below(points.length) }, size, seed + round);
    }
  }

  caseAt(address: string): Promise<Case> {
    return Promise.resolve(this.#case(parseMishap(address)));
  }

  /** Every kind, once and lasting, until it passes. A small plan leaves out some, other ones for each seed. */
  async *#rising(place: Pick<Mishap, "killedAt">, size: "small" | "full", seed: number): AsyncIterable<Case> {
    const stride = size === "full" ? 1 : 4;
    for (const [index, kind] of Object.keys(kinds).entries()) {
      for (const isLasting of [false, true]) {
        this.#passed = false;
        for (let at = (seed + index) % stride; !this.#passed; at += stride) {
          yield this.#case({ ...place, kind, at, isLasting });
        }
      }
    }
  }

  #case(mishap: Mishap): Case {
    const address = writeMishap(mishap);
    return {
      address,
      run: async () => {
        try {
          return await this.#run(mishap);
        } catch (error) {
          // What broke once need not be broken by every later one.
          this.#passed = true;
          throw findingAt(`${this.scenario} with ${address}`, error);
        }
      },
    };
  }

  async #run(mishap: Mishap): Promise<Partial<Counts>> {
    const { killedAt } = mishap;
    const isRecovery = killedAt !== undefined;
    const machine = isRecovery ? await this.#pointAt(killedAt) : await this.#begin();
    const work = (on: M) => (isRecovery ? this.#does.goOn(on) : this.#does.act(on));
    const failing = new Failing(mishap);
    machine.disk.fault = (effect) => failing.faultOf(effect);
    const failure = await failureOf(work(machine));
    machine.disk.fault = undefined;
    this.#passed = failing.first === undefined;
    if (failing.first === undefined) return {};
    try {
      await this.#examine(machine, failure, isRecovery);
    } catch (error) {
      throw findingAt(`${failing.first} failed`, error);
    }
    return { faults: 1 };
  }

  async #examine(machine: M, failure: string | undefined, isRecovery: boolean): Promise<void> {
    const isUnsure = isNoted(machine);
    if (!isUnsure && (failure === "durability_unknown" || isLying(machine))) {
      // The disk takes neither the cut nor the note: what it tells other processes is documented to be a guess.
      return await this.#goOn(machine.crashed());
    }
    if (!isRecovery && this.#does.again !== undefined) {
      const failureNow = await failureOf(this.#does.again(machine));
      if (failureNow !== undefined && failureNow !== failure)
        throw new Finding("stuck", `told as ${failureNow} when none fails any more`);
    }
    const killed = machine.killed();
    killed.mayRepair ||= isUnsure;
    const after = machine.crashed();
    await this.#goOn(killed);
    await this.#goOn(killed.crashed());
    await this.#goOn(after);
  }

  async #goOn(machine: M): Promise<void> {
    await this.#does.goOn(machine);
    await this.#does.judge(machine);
  }

  async #begin(): Promise<M> {
    this.#start ??= await this.#does.set();
    return this.#start.killed();
  }

  async #pointsOfAct(): Promise<readonly M[]> {
    this.#points ??= await everyPoint(await this.#begin(), (machine) => this.#does.act(machine));
    return this.#points;
  }

  async #pointAt(step: number): Promise<M> {
    const point = (await this.#pointsOfAct())[step];
    if (point === undefined) throw new Error(`${this.scenario} has no step ${step}`);
    return point.killed();
  }
}

/** Says of each effect whether it fails. */
class Failing {
  readonly #kind: FaultKind;
  readonly #mishap: Mishap;
  #count = 0;
  /** The first effect that failed, in words. */
  first: string | undefined;

  constructor(mishap: Mishap) {
    const kind = kinds[mishap.kind];
    if (kind === undefined) throw new Error(`nothing fails as ${mishap.kind}`);
    this.#kind = kind;
    this.#mishap = mishap;
  }

  faultOf(effect: Effect): Fault | undefined {
    const { fault, verbs } = this.#kind;
    const { at, isLasting } = this.#mishap;
    // What the scenario does by hand is not the product's.
    if (effect.process === "main" || !verbs.has(effect.verb)) return undefined;
    const index = this.#count++;
    if (index !== at && !(isLasting && index > at)) return undefined;
    this.first ??= `effect ${effect.index} (${effect.process}: ${effect.verb} ${effect.path})`;
    // A short write of less than it would take anyway is none.
    if (fault.short !== undefined && (effect.bytes ?? 0) <= fault.short) return { short: 0 };
    return fault;
  }
}

/** The code of a failure; undefined where there is none. It must be one of storage, or refuse to begin at all. */
async function failureOf(work: Promise<void>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    // While something fails it need not come to an end.
    if (error instanceof Finding && error.promise === "stuck") return "io_error";
    // Readers tell a failed effect as it is, which the front door calls an input/output error.
    if (isDiskError(error)) return "io_error";
    if (!isHoldfastError(error)) throw new Finding("untyped", `failed with ${String(error)}`, error);
    const { exit } = errorTable[error.code];
    if ((exit !== 7 && error.code !== "usage") || damageCodes.includes(error.code))
      throw new Finding("untyped", `told as ${error.code}: ${error.message}`, error);
    return error.code;
  }
}

const damageCodes: readonly string[] = ["log_damaged", "queue_damaged", "rolled_back", "store_copied"];

function isNoted<M extends Machine<M>>({ disk }: M): boolean {
  const heads = disk.files().filter((path) => path.endsWith("/head"));
  return heads.some((path) => Buffer.from(disk.peek(path) ?? "").includes('"unsure":[{'));
}

/** True where reads show bytes of a log or a queue that a failed sync has lost. */
function isLying<M extends Machine<M>>({ disk }: M): boolean {
  const mayCome = new Set(disk.unsynced().map(({ path }) => path));
  return disk.files().some((path) => {
    if (!path.endsWith(".jsonl") || mayCome.has(path)) return false;
    const durable = disk.peekDurable(path);
    return durable !== undefined && Buffer.compare(disk.peek(path) ?? new Uint8Array(), durable) !== 0;
  });
}

function writeMishap({ kind, at, isLasting, killedAt }: Mishap): string {
  const place = killedAt === undefined ? "" : `${killedAt}k/`;
  return `${place}${kind}@${at}${isLasting ? "+" : ""}`;
}

function parseMishap(text: string): Mishap {
  const match = /^(?:(\d+)k\/)?(\w+)@(\d+)(\+?)$/.exec(text);
  if (match === null)
    throw new Error(`${JSON.stringify(text)} is no fault; one is like EIO@12, EIO@12+, 7k/EIO@3`);
  const [, killedAt, kind = "", at, lasting] = match;
  return {
    kind,
    at: Number(at),
    isLasting: lasting === "+",
    ...(killedAt !== undefined && { killedAt: Number(killedAt) }),
  };
}
