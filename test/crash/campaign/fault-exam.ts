import { isDiskError } from "../../../src/host/index.ts";
import { errorTable, isHoldfastError } from "../../../src/model/errors.ts";
import { Finding } from "./finding.ts";
import type { Machine, MachineScenario } from "./machine.ts";

/** What must hold when effects have failed and none fails any more. */

/** How the work ended in which they failed. */
interface FailedWork {
  /** The code that it was told by, where it was told. */
  readonly failure: string | undefined;
  /** False where it was another process's than that of the act. */
  readonly mayActAgain: boolean;
}

/** The same processes, new ones, and those who come after a power cut go on, and nothing is lost. Throws a Finding. */
export async function examineFailed<M extends Machine<M>>(
  scenario: MachineScenario<M>,
  machine: M,
  { failure, mayActAgain }: FailedWork,
): Promise<void> {
  const goOn = async (on: M): Promise<void> => {
    await scenario.goOn(on);
    await scenario.judge(on);
  };
  const isUnsure = isNoted(machine);
  if (!isUnsure && (failure === "durability_unknown" || isLying(machine))) {
    // The disk takes neither the cut nor the note: what it tells other processes is documented to be a guess.
    return await goOn(machine.crashed());
  }
  if (mayActAgain && scenario.again !== undefined) {
    const failureNow = await failureOf(scenario.again(machine));
    if (failureNow !== undefined && failureNow !== failure)
      throw new Finding("stuck", `told as ${failureNow} when none fails any more`);
  }
  const killed = machine.killed();
  killed.mayRepair ||= isUnsure;
  const after = machine.crashed();
  await goOn(killed);
  await goOn(killed.crashed());
  await goOn(after);
}

/** The code of a failure; undefined where there is none. It must be one of storage, or refuse to begin at all. */
export async function failureOf(work: Promise<void>): Promise<string | undefined> {
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
