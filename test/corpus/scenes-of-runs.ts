import { abandonRun, cancelRun, resolveOperation, StopSwitch } from "../../src/engine/index.ts";
import { defaultDefinition } from "../../src/model/default-definition.ts";
import type { AgentDefinition, Fact } from "../../src/model/facts.ts";
import type { Stop } from "../../src/model/stop.ts";
import { EngineScene, type Beginning, type Working } from "./engine-scene.ts";
import type { Scene } from "./scene.ts";
import type { SessionFiles } from "./session-files.ts";

/** What the engine itself leaves: each kind of end, and deaths in each class of operation. */

const done = { text: "Done.", usage: { input: 12, output: 3 } };
const write = (path: string, content = "new\n") => ({ tool: "write", args: { path, content } });
/** A run that calls each tool but exec. */
export const everyTool: Beginning = {
  files: { "old.txt": "x\n", "src/b.txt": "one\ntwo\n" },
  turns: [
    {
      reasoning: "Two files.",
      text: "I look.",
      calls: [
        { tool: "glob", args: { pattern: "**/*.txt" } },
        { tool: "grep", args: { pattern: "^t", path: "src" } },
        { tool: "read", args: { path: "a.txt" } },
      ],
      usage: { input: 120, output: 30, cachedInput: 100, reasoning: 5 },
    },
    {
      text: "I change.",
      calls: [
        write("new/file.txt"),
        write("a.txt"),
        { tool: "edit", args: { path: "src/b.txt", old: "two", new: "2" } },
        { tool: "delete", args: { path: "old.txt" } },
        { tool: "read", args: { path: "missing.txt" } },
        { tool: "nothing", args: {} },
      ],
    },
    done,
  ],
};
/** A run that dies between the two names of a new file. */
export const doubtful: Beginning = { turns: [{ text: "I write.", calls: [write("new/file.txt")] }, done] };

/** A session from beginning to end. */
async function worked(beginning: Beginning, options?: Working): Promise<EngineScene> {
  const scene = await EngineScene.begin(beginning);
  await scene.work(options);
  return scene;
}

/** A session whose work is stopped once a fact of that kind is durable. */
async function stoppedAt(kind: Fact["kind"], stop: Stop, beginning = everyTool): Promise<SessionFiles> {
  const stops = new StopSwitch();
  const onFact = (fact: Fact): void => {
    if (fact.kind === kind) stops.request(stop);
  };
  return (await worked(beginning, { stops, onFact })).files();
}

/** A session that dies once the `nth` fact of a kind is durable. */
async function diedAfter(kind: Fact["kind"], nth = 1, beginning = everyTool): Promise<EngineScene> {
  return await (await EngineScene.begin(beginning)).deathAfter(kind, nth);
}

const filesAfter = async (kind: Fact["kind"], nth = 1, beginning = everyTool): Promise<SessionFiles> =>
  (await diedAfter(kind, nth, beginning)).files();

type Word = Pick<Parameters<typeof resolveOperation>[1], "outcome" | "output" | "evidence">;

/** A session with a doubt that a person resolves, and that then goes on. */
async function resolved(word: Word): Promise<SessionFiles> {
  const scene = await (await EngineScene.begin(doubtful)).doubt();
  await resolveOperation(scene.world.engine(), { ...(await scene.newest()), ...word, by: "ada" });
  await scene.work();
  return scene.files();
}

function withOutput(output: AgentDefinition["spec"]["output"]): AgentDefinition {
  return { ...defaultDefinition, spec: { ...defaultDefinition.spec, output } };
}

const answerDefinition = withOutput({
  format: "json",
  requiredFields: ["answer"],
  schema: { type: "object", properties: { answer: { type: "number" } } },
});

const endings: readonly Scene[] = [
  {
    name: "completed",
    what: "A run that completed: each tool but exec, one call of an unknown tool, one that failed.",
    make: async () => (await worked(everyTool)).files(),
  },
  {
    name: "failed-budget-turns",
    what: "A run that used up its turns.",
    make: async () => (await worked({ ...everyTool, policy: { maxTurns: 1 } })).files(),
  },
  {
    name: "failed-budget-tokens",
    what: "A run that used up its tokens.",
    make: async () => (await worked({ ...everyTool, policy: { maxTokens: 100 } })).files(),
  },
  {
    name: "failed-budget-time",
    what: "A run that used up its time.",
    make: () => stoppedAt("op.started", { kind: "budget" }),
  },
  {
    name: "failed-cassette-exhausted",
    what: "A run whose model had no further turn.",
    make: async () => (await worked({ ...everyTool, turns: everyTool.turns.slice(0, 1) })).files(),
  },
  {
    name: "failed-context-overflow",
    what: "A run whose conversation fitted its model no more.",
    make: async () =>
      (await worked({ turns: [{ error: { status: 413, message: "prompt is too long" } }] })).files(),
  },
  {
    name: "failed-abandoned",
    what: "A run that a person gave up with an operation of which nobody knows.",
    make: async () => {
      const scene = await (await EngineScene.begin(doubtful)).doubt();
      await abandonRun(scene.world.engine(), { session: scene.session, by: "ada" });
      return scene.files();
    },
  },
  {
    name: "canceled-by-its-process",
    what: "A run that its own process canceled while a tool ran.",
    make: () => stoppedAt("op.started", { kind: "cancel", by: "ada" }),
  },
  {
    name: "canceled-without-a-process",
    what: "A run that died before its second answer and was then canceled from outside.",
    make: async () => {
      const scene = await diedAfter("model.requested", 2);
      await cancelRun(scene.world.engine(), { session: scene.session, by: "ada" });
      return scene.files();
    },
  },
  {
    name: "suspended-by-a-signal",
    what: "A run that a signal suspended in its second turn.",
    make: () => stoppedAt("op.started", { kind: "suspend", reason: "signal" }),
  },
  {
    name: "suspended-by-its-provider",
    what: "A run whose provider refused the key.",
    make: async () => (await worked({ turns: [{ error: { status: 401, message: "bad key" } }] })).files(),
  },
  {
    name: "suspended-after-five-failures",
    what: "A run whose provider failed five times in a row, once after an answer had begun.",
    make: async () => {
      const failure = { error: { status: 529, message: "overloaded" } };
      const begun = { message: "cut", reason: "network", retryable: true, parts: [{ text: "Half an" }] };
      const turns = [failure, { error: begun }, failure, failure, failure, done];
      return (await worked({ turns })).files();
    },
  },
  {
    name: "completed-after-failures",
    what: "A run whose provider failed, was asked again after its pause, and answered.",
    make: async () =>
      (
        await worked({
          turns: [{ error: { status: 429, message: "slow down", retryAfterMs: 50 } }, done],
        })
      ).files(),
  },
  {
    name: "input-required",
    what: "A run with an operation of which nobody can know.",
    make: async () => (await (await EngineScene.begin(doubtful)).doubt()).files(),
  },
  {
    name: "resolved-as-done",
    what: "A run that went on after a person said that the unknown operation happened.",
    make: () => resolved({ outcome: "ok", output: "made by hand", evidence: "I looked." }),
  },
  {
    name: "resolved-as-failed",
    what: "A run that went on after a person said that the unknown operation failed.",
    make: () => resolved({ outcome: "error", output: "it is half there" }),
  },
  {
    name: "resolved-as-not-executed",
    what: "A run that went on after a person said that the unknown operation did not happen.",
    make: () => resolved({ outcome: "not_executed" }),
  },
  {
    name: "resolved-not-resumed",
    what: "A run whose unknown operation was resolved, and that nobody has resumed.",
    make: async () => {
      const scene = await (await EngineScene.begin(doubtful)).doubt();
      const word = { outcome: "ok", output: "é \u2028", by: "ada" } as const;
      await resolveOperation(scene.world.engine(), { ...(await scene.newest()), ...word });
      return scene.files();
    },
  },
  {
    name: "json-answer",
    what: "A run whose answer fulfilled a contract of JSON.",
    make: async () =>
      (await worked({ definition: answerDefinition, turns: [{ text: '{"answer": 42}' }] })).files(),
  },
  {
    name: "json-answer-invalid",
    what: "A run that failed since its answer was not the JSON that was demanded.",
    make: async () =>
      (await worked({ definition: answerDefinition, turns: [{ text: "forty-two" }] })).files(),
  },
];

const deaths: readonly Scene[] = [
  {
    name: "died-before-its-first-line",
    what: "A session with its first task that nobody has held.",
    make: async () => (await EngineScene.begin(everyTool)).files(),
  },
  {
    name: "died-holding",
    what: "A death right after the epoch was raised.",
    make: () => filesAfter("epoch.raised"),
  },
  {
    name: "died-with-its-task",
    what: "A death right after the task became a run.",
    make: () => filesAfter("run.created"),
  },
  {
    name: "died-asking",
    what: "A death while the model was asked.",
    make: () => filesAfter("model.requested"),
  },
  {
    name: "died-with-calls",
    what: "A death with operations that never started.",
    make: () => filesAfter("op.asked"),
  },
  {
    name: "died-in-reads",
    what: "A death in operations that change nothing.",
    make: () => filesAfter("op.started"),
  },
  {
    name: "died-in-a-write",
    what: "A death in a checked write of a new file.",
    make: () => filesAfter("op.started", 4),
  },
  {
    name: "died-in-a-replacement",
    what: "A death in a checked write.",
    make: () => filesAfter("op.started", 5),
  },
  { name: "died-in-an-edit", what: "A death in an edit.", make: () => filesAfter("op.started", 6) },
  { name: "died-in-a-delete", what: "A death in a deletion.", make: () => filesAfter("op.started", 7) },
  {
    name: "died-with-outcomes",
    what: "A death with known outcomes that were not settled.",
    make: () => filesAfter("op.known", 5),
  },
  {
    name: "died-settled",
    what: "A death right after a turn was settled.",
    make: () => filesAfter("op.settled"),
  },
  {
    name: "died-completed",
    what: "A death after the run was over, before its good-bye.",
    make: () => filesAfter("run.ended"),
  },
  {
    name: "died-twice-in-recovery",
    what: "A death in a write, and two more in the recoveries from it.",
    make: async () => {
      const once = await diedAfter("op.started", 5);
      const twice = await once.deathAfter("run.started");
      return (await twice.deathAfter("epoch.raised")).files();
    },
  },
  {
    name: "completed-after-three-deaths",
    what: "The same, gone on with to the end.",
    make: async () => {
      const once = await diedAfter("op.started", 5);
      const twice = await once.deathAfter("run.started");
      const thrice = await twice.deathAfter("op.known");
      await thrice.work();
      return thrice.files();
    },
  },
  {
    name: "died-in-an-answer",
    what: "A death in the middle of an answer, with what was kept of it beside the log.",
    make: async () => (await diedInAnswer()).files(),
  },
  {
    name: "completed-after-a-cut-answer",
    what: "The same, gone on with: the cut answer is an interrupted message, and its call was made again.",
    make: async () => {
      const scene = await diedInAnswer();
      await scene.work();
      return scene.files();
    },
  },
];

const longAnswer: Beginning = {
  turns: [{ reasoning: "Let me think.", text: "One two three four five six seven.", perTokenMs: 1 }],
};

async function diedInAnswer(): Promise<EngineScene> {
  const scene = await EngineScene.begin(longAnswer);
  const deathsOfIt = await scene.deaths(({ verb, path }) => verb === "write" && path.endsWith("/live.jsonl"));
  const death = deathsOfIt.at(-1);
  if (death === undefined) throw new Error("the answer was not kept as it came");
  return death;
}

const claimed: Scene = {
  name: "died-claimed",
  what: "A death after a delivery was claimed and before its message was said.",
  make: async () => {
    const scene = await EngineScene.begin(doubtful);
    const found = await scene.deaths(({ verb, path }) => verb === "write" && path.endsWith("/log.jsonl"));
    const [, death] = found;
    if (death === undefined) throw new Error("nothing was said");
    return death.files();
  },
};

/** What the engine leaves. */
export const scenesOfRuns: readonly Scene[] = [...endings, ...deaths, claimed];
