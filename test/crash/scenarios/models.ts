import { defaultDefinition } from "../../../src/model/default-definition.ts";
import type { AgentDefinition } from "../../../src/model/facts.ts";
import type { EngineScenario } from "../campaign/engine-scenario.ts";
import { promised } from "../campaign/finding.ts";
import type { WholeSession } from "../campaign/whole-session.ts";
import { asks, done, read, write } from "./calls.ts";

/** What models do: they fail, answer at length, say nothing, or say what they must not. */

const words = (count: number): string =>
  Array.from({ length: count }, (_, index) => `word${index}${"d".repeat(200)}`).join(" ");
const error = (members: object): unknown => ({ error: { message: "not now", ...members } });
const usage = { input: 40, output: 20 };

function withOutput(output: AgentDefinition["spec"]["output"]): AgentDefinition {
  return { ...defaultDefinition, spec: { ...defaultDefinition.spec, output } };
}

/** How the first run ended. */
function endOfFirst({ commits }: WholeSession): string {
  const [ended] = commits.flatMap(({ facts }) => facts.filter(({ kind }) => kind === "run.ended"));
  const { status = "", reason = "" } = (ended ?? {}) as { status?: string; reason?: string };
  return `${status} ${reason}`.trim();
}

const ends =
  (expected: string) =>
  (_: unknown, whole: WholeSession): void => {
    const end = endOfFirst(whole);
    promised(end === expected, "other", () => `the run is ${end}, not ${expected}`);
  };

/** Failures of the model. */
const failures: readonly EngineScenario[] = [
  {
    name: "asking a model again that is out of order for a while",
    turns: [
      error({ status: 503 }),
      error({ status: 429, retryAfterMs: 2000 }),
      asks(write("a.txt")),
      error({}),
      done,
    ],
    judge: ends("completed"),
  },
  {
    name: "leaving a run to whoever resumes, since the model wants a key or a long rest",
    turns: [
      error({ status: 401 }),
      asks(write("a.txt")),
      error({ status: 429, retryAfterMs: 900_000 }),
      done,
    ],
    judge: ends("completed"),
  },
  {
    name: "a run that failed, and the next one",
    turns: [asks(write("a.txt")), error({ reason: "context_overflow", retryable: false }), done],
  },
  {
    name: "an answer that breaks off, then a whole one",
    turns: [
      error({
        reason: "network",
        retryable: true,
        began: true,
        parts: [{ reasoning: "Hm." }, { text: "Half an" }],
      }),
      asks(read()),
      done,
    ],
    judge: ends("completed"),
  },
];

/** Answers of every form. */
const answers: readonly EngineScenario[] = [
  {
    name: "an answer and contents that go into blobs",
    isLong: true,
    turns: [{ text: words(160), calls: [write("long.txt", words(220)), read("book.txt")] }, done],
    files: { "book.txt": words(210) },
  },
  {
    name: "an answer that comes slowly, with its reasoning",
    turns: [{ reasoning: words(2), text: words(3), perTokenMs: 30, calls: [read()] }, done],
  },
  {
    name: "an answer that says nothing",
    turns: [{ text: "" }, done],
  },
  {
    name: "text, reasoning and calls in any order, and with what the provider wants back",
    turns: [
      {
        parts: [
          { text: "First." },
          { reasoning: "Because.", signature: "proof", providerMetadataText: '{"own":{"a":1}}' },
          { tool: "read", args: { path: "readme.txt" }, providerMetadataText: '{"own":"b"}' },
          { text: "Then." },
          { tool: "write", args: { path: "a.txt", content: "a\n" } },
        ],
      },
      done,
    ],
  },
];

/** Runs that are ended by what bounds them. */
const bounds: readonly EngineScenario[] = [
  {
    name: "as many turns as the policy allows",
    turns: [asks(read()), asks(write("a.txt")), asks(write("b.txt")), done],
    policy: { maxTurns: 2 },
    judge: ends("failed budget_turns"),
  },
  {
    name: "as many tokens as the policy allows",
    turns: [
      { calls: [read()], usage },
      { calls: [write("a.txt")], usage },
      { calls: [write("b.txt")], usage },
    ],
    policy: { maxTokens: 100 },
    judge: ends("failed budget_tokens"),
  },
  {
    name: "as much time as the policy allows",
    turns: Array.from({ length: 6 }, (_, index) => ({ calls: [write(`${index}.txt`)], firstTokenMs: 4500 })),
    policy: { maxWallClockMs: 20_000 },
    judge: ends("failed budget_wall_clock"),
  },
  {
    name: "an answer that must be json and is not, then one that is",
    turns: [asks(read()), { text: "no json" }, { text: '{"summary": "a"}' }],
    definition: withOutput({ format: "json", requiredFields: ["summary"] }),
    judge: ends("failed output_invalid"),
  },
];

export const modelScenarios: readonly EngineScenario[] = [...failures, ...answers, ...bounds];
