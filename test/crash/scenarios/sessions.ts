import { recordSession } from "../../../src/engine/index.ts";
import { defaultDefinition } from "../../../src/model/default-definition.ts";
import type { AgentDefinition } from "../../../src/model/facts.ts";
import { orRefused, refused } from "../campaign/at-once.ts";
import type { EngineMachine } from "../campaign/engine-machine.ts";
import type { EngineScenario } from "../campaign/engine-scenario.ts";
import { promised } from "../campaign/finding.ts";
import { asks, done, edit, read, remove, write } from "./calls.ts";
import { once } from "./doings.ts";

/** What a session is made of, what it is held to, and calls that no tool takes as they are. */

const turns = [asks(read(), write("a.txt")), done, asks(write("b.txt")), done];
const other: AgentDefinition = {
  ...defaultDefinition,
  metadata: { name: "other", description: "Another one." },
};
const narrow = { deniedCapabilities: ["write"] };
const suspend = { kind: "suspend", reason: "signal" } as const;

/** The run is left open after its first turn. */
const leftOpen = once("op.settled", async ({ stops }) => stops.request(suspend));

const accept = (machine: EngineMachine) => machine.resume({ policy: narrow, acceptPolicy: true });

const kept: readonly EngineScenario[] = [
  {
    name: "making a session with a definition and a policy of its own",
    turns,
    definition: other,
    policy: { maxTurns: 9, deniedCapabilities: ["grep"] },
    judge: (_, { state }) =>
      promised(
        state.created.definition.metadata.name === "other",
        "other",
        () => "it has another definition",
      ),
  },
  {
    name: "accepting another policy for the rest of a run",
    turns: [asks(read(), write("a.txt")), asks(write("b.txt"), read()), done],
    prepare: (machine) => machine.run(),
    meanwhile: leftOpen,
    act: async (machine) => {
      await refused("policy_drift", machine.resume({ policy: narrow }));
      await accept(machine);
    },
    attend: async (machine, { state }) => {
      if (!state.policy.policy.deniedCapabilities.includes("write")) await accept(machine);
    },
    judge: (machine, { state }) => {
      const isAccepted = state.policy.policy.deniedCapabilities.includes("write");
      const isMade = machine.text("/project/b.txt") !== undefined;
      promised(!(isAccepted && isMade), "false success", () => "what the policy in force denies was done");
    },
  },
  {
    name: "another definition is refused, and changes nothing",
    turns,
    prepare: (machine) => machine.run(),
    meanwhile: leftOpen,
    act: async (machine) => {
      await refused("definition_drift", machine.resume({ definition: other }));
      await refused("usage", machine.resume({ task: "Another one." }));
      await machine.resume();
    },
  },
  {
    name: "another task for a session that was recorded",
    turns,
    prepare: async (machine) => {
      await machine.run();
      const engine = machine.world.engine();
      const { text = "" } = await recordSession(engine, { selector: await machine.session() });
      promised(text.includes("Done."), "other", () => "the record lacks what the model said");
    },
    act: (machine) => machine.resume({ task: "And again." }),
    attend: async (machine, { queue }) => {
      const texts = [...queue.deliveries.values()].map(({ text }) => text);
      if (!texts.includes("And again.")) await machine.resume({ task: "And again." });
    },
  },
];

const oddCalls: readonly EngineScenario[] = [
  {
    name: "calls that no tool takes",
    turns: [
      asks(
        { tool: "write", args: { path: 7 } },
        { tool: "dance", args: {} },
        { tool: "edit", argsText: "{no json" },
        { tool: "read", args: { path: "../outside.txt" } },
        { tool: "edit", args: { path: "readme.txt", old: "not there", new: "x" } },
      ),
      asks(write("a.txt")),
      done,
    ],
  },
  {
    name: "many calls in one turn",
    turns: [
      asks(
        ...Array.from({ length: 12 }, () => read()),
        ...Array.from({ length: 5 }, (_, index) => write(`${index}.txt`)),
        read(),
      ),
      done,
    ],
  },
  {
    name: "several changes of one file in one turn",
    files: { "a.txt": "n\n" },
    turns: [
      asks(edit("a.txt"), read("a.txt")),
      asks(write("b.txt"), read("b.txt"), remove("a.txt"), write("c.txt")),
      done,
    ],
    touched: true,
    judge: (machine) =>
      promised(machine.text("/project/a.txt") === undefined, "lost", () => "what was removed is back"),
  },
];

/** A session that is taken up while there is nothing to do. */
const idle: readonly EngineScenario[] = [
  {
    name: "resuming what is over changes nothing",
    turns: [done, done],
    prepare: (machine) => machine.run(),
    act: async (machine) => {
      const { ending } = await machine.resume();
      promised(ending === "idle", "other", () => `it is ${ending}`);
      await refused("usage", machine.resume({ task: " " }));
      await orRefused([], machine.resume());
    },
  },
];

export const sessionScenarios: readonly EngineScenario[] = [...kept, ...oddCalls, ...idle];
