import { allAtOnce, orRefused, refused } from "../campaign/at-once.ts";
import type { EngineMachine } from "../campaign/engine-machine.ts";
import type { EngineScenario } from "../campaign/engine-scenario.ts";
import { promised } from "../campaign/finding.ts";
import type { WholeSession } from "../campaign/whole-session.ts";
import { asks, done, edit, read, write } from "./calls.ts";
import { decideAll, deciding, once, stopIfOpen } from "./doings.ts";

/** What people say about work that goes on: yes and no, stop, wait. */

const asking = { approvals: { write: "ask", edit: "ask" } } as const;
const waits = () => ({ approvals: { kind: "wait" } }) as const;
const suspend = { kind: "suspend", reason: "signal" } as const;

/** Every operation of these tools ended so. */
const allEnded =
  (tools: readonly string[], outcome: string) =>
  (_: EngineMachine, { state }: WholeSession): void => {
    for (const operation of state.operations.values()) {
      if (!tools.includes(operation.tool) || !("result" in operation)) continue;
      const { outcome: found } = operation.result;
      const fits = found === outcome || found === "not_executed";
      promised(fits, "other", () => `${operation.tool} is ${found}, not ${outcome}`);
    }
  };

/** The first who asks is told to leave it; the next ones are answered. */
const suspendFirst = once("approval.asked", async ({ stops }) => stops.request(suspend));

/** What a policy leaves to a person. */
const approvals: readonly EngineScenario[] = [
  {
    name: "a person allows from another process what waits",
    turns: [asks(read(), write("a.txt"), write("b.txt")), done],
    policy: asking,
    control: waits,
    meanwhile: deciding("allow"),
    attend: (machine) => decideAll(machine),
    judge: allEnded(["write"], "ok"),
  },
  {
    name: "a person denies from another process what waits",
    turns: [asks(write("a.txt"), read()), asks(write("b.txt")), done],
    policy: asking,
    control: waits,
    meanwhile: deciding("deny"),
    attend: (machine) => decideAll(machine, "deny"),
    judge: allEnded(["write"], "denied"),
  },
  {
    name: "a person allows it once and for all",
    turns: [asks(write("a.txt"), write("b.txt")), asks(write("c.txt")), done],
    policy: asking,
    control: waits,
    meanwhile: deciding("allow", true),
    attend: (machine) => decideAll(machine, "allow", true),
    judge: allEnded(["write"], "ok"),
  },
  {
    name: "a person allows it while nobody runs, and has it go on",
    turns: [asks(write("a.txt")), asks(edit("letter.txt")), done],
    files: { "letter.txt": "n\n" },
    policy: asking,
    control: waits,
    prepare: (machine) => machine.run(),
    meanwhile: (moment) => suspendFirst(moment) ?? deciding("allow")(moment),
    act: async (machine) => {
      await decideAll(machine);
      await machine.resume();
    },
    attend: (machine) => decideAll(machine),
    judge: allEnded(["write"], "ok"),
  },
  {
    name: "two people say different things about the same",
    turns: [asks(write("a.txt")), done],
    policy: asking,
    control: waits,
    meanwhile: ({ machine, what }) =>
      what === "approval.asked" || what === "run.started"
        ? allAtOnce([decideAll(machine, "allow"), decideAll(machine, "deny")])
        : undefined,
    attend: (machine) => decideAll(machine, "deny"),
  },
  {
    name: "nobody is there to be asked",
    turns: [asks(write("a.txt"), read()), done],
    policy: asking,
    judge: allEnded(["write"], "denied"),
  },
  {
    name: "a capability that the policy denies",
    turns: [asks(write("a.txt"), read()), done],
    policy: { deniedCapabilities: ["write"] },
    judge: (machine) =>
      promised(
        machine.text("/project/a.txt") === undefined,
        "false success",
        () => "what is denied was done",
      ),
  },
];

const work = {
  turns: [
    { text: "I look at it now.", perTokenMs: 20, calls: [read(), write("a.txt")] },
    asks(edit("letter.txt"), write("letter2.txt")),
    done,
  ],
  files: { "letter.txt": "n\n" },
};

/** Moments at which a person may want the work to end. */
const moments: readonly (readonly [string, string, number?])[] = [
  ["as it begins", "run.started"],
  ["before the model answers", "model.requested"],
  ["while the model answers", "live.text"],
  ["while a tool runs", "op.started", 2],
  ["when a tool has ended", "op.known", 2],
  ["when a turn is settled", "op.settled"],
  ["as it ends", "run.ended"],
];

/** Cancels from another process, by a signal, and by an end of the attempt. */
const stops: readonly EngineScenario[] = moments.flatMap(([when, what, nth]): EngineScenario[] => [
  {
    ...work,
    name: `canceling a run from another process ${when}`,
    meanwhile: once(what, ({ machine }) => stopIfOpen(machine), nth),
  },
  {
    ...work,
    name: `a person cancels the own run ${when}`,
    meanwhile: once(what, async ({ stops: own }) => own.request({ kind: "cancel", by: "ada" }), nth),
  },
  {
    ...work,
    name: `a run is suspended ${when}`,
    meanwhile: once(what, async ({ stops: own }) => own.request(suspend), nth),
    judge: (_, { state }) => {
      const [first] = state.runs.values();
      promised(first?.at === "completed", "other", () => `what was suspended is ${first?.at}`);
    },
  },
]);

/** More than one word about an end. */
const moreStops: readonly EngineScenario[] = [
  {
    ...work,
    name: "giving a run up from another process",
    meanwhile: once("op.started", ({ machine }) => stopIfOpen(machine, "abandon"), 2),
  },
  {
    ...work,
    name: "two people cancel a run at once, and a third gives it up",
    meanwhile: once("live.text", ({ machine }) =>
      allAtOnce([stopIfOpen(machine), stopIfOpen(machine), stopIfOpen(machine, "abandon")]),
    ),
  },
  {
    ...work,
    name: "canceling while nobody runs, and twice",
    prepare: (machine) => machine.run(),
    meanwhile: once("op.known", async ({ stops: own }) => own.request(suspend), 2),
    act: async (machine) => {
      await machine.stop();
      await machine.stop();
    },
  },
  {
    ...work,
    name: "giving up while nobody runs what died while a tool ran",
    prepare: async (machine) => {
      await machine.create();
      await machine.workUntil(({ verb, to }) => verb === "link" && to === "/project/a.txt");
    },
    act: (machine) => machine.stop("abandon"),
  },
  {
    turns: [done, done],
    name: "canceling what is over",
    prepare: (machine) => machine.run(),
    act: (machine) => refused("usage", machine.stop()),
  },
  {
    ...work,
    name: "leaving at once",
    meanwhile: once("op.started", async ({ leave }) => leave(), 2),
    act: (machine) => orRefused(["interrupted"], machine.run()),
  },
];

/** Someone asks at each of some steps, in steps of the disk, of a process that works. */
const atSteps: readonly EngineScenario[] = [0, 3, 6, 9, 12, 15, 18, 21].map((steps) => ({
  ...work,
  name: `canceling from another process ${steps} steps after an answer`,
  meanwhile: once("model.answered", ({ machine }) => machine.after(steps, () => stopIfOpen(machine))),
}));

export const peopleScenarios: readonly EngineScenario[] = [...approvals, ...stops, ...moreStops, ...atSteps];
