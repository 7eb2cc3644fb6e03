/**
 * Cuts the log and the queue of a session back, each by itself, as a backup that was put back would, with the head as it
 * was, an older one, somebody else's, a damaged one or none. Then somebody goes on: either that is refused by a name and
 * every byte left as it is, and goes on where a person accepts it; or it goes on at once. Nothing is ever delivered
 * twice, and nothing that stands in the queue is silently lost.
 *
 * An address is the bytes that are left of the log and of the queue, and what the head is: `1200,340,stale`.
 */
import { isHoldfastError } from "../../../src/model/errors.ts";
import type { EngineMachine } from "./engine-machine.ts";
import { engineScenario, type EngineScenario } from "./engine-scenario.ts";
import { Finding, promised } from "./finding.ts";
import type { Case, Counts, Extent, Plan } from "./plan.ts";
import { Random, seedFrom } from "./random.ts";
import { findingAt } from "./steps.ts";
import type { WholeSession } from "./whole-session.ts";

const heads = ["kept", "gone", "stale", "foreign", "flipped"] as const;
type Head = (typeof heads)[number];

/** What is left, as an address has it. */
interface Rollback {
  readonly logBytes: number;
  readonly queueBytes: number;
  readonly head: Head;
}

/** The files of a session. */
interface Files {
  readonly log: Uint8Array;
  readonly queue: Uint8Array;
  readonly head: Uint8Array;
}

/** A session that came to its end, and its head some time before. */
interface Whole extends Files {
  readonly machine: EngineMachine;
  readonly folder: string;
  readonly staleHead: Uint8Array;
}

const anywhere = { small: 40, full: 3000 };
const lineEndsMax = { small: 80, full: Infinity };

/** What may be said of what was cut back. */
const refusals = ["rolled_back", "queue_damaged", "log_damaged"];

/** The plan of a scenario. */
export function rollbackPlan(scenario: EngineScenario): Plan {
  return new RollbackPlan(scenario);
}

class RollbackPlan implements Plan {
  readonly mishap = "rollback";
  readonly scenario: string;
  readonly #does: EngineScenario;
  #whole: Whole | undefined;

  constructor(scenario: EngineScenario) {
    this.#does = scenario;
    this.scenario = scenario.name;
  }

  async *cases({ size, seed }: Extent): AsyncIterable<Case> {
    const random = new Random(seed ^ seedFrom(`rollback ${this.scenario}`));
    const { log, queue } = await this.#session();
    const chance = (): Rollback => ({
      logBytes: random.below(log.length + 1),
      queueBytes: random.below(queue.length + 1),
      head: random.of(heads),
    });
    if (size === "endless") for (;;) yield this.#case(chance());
    const ends = lineEnds(log).flatMap((logBytes) =>
      lineEnds(queue).map((queueBytes) => ({ logBytes, queueBytes })),
    );
    const all = ends.flatMap((place) => heads.map((head) => ({ ...place, head })));
    const isTaken = lineEndsMax[size] / all.length;
    for (const place of all) if (random.unit() < isTaken) yield this.#case(place);
    for (let count = 0; count < anywhere[size]; count++) yield this.#case(chance());
  }

  caseAt(address: string): Promise<Case> {
    const [logBytes, queueBytes, named] = address.split(",");
    const head = heads.find((one) => one === named);
    if (head === undefined) throw new Error(`${address} is no rollback; one is like 1200,340,stale`);
    return Promise.resolve(this.#case({ logBytes: Number(logBytes), queueBytes: Number(queueBytes), head }));
  }

  #case(rollback: Rollback): Case {
    const address = `${rollback.logBytes},${rollback.queueBytes},${rollback.head}`;
    return {
      address,
      run: async () => {
        try {
          return await this.#run(rollback);
        } catch (error) {
          throw findingAt(`${this.scenario} at ${address}`, error);
        }
      },
    };
  }

  async #run(rollback: Rollback): Promise<Partial<Counts>> {
    const machine = await this.#cutBack(rollback);
    const { folder } = await this.#session();
    const before = filesOf(machine, folder);
    const refusal = await this.#tryToGoOn(machine, false);
    if (refusal !== undefined) {
      const isSame = JSON.stringify(filesOf(machine, folder)) === JSON.stringify(before);
      promised(
        isSame,
        "foreign write",
        () => `refused as ${refusal}, and something was written all the same`,
      );
      const again = await this.#tryToGoOn(machine, true);
      // Damage is for no yes or no to mend.
      if (again !== undefined) return { histories: 1 };
    }
    await this.#examine(machine);
    await this.#examine(machine.crashed());
    return { histories: 1 };
  }

  /** Goes on until nothing is left to do; resolves to the code where that is refused. */
  async #tryToGoOn(machine: EngineMachine, acceptRollback: boolean): Promise<string | undefined> {
    try {
      for (let round = 0; round < 8; round++) {
        const { ending } = await machine.resume({ acceptRollback });
        if (ending === "idle") return undefined;
      }
    } catch (error) {
      if (!isHoldfastError(error) || !refusals.includes(error.code)) throw error;
      const isAcceptable = error.code !== "log_damaged";
      promised(
        !acceptRollback || !isAcceptable,
        "stuck",
        () => `accepted, and still ${error.code}: ${error.message}`,
      );
      return error.code;
    }
    throw new Finding("stuck", "it never comes to rest");
  }

  async #examine(machine: EngineMachine): Promise<void> {
    const whole = await machine.whole();
    judgeDeliveries(whole);
    for (const { at, delivery } of whole.queue.deliveries.values())
      promised(
        at !== "claimed" && at !== "admitted",
        "lost",
        () => `${delivery} is ${at}, and nobody takes it`,
      );
    promised(whole.state.released, "stuck", () => "it is not released");
  }

  async #cutBack({ logBytes, queueBytes, head }: Rollback): Promise<EngineMachine> {
    const whole = await this.#session();
    const machine = whole.machine.killed();
    const { disk } = machine;
    const { folder } = whole;
    disk.plant(`${folder}/log.jsonl`, whole.log.subarray(0, logBytes));
    disk.plant(`${folder}/queue.jsonl`, whole.queue.subarray(0, queueBytes));
    if (head === "gone") await disk.remove(`${folder}/head`);
    else disk.plant(`${folder}/head`, headAs(head, whole));
    disk.settle();
    return machine;
  }

  async #session(): Promise<Whole> {
    if (this.#whole !== undefined) return this.#whole;
    const scenario = engineScenario(this.#does);
    const machine = (await scenario.set()).killed();
    await scenario.act(machine);
    const folder = `/state/sessions/${await machine.session()}`;
    await machine.resume();
    const { head: staleHead } = filesOf(machine, folder);
    await scenario.goOn(machine);
    machine.disk.settle();
    this.#whole = { machine, folder, staleHead, ...filesOf(machine, folder) };
    return this.#whole;
  }
}

/** Each message is in the log once at most, and those that the queue knows of in its order. */
function judgeDeliveries({ state, queue }: WholeSession): void {
  const said = state.messages.flatMap(({ message: { delivery } }) => delivery ?? []);
  promised(new Set(said).size === said.length, "repeated", () => `delivered twice: ${said.join(", ")}`);
  for (const { at, delivery } of queue.deliveries.values()) {
    const isSaid = said.includes(delivery);
    if (at === "acknowledged")
      promised(isSaid, "lost", () => `${delivery} is acknowledged, and not in the log`);
    if (at === "blocked") promised(!isSaid, "repeated", () => `${delivery} is blocked, and in the log`);
  }
}

function headAs(head: Exclude<Head, "gone">, whole: Whole): Uint8Array {
  if (head === "kept") return whole.head;
  if (head === "stale") return whole.staleHead;
  const bytes = Uint8Array.from(whole.head);
  if (head === "flipped") bytes[100] = (bytes[100] ?? 0) ^ 1;
  if (head === "flipped") return bytes;
  return new TextEncoder().encode(
    new TextDecoder().decode(bytes).replace(/ses_.{26}/, `ses_${"0".repeat(26)}`),
  );
}

function filesOf({ disk }: EngineMachine, folder: string): Files {
  const read = (name: string) => disk.peek(`${folder}/${name}`) ?? new Uint8Array();
  return { log: read("log.jsonl"), queue: read("queue.jsonl"), head: read("head") };
}

/** Where lines end, and the beginning. */
function lineEnds(bytes: Uint8Array): number[] {
  return [0, ...[...bytes.keys()].filter((index) => bytes[index] === 0x0a).map((index) => index + 1)];
}
