import { allAtOnce, orRefused } from "../campaign/at-once.ts";
import type { EngineMachine, Moment } from "../campaign/engine-machine.ts";

/** What people do in the scenarios. Each can be done again by whoever comes next, and then changes nothing. */

type Meanwhile = (moment: Moment) => Promise<unknown> | undefined;

/** Does it once in all lives, when some process comes to the nth of its kind. */
export function once(what: string, act: (moment: Moment) => Promise<unknown> | void, nth = 1): Meanwhile {
  return (moment) => {
    const { did } = moment.machine;
    if (moment.what !== what || moment.nth !== nth || did.has(what)) return undefined;
    did.add(what);
    return act(moment) ?? undefined;
  };
}

/** Decides about all that waits for a person now. */
export async function decideAll(
  machine: EngineMachine,
  decision: "allow" | "deny" = "allow",
  remember = false,
): Promise<void> {
  const { state } = await machine.whole();
  for (const { at, operation, approval } of state.operations.values()) {
    if (at !== "asked" || approval === undefined || approval.decided !== undefined) continue;
    // Another person may have said it in the same moment, or the run be over.
    await orRefused(["already_resolved"], machine.approve(operation, decision, remember));
  }
}

/** Decides, from another process, as soon as a process asks or takes up what was asked before. */
export function deciding(decision: "allow" | "deny", remember = false): Meanwhile {
  return ({ machine, what }) =>
    what === "approval.asked" || what === "run.started" ? decideAll(machine, decision, remember) : undefined;
}

/** Has the open run canceled or given up; nothing where none is open any more, or a person must say first what happened. */
export async function stopIfOpen(
  machine: EngineMachine,
  verb: "cancel" | "abandon" = "cancel",
): Promise<void> {
  await orRefused(["usage", "not_found", "input_required"], machine.stop(verb));
}

/** Two processes go on with the session in the same moment: one of them does, or one after the other. */
export async function resumeTwice(machine: EngineMachine): Promise<void> {
  await allAtOnce([orRefused(["busy"], machine.resume()), orRefused(["busy"], machine.resume())]);
}

/** Works until the new file of that name is between its two names, which leaves nothing to prove it by. */
export async function dieBetweenNames(machine: EngineMachine, path: string): Promise<void> {
  await machine.workUntil(({ verb, to }) => verb === "link" && to === `/project/${path}`);
}

/** The operations of which nobody knows what happened. */
export async function unknowns(machine: EngineMachine): Promise<readonly string[]> {
  const { state } = await machine.whole();
  return [...state.operations.values()].flatMap(({ at, operation }) => (at === "unknown" ? [operation] : []));
}
