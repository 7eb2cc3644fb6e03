import type { Fact, Part } from "../../src/model/facts.ts";
import type { EffectClass, Json } from "../../src/model/values.ts";

/** What random histories are made of: what people and models say, in all the shapes that a log can hold. */

const classes: readonly EffectClass[] = ["pure", "pure", "checked", "supervised", "opaque"];
const providerIds = ["call_1", "call_1", "call_2", "", "has space", "x".repeat(80)];
const toolNames = ["read", "exec", "functions.exec", "", "名前", "3read", "-", "a".repeat(90)];
const texts = ["Said.", "", "  ", "Said, with an end. \n"];
const png = { blob: { sha256: "1".repeat(64), bytes: 3 }, mediaType: "image/png" } as const;

/** The next decision, below `below`. */
type Choose = (below: number) => number;
type Maker = "anthropic" | "openai" | "openai-compatible" | "google" | "nobody";
const makers: readonly Maker[] = ["anthropic", "openai", "openai-compatible", "google", "nobody"];

function oneOf<T>(choose: Choose, values: readonly [T, ...T[]]): T {
  const index = choose(values.length);
  // No member of a list of ours is undefined, but some are null.
  return values[index] as T;
}

/** A task. */
export function randomTask(choose: Choose): Part[] {
  const text = oneOf<string>(choose, ["Do it.", " \n ", "Say\u2028it."]);
  const typed: Part = { type: "text", text };
  return oneOf<Part[]>(choose, [
    [typed],
    [typed, { type: "image", ...png }],
    [
      {
        type: "context",
        source: "AGENTS.md",
        title: "rules",
        hidden: true,
        reversible: true,
        text: "Be good.",
      },
      typed,
    ],
    [
      { type: "mail", from: "ses_x", text: "Hello" },
      { type: "notice", source: "ci", text: "" },
    ],
  ]);
}

/** An answer: its parts and its calls. */
export function randomAnswer(
  choose: Choose,
  newId: (prefix: string) => string,
  turn: { run: string; turn: number },
): { parts: Part[]; asked: Extract<Fact, { kind: "op.asked" }>[] } {
  const maker = makers[choose(makers.length)] ?? "nobody";
  const parts: Part[] = [];
  const asked: Extract<Fact, { kind: "op.asked" }>[] = [];
  const say = (likely: number, part: () => Part[]) => void (choose(likely) === 1 && parts.push(...part()));
  const calls = choose(5);
  say(3, () => reasoning(choose, newId, maker));
  say(2, () => [{ type: "text", text: texts[choose(texts.length)] ?? "", ...ofText(maker, newId) }]);
  for (let call = 0; call < calls; call++) {
    const operation = newId("op");
    const effect = classes[choose(classes.length)] ?? "pure";
    const tool = toolNames[choose(toolNames.length)] ?? "";
    const theirs = providerIds[choose(providerIds.length)] ?? "";
    const { args, raw } = callArguments(choose);
    parts.push({ type: "tool_call", operation, tool, args, ...ofCall(maker, newId) });
    asked.push({
      kind: "op.asked",
      operation,
      ...turn,
      tool,
      effect,
      call: theirs,
      ...(raw !== undefined && { rawArgs: raw }),
    });
    say(12, () => reasoning(choose, newId, maker));
  }
  say(6, () => reasoning(choose, newId, maker));
  return { parts, asked };
}

function callArguments(choose: Choose): { args: Json; raw?: string } {
  return oneOf<{ args: Json; raw?: string }>(choose, [
    { args: {} },
    { args: { path: "a" }, raw: '{ "path":"a" }' },
    { args: '{"pa', raw: '{"pa' },
    { args: [1, 2], raw: "[1,2]" },
    { args: { path: "\uFFFD" }, raw: '{"path":"\\ud99c"}' },
  ]);
}

function reasoning(choose: Choose, newId: (prefix: string) => string, maker: Maker): Part[] {
  const text = oneOf(choose, ["I think.", ""]);
  const proof = oneOf(choose, ["proof", null]);
  switch (maker) {
    case "anthropic":
      if (proof === null)
        return [{ type: "reasoning", text: "", providerMetadata: { anthropic: { redactedData: "r" } } }];
      return [
        { type: "reasoning", text, signature: proof, providerMetadata: { anthropic: { signature: proof } } },
      ];
    case "openai": {
      const itemId = newId("rs");
      const last = { openai: { itemId, reasoningEncryptedContent: proof } };
      const parts: Part[] = [{ type: "reasoning", text, providerMetadata: last }];
      if (choose(3) === 1)
        parts.unshift({ type: "reasoning", text: "First.", providerMetadata: { openai: { itemId } } });
      return parts;
    }
    case "google":
      return [{ type: "reasoning", text, providerMetadata: { google: { thoughtSignature: "g" } } }];
    case "openai-compatible":
      return [{ type: "reasoning", text: "Plain thought." }];
    case "nobody":
      return [{ type: "reasoning", text, signature: "s" }];
  }
}

function ofText(maker: Maker, newId: (prefix: string) => string): { providerMetadata?: Json } {
  if (maker === "openai") return { providerMetadata: { openai: { itemId: newId("msg_item") } } };
  return maker === "google" ? { providerMetadata: { google: { thoughtSignature: "t" } } } : {};
}

function ofCall(maker: Maker, newId: (prefix: string) => string): { providerMetadata?: Json } {
  switch (maker) {
    case "openai":
      return { providerMetadata: { openai: { itemId: newId("fc") } } };
    case "google":
    case "openai-compatible":
      return { providerMetadata: { [maker]: { thoughtSignature: "c" } } };
    case "anthropic":
    case "nobody":
      return {};
  }
}
