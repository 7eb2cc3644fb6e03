import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCassette } from "../../src/agents/builtin/models/cassette.ts";
import { makeCassetteModel } from "../../src/agents/builtin/models/cassette-model.ts";
import type { EngineContext, WorkReport } from "../../src/engine/index.ts";
import { recordSession, resume, runTask } from "../../src/engine/index.ts";
import type { Model } from "../../src/model/agent.ts";
import { wordsOf } from "../../src/model/cassette-turn.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { MemoryClock } from "../crash/memory-host.ts";
import { anyAnswer, anyFailure, type Answered, type Failed } from "./any-answer.ts";
import { comparableFacts, type ComparableFact } from "./comparable.ts";
import { examine } from "./examine.ts";

/** What a model does with one call. */
type Done = Answered | Failed;

/** A model that does what its script says. */
function scripted(script: readonly Done[]): { model: Model; left: () => number } {
  let next = 0;
  const model: Model = {
    provider: "anthropic",
    name: "scripted",
    async *call() {
      const done = script[next++];
      if (done === undefined) throw new Error("the script is over");
      if (done.type === "failed") {
        for (const { type: part, text } of done.came) yield { type: "delta", part, text };
        yield { type: "failed", failure: done.failure };
        return;
      }
      for (const part of done.parts) {
        if (part.type === "call") continue;
        for (const text of wordsOf(part.text)) yield { type: "delta", part: part.type, text };
      }
      yield done;
    },
  };
  return { model, left: () => script.length - next };
}

/** Works until `left` says that nothing more will be answered, giving another task whenever one is over. */
async function work(world: EngineWorld, context: EngineContext, left: () => number): Promise<string> {
  const { workspace } = EngineWorld;
  const request = { workspace, agent: "builtin", policy: {}, task: "Task.", model: EngineWorld.model };
  const observer = world.observer();
  let report: WorkReport = await runTask(context, request, observer, () => undefined);
  while (left() > 0) {
    const task = report.ending === "suspended" ? {} : { task: "Another task." };
    const selector = report.session;
    report = await resume(context, { selector, acceptRollback: false, ...task }, observer);
  }
  return report.session;
}

function newWorld(cassette: string): EngineWorld {
  const world = new EngineWorld();
  world.disk.plant("/cassette.json", cassette);
  world.disk.plant("/project/a.txt", "one\ntwo\n");
  return world;
}

/** A session of that script, recorded; and its facts. */
async function recorded(script: readonly Done[]): Promise<{ text: string; facts: ComparableFact[] }> {
  const world = newWorld('{"cassette":1,"turns":[]}');
  const engine = world.engine();
  const { model, left } = scripted(script);
  const context: EngineContext = {
    ...engine,
    openAgent: async (request) => ({ ...(await engine.openAgent(request)), model }),
  };
  const session = await work(world, context, left);
  const { text = "" } = await recordSession(world.engine(), { selector: session });
  return { text, facts: comparableFacts((await examine(world.engine(), session)).commits) };
}

/** What the cassette answers, turn by turn. */
async function played(text: string): Promise<Done[]> {
  const cassette = parseCassette(new TextEncoder().encode(text), "recorded.yaml");
  const model = makeCassetteModel(cassette, "recorded.yaml", new MemoryClock());
  const all: Done[] = [];
  for (const cassetteIndex of cassette.turns.keys()) {
    const call = { system: "", tools: [], messages: [], cassetteIndex };
    const came: { type: "text" | "reasoning"; text: string }[] = [];
    for await (const event of model.call(call, new AbortController().signal)) {
      if (event.type === "delta") came.push({ type: event.part, text: event.text });
      else if (event.type === "failed") all.push({ ...event, came });
      else all.push(event);
    }
  }
  return all;
}

/** What a log keeps of what a model did: ids are not compared, and arguments have their lone surrogates as escapes. */
function kept(done: Done): unknown {
  if (done.type === "failed") {
    const { failure, came } = done;
    const message = failure.message.toWellFormed();
    return { ...failure, message, began: failure.began === true || came.length > 0, came: joined(came) };
  }
  const parts = done.parts.map((part) => {
    if (part.type !== "call") return part;
    const { call: _call, ...rest } = part;
    const argsText = part.argsText.trim() === "" ? "{}" : escaped(part.argsText);
    return { ...rest, tool: part.tool.slice(0, 128).toWellFormed(), argsText };
  });
  const { responseId: _responseId, ...rest } = done;
  return { ...rest, parts };
}

/** What came of an answer as it is kept: pieces of one kind that follow each other are one, and blanks are none. */
function joined(came: Failed["came"]): { type: string; text: string }[] {
  const texts: { type: string; text: string }[] = [];
  for (const { type, text } of came) {
    const before = texts.at(-1);
    if (text === "") continue;
    if (before?.type === type) before.text += text;
    else texts.push({ type, text });
  }
  return texts.filter(({ text }) => text.trim() !== "");
}

function escaped(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}

/** The facts of the model and its tools, without who answered and the ids that it gave. */
function ofTheModel(facts: readonly ComparableFact[]): ComparableFact[] {
  const kinds = /^(?:message|model\.|op\.|run\.)/;
  const foreign = new Set(["provider", "model", "cassetteIndex", "call", "responseId"]);
  return facts
    .filter((fact) => kinds.test(String(fact["kind"])))
    .map((fact) => Object.fromEntries(Object.entries(fact).filter(([name]) => !foreign.has(name))));
}

const last: Done = { type: "answered", parts: [{ type: "text", text: "Done." }], stopReason: "stop" };

describe("whatever a model did", () => {
  test("is in the cassette of its session, and a replay yields the same facts", async () => {
    const scripts = fc.array(fc.oneof({ weight: 3, arbitrary: anyAnswer }, anyFailure), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(scripts, async (some) => {
        const script = [...some, last];
        const first = await recorded(script);
        expect((await played(first.text)).map((done) => kept(done))).toEqual(
          script.map((done) => kept(done)),
        );

        const world = newWorld(first.text);
        const turnsLeft = (): number => script.length - world.told.filter((line) => endsCall(line)).length;
        const session = await work(world, world.engine(), turnsLeft);
        const facts = comparableFacts((await examine(world.engine(), session)).commits);
        expect(ofTheModel(facts)).toEqual(ofTheModel(first.facts));
        const again = await recordSession(world.engine(), { selector: session });
        expect(again.text).toBe(first.text);
      }),
      { numRuns: 40 },
    );
  });
});

function endsCall({ facts }: { readonly facts: readonly { readonly kind: string }[] }): boolean {
  return facts.some(({ kind }) => kind === "model.answered" || kind === "model.failed");
}
