import { changesDisk, type Effect } from "./memory-disk.ts";

/** What processes do to each other, and to the world outside of the machine; the path of the effect names whom. */
export type ProcessVerb = (typeof changing)[number] | "findProcesses";

const changing = [
  "spawn",
  "spawnDetached",
  "signal",
  "exit",
  "say",
  "listen",
  "stopListening",
  "connect",
  "send",
  "hangUp",
  "fetch",
] as const;

const between: ReadonlySet<Effect["verb"]> = new Set(changing);

/** True for the effects that change something on the machine, or for other processes; the others only look, or lock. */
export function changesMachine(effect: Pick<Effect, "verb">): boolean {
  return changesDisk(effect) || between.has(effect.verb);
}
