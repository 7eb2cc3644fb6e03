import { allAtOnce, orRefused, refused } from "../campaign/at-once.ts";
import type { EngineMachine } from "../campaign/engine-machine.ts";
import type { EngineScenario } from "../campaign/engine-scenario.ts";
import { asks, done, read, write } from "./calls.ts";
import { dieBetweenNames, stopIfOpen, unknowns } from "./doings.ts";

/** Operations of which nobody knows what happened, and the people who say it. */

const turns = [asks(write("new/a.txt"), read()), asks(write("b.txt")), done];

/** A run that died while it made a file, so that nobody knows whether it did. */
async function doubtful(machine: EngineMachine): Promise<void> {
  await machine.create();
  await dieBetweenNames(machine, "new/a.txt");
}

/** The same, and somebody found that out. */
async function known(machine: EngineMachine): Promise<void> {
  await doubtful(machine);
  await machine.resume();
}

/** The same, and a person made the file. */
async function made(machine: EngineMachine): Promise<void> {
  await known(machine);
  machine.disk.plant("/project/new/a.txt", "new/a.txt as it is now\n");
}

/** Says it of each that is unknown, and of none that is not. */
async function sayAll(
  machine: EngineMachine,
  outcome: "ok" | "error" | "not_executed",
  output?: string,
): Promise<void> {
  for (const operation of await unknowns(machine)) await machine.resolve(operation, outcome, output);
}

const long = "I saw it. ".repeat(5000);

export const unknownScenarios: readonly EngineScenario[] = [
  { name: "finding out that nobody knows", turns, prepare: doubtful, act: (machine) => machine.resume() },
  {
    name: "a person says that it did not happen",
    turns,
    prepare: known,
    act: async (machine) => {
      await sayAll(machine, "not_executed");
      await machine.resume();
    },
  },
  {
    name: "a person says that it did happen, at length",
    turns,
    prepare: made,
    act: async (machine) => {
      await sayAll(machine, "ok", long);
      await machine.resume();
    },
  },
  {
    name: "a person says that it failed",
    turns,
    prepare: known,
    act: (machine) => sayAll(machine, "error", "it broke"),
  },
  {
    name: "a person says the same twice, and then something else",
    turns,
    prepare: made,
    act: async (machine) => {
      const [operation = ""] = await unknowns(machine);
      await machine.resolve(operation, "ok");
      await machine.resolve(operation, "ok");
      await refused("already_resolved", machine.resolve(operation, "ok", "other words"));
      await refused("already_resolved", machine.resolve(operation, "not_executed"));
    },
  },
  {
    name: "two people say different things at once",
    turns,
    prepare: known,
    act: async (machine) => {
      const [operation = ""] = await unknowns(machine);
      const say = (outcome: "error" | "not_executed") =>
        orRefused(["already_resolved", "busy"], machine.resolve(operation, outcome));
      await allAtOnce([say("not_executed"), say("error")]);
    },
  },
  {
    name: "a second doubt in the same run",
    turns: [asks(write("a.txt")), asks(write("b.txt")), done],
    prepare: async (machine) => {
      await machine.create();
      await dieBetweenNames(machine, "a.txt");
      await machine.resume();
      await sayAll(machine, "not_executed");
      await dieBetweenNames(machine, "b.txt");
    },
    act: async (machine) => {
      await machine.resume();
      await sayAll(machine, "not_executed");
      await machine.resume();
    },
  },
  {
    name: "giving up a run with a doubt, which stays on record",
    turns,
    prepare: known,
    act: (machine) => machine.stop("abandon"),
  },
  {
    name: "canceling a run with a doubt is refused",
    turns,
    prepare: known,
    act: (machine) => refused("input_required", machine.stop()),
  },
  {
    name: "canceling what died with a doubt that nobody has found yet",
    turns,
    prepare: doubtful,
    act: (machine) => stopIfOpen(machine),
  },
  ...[0, 6, 12, 18, 24].map((steps): EngineScenario => ({
    name: `a person says what happened ${steps} steps after it was found that nobody knows`,
    turns,
    prepare: doubtful,
    meanwhile: whenever("op.unknown", steps),
    act: (machine) => machine.resume(),
  })),
];

/** The first time that somebody finds a doubt, in whatever attempt. */
function whenever(what: string, steps: number): NonNullable<EngineScenario["meanwhile"]> {
  return (moment) =>
    moment.what === what
      ? moment.machine.after(steps, () => orRefused(["usage"], sayAll(moment.machine, "not_executed")))
      : undefined;
}
