import { allAtOnce, orRefused, refused } from "../campaign/at-once.ts";
import type { EngineMachine } from "../campaign/engine-machine.ts";
import type { EngineScenario } from "../campaign/engine-scenario.ts";
import { promised } from "../campaign/finding.ts";
import type { WholeSession } from "../campaign/whole-session.ts";
import { asks, done, read, write } from "./calls.ts";
import { once, resumeTwice } from "./doings.ts";

/** Messages that are left, and who takes them. */

const turns = [asks(read()), done, asks(write("a.txt")), done, done];

/** How many of these there are in the queue. */
const countOf = ({ queue }: WholeSession, text: string): number =>
  [...queue.deliveries.values()].filter((one) => one.text === text).length;

const isThereOnce =
  (text: string) =>
  (machine: EngineMachine, whole: WholeSession): void => {
    const count = countOf(whole, text);
    promised(count <= 1, "repeated", () => `${text} is there ${count} times`);
  };

/** Sends it with a key until it is told that it is there. */
const sendKeyed = (machine: EngineMachine) => machine.send("Keyed.", "key");

/** Whoever is told that a process takes his message is right, and whoever is not has it taken himself. */
async function sendAndHaveItTaken(machine: EngineMachine): Promise<void> {
  const { delivery, underWay, next } = await machine.send("Late.");
  if (underWay) machine.promisedToBeTaken.add(delivery);
  else
    promised(next !== undefined, "stuck", () => "nobody takes it, and nobody is told how to have it taken");
}

const admissions: readonly EngineScenario[] = [
  {
    name: "leaving messages while nobody runs",
    turns,
    prepare: (machine) => machine.run(),
    act: async (machine) => {
      await machine.send("One.");
      await sendKeyed(machine);
      await machine.resume();
    },
  },
  {
    name: "leaving the same message with the same key twice",
    turns,
    prepare: (machine) => machine.create(),
    act: async (machine) => {
      await sendKeyed(machine);
      await sendKeyed(machine);
      await refused("message_id_conflict", machine.send("Another.", "key"));
    },
    attend: async (machine) => void (await sendKeyed(machine)),
    judge: isThereOnce("Keyed."),
  },
  {
    name: "leaving messages from several processes at once",
    turns,
    prepare: (machine) => machine.create(),
    act: (machine) =>
      allAtOnce([sendKeyed(machine), machine.send("One."), sendKeyed(machine), machine.send("Other.")]),
    judge: isThereOnce("Keyed."),
  },
  {
    name: "leaving a message of more than a line takes",
    turns,
    prepare: (machine) => machine.create(),
    act: async (machine) => {
      await machine.send("Long. ".repeat(7000));
      await machine.resume();
    },
  },
  {
    name: "leaving messages for whoever works",
    turns,
    meanwhile: once("model.requested", ({ machine }) =>
      allAtOnce([sendKeyed(machine), machine.send("Other.")]),
    ),
    judge: isThereOnce("Keyed."),
  },
  {
    name: "giving the next task to a session that waits, twice",
    turns,
    prepare: (machine) => machine.run(),
    act: async (machine) => {
      await machine.send("Before.");
      await machine.resume({ task: "Next." });
    },
    attend: async (machine, { state }) => {
      if (state.released && countOf(await machine.whole(), "Next.") === 0)
        await machine.resume({ task: "Next." });
    },
    judge: isThereOnce("Next."),
  },
];

/** A message on its way at each step of letting go. */
const handOvers: readonly EngineScenario[] = Array.from({ length: 8 }, (_, index): EngineScenario => ({
  name: `leaving a message ${36 + 2 * index} steps after the first question to the model`,
  turns,
  meanwhile: once("model.requested", ({ machine }) =>
    machine.after(36 + 2 * index, () => sendAndHaveItTaken(machine)),
  ),
  act: async (machine) => {
    await machine.run();
    const { queue } = await machine.whole();
    for (const delivery of machine.promisedToBeTaken) {
      const at = queue.deliveries.get(delivery)?.at;
      promised(at === "acknowledged", "stuck", () => `${delivery} was to be taken and is ${at}`);
    }
  },
}));

const takers: readonly EngineScenario[] = [
  {
    name: "two processes take a new session at once",
    turns,
    prepare: (machine) => machine.create(),
    act: resumeTwice,
  },
  {
    name: "two processes take a session at once in which somebody died",
    turns: [asks(write("a.txt"), read()), done],
    files: { "a.txt": "before\n" },
    prepare: async (machine) => {
      await machine.create();
      await machine.workUntil(({ verb, to }) => verb === "rename" && to === "/project/a.txt");
    },
    act: resumeTwice,
  },
  {
    name: "another process wants a session while one works",
    turns,
    meanwhile: once("model.requested", ({ machine }) => orRefused(["busy"], machine.resume())),
  },
];

export const queueScenarios: readonly EngineScenario[] = [...admissions, ...handOvers, ...takers];
