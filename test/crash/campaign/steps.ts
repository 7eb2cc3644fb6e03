import { changesDisk, type Effect } from "../memory-disk.ts";
import { Finding } from "./finding.ts";
import type { Machine } from "./machine.ts";
import { AddressError } from "./plan.ts";

/** Work on a machine, cut at its steps: the effects that change the disk or make it durable, counted from 0. */

/** What stood before each step, with nobody alive, and what stands at the end. The work must resolve. */
export async function everyPoint<M extends Machine<M>>(
  machine: M,
  work: (machine: M) => Promise<void>,
): Promise<M[]> {
  const points: M[] = [];
  machine.disk.gate = (effect) => {
    if (changesDisk(effect)) points.push(machine.killed());
    return undefined;
  };
  try {
    await work(machine);
  } finally {
    machine.disk.gate = undefined;
  }
  points.push(machine.killed());
  return points;
}

/** A write that takes only its first bytes. */
export interface TornStep {
  readonly step: number;
  readonly bytes: number;
}

/** What stands after the torn write, with nobody alive. */
export async function afterTorn<M extends Machine<M>>(
  machine: M,
  work: (machine: M) => Promise<void>,
  torn: TornStep,
): Promise<M> {
  let steps = 0;
  let index = Infinity;
  const { disk } = machine;
  return await new Promise<M>((resolve, reject) => {
    disk.gate = (effect) => {
      if (effect.index > index) {
        resolve(machine.killed());
        return new Promise(() => undefined);
      }
      if (changesDisk(effect) && steps++ === torn.step) index = effect.index;
      return undefined;
    };
    disk.fault = (effect) => (effect.index === index ? { short: torn.bytes } : undefined);
    const none = (): Error => new Error(`nothing follows step ${torn.step}`);
    work(machine).then(() => reject(none()), reject);
  });
}

/** The steps of some work, as effects, in order. */
export async function stepsOf<M extends Machine<M>>(
  machine: M,
  work: (machine: M) => Promise<void>,
): Promise<Effect[]> {
  const before = machine.disk.effects.length;
  await work(machine);
  return machine.disk.effects.slice(before).filter(changesDisk);
}

/** Turns whatever was thrown into a finding that says where; a finding stays what it is. A wrong address is none. */
export function findingAt(where: string, error: unknown): Finding {
  if (error instanceof AddressError) throw error;
  if (error instanceof Finding) return new Finding(error.promise, `${where}: ${error.message}`, error);
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new Finding("stuck", `${where}: ${text}`, error);
}
