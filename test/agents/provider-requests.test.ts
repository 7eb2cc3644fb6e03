import fc from "fast-check";
import { expect, test } from "vitest";
import { providerOf } from "../../src/agents/builtin/models/choice.ts";
import { translateCall } from "../../src/agents/builtin/models/prompt.ts";
import { loadLanguageModel } from "../../src/agents/builtin/models/providers.ts";
import type { PromptMessage } from "../../src/model/agent.ts";
import { projectPrompt } from "../../src/model/projection.ts";
import { foldEach, History } from "../model/history.ts";
import { commonFault, rulesOf } from "./provider-rules.ts";
import { choiceOf, modelCall, secretKey, wires, type Wire } from "./wire.ts";

// Real request bodies, as the providers' packages write them, of random histories: none may be one that is refused.

const tapes = fc.array(fc.nat({ max: 59 }), { minLength: 4, maxLength: 240, size: "max" });
const histories = 1000;
/** Of the prompts that no call was made with, every so many-th is written out. */
const sampled = 5;
const payloads = { text: () => "", base64: () => "aGk=" };

/** What a provider would be sent: its package writes it, and nobody sends it. */
async function writer(wire: Wire): Promise<(messages: PromptMessage[]) => Promise<string>> {
  const { provider, model } = choiceOf(wire, "http://127.0.0.1:9");
  const target = { provider: providerOf(provider), model };
  const written: string[] = [];
  const unsent = new Error("not sent");
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    if (typeof init?.body === "string") written.push(init.body);
    throw unsent;
  };
  const baseUrl = "http://127.0.0.1:9";
  const language = await loadLanguageModel({ ...target, baseUrl, apiKey: secretKey, fetch });
  return async (messages) => {
    const sending = language.doStream(translateCall(modelCall({ messages }), target));
    await expect(sending).rejects.toBe(unsent);
    return written.pop() ?? "";
  };
}

test(`what is sent after any line of ${histories} histories is what each provider takes`, async () => {
  const names = Object.keys(wires) as Wire[];
  const writers = await Promise.all(names.map(async (wire) => ({ wire, write: await writer(wire) })));
  const seen = new Set<string>();
  let checked = 0;
  await fc.assert(
    fc.asyncProperty(tapes, async (tape) => {
      const { commits, callsAt } = new History(tape).grow();
      let lines = 0;
      for (const state of foldEach(commits)) {
        const isCall = callsAt.includes(++lines);
        const prompt = projectPrompt(state, payloads);
        // Nobody is asked to go on with what it said itself.
        if (isCall) expect(prompt.at(-1)?.role).toMatch(/^(?:user|tool)$/);
        const text = JSON.stringify(prompt);
        if (prompt.length === 0 || seen.has(text)) continue;
        seen.add(text);
        if (!isCall && seen.size % sampled > 0) continue;
        checked++;
        for (const { wire, write } of writers) {
          const rawBody = await write(prompt);
          const body = JSON.parse(rawBody) as Record<string, unknown>;
          const fault = commonFault(rawBody) ?? rulesOf[wire](body);
          if (fault !== undefined) throw new Error(`${wire} refuses ${fault}: ${rawBody}`);
        }
      }
    }),
    // To shrink what thousands of requests found would take many minutes: the seed is told, and the request.
    { numRuns: histories, endOnFailure: true },
  );
  expect(checked).toBeGreaterThan(3 * histories);
});
