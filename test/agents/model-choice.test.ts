import { describe, expect, test } from "vitest";
import { baseUrlOf, keyNames, parseModelChoice, requireKey } from "../../src/agents/builtin/models/choice.ts";
import { openModel } from "../../src/agents/builtin/models/model.ts";
import { HoldfastError } from "../../src/model/errors.ts";
import { outside } from "./wire.ts";

/** The error that a function throws, as a person reads it. */
function refusalOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    expect(error.code).toBe("usage");
    return `${error.message} | ${error.details.hint ?? ""}`;
  }
  throw new Error("it was accepted");
}

describe("--model", () => {
  test.each([
    ["anthropic/claude-sonnet-4-5", { provider: "anthropic", model: "claude-sonnet-4-5" }],
    ["openai/gpt-5", { provider: "openai", model: "gpt-5" }],
    ["google/gemini-2.5-pro", { provider: "google", model: "gemini-2.5-pro" }],
    ["cassette:a/b:c.yaml", { provider: "cassette", model: "a/b:c.yaml" }],
  ])("%s is understood", (text, choice) => {
    expect(parseModelChoice(text, {})).toEqual(choice);
  });

  test("a model's name may hold slashes, and a base URL is recorded with it", () => {
    const environment = { OPENAI_COMPATIBLE_BASE_URL: " http://127.0.0.1:11434/v1/ " };
    expect(parseModelChoice("openai-compatible/org/model:7b", environment)).toEqual({
      provider: "openai-compatible",
      model: "org/model:7b",
      baseUrl: "http://127.0.0.1:11434/v1",
    });
  });

  test("what names no model is refused with what to write instead", () => {
    const texts = [
      "",
      "gpt-5",
      "anthropic",
      "anthropic/ ",
      "/x",
      "mistral/large",
      "toString/x",
      "cassette:",
      "cassette/demo.yaml",
      "openai-compatible/local",
    ];
    expect(texts.map((text) => refusalOf(() => parseModelChoice(text, {})))).toMatchInlineSnapshot(`
      [
        """ is not a model. | A model is given as PROVIDER/MODEL, as in anthropic/claude-sonnet-4-5, or as cassette:FILE. Providers: anthropic, openai, openai-compatible, google.",
        ""gpt-5" is not a model. | A model is given as PROVIDER/MODEL, as in anthropic/claude-sonnet-4-5, or as cassette:FILE. Providers: anthropic, openai, openai-compatible, google.",
        ""anthropic" names a provider and no model. | A model is given as PROVIDER/MODEL, as in anthropic/claude-sonnet-4-5, or as cassette:FILE.",
        ""anthropic/ " names the provider anthropic and no model. | A model is given as PROVIDER/MODEL, as in anthropic/claude-sonnet-4-5, or as cassette:FILE.",
        ""/x" is not a model. | A model is given as PROVIDER/MODEL, as in anthropic/claude-sonnet-4-5, or as cassette:FILE. Providers: anthropic, openai, openai-compatible, google.",
        "There is no provider "mistral". Known ones: anthropic, openai, openai-compatible, google, and cassette:FILE. | A model is given as PROVIDER/MODEL, as in anthropic/claude-sonnet-4-5, or as cassette:FILE.",
        "There is no provider "toString". Known ones: anthropic, openai, openai-compatible, google, and cassette:FILE. | A model is given as PROVIDER/MODEL, as in anthropic/claude-sonnet-4-5, or as cassette:FILE.",
        "cassette: names no file. | A model is given as PROVIDER/MODEL, as in anthropic/claude-sonnet-4-5, or as cassette:FILE.",
        ""cassette/demo.yaml" does not name a cassette. | Write cassette:demo.yaml",
        "The provider openai-compatible has no address of its own. | Set OPENAI_COMPATIBLE_BASE_URL, for example to http://127.0.0.1:11434/v1",
      ]
    `);
  });

  test.each([
    "no url",
    "ftp://host/v1",
    "https://user:hunter2@host/v1",
    "https://host/v1?key=hunter2",
    "https://host/v1#x",
  ])("the base URL %j is refused, and not repeated", (url) => {
    const refusal = refusalOf(() => parseModelChoice("openai/gpt-5", { OPENAI_BASE_URL: url }));
    expect(refusal).toContain("OPENAI_BASE_URL");
    expect(refusal).not.toContain("hunter2");
  });
});

describe("where a call goes", () => {
  test.each([
    ["https://api.anthropic.com", "https://api.anthropic.com/v1"],
    ["https://gateway.example/anthropic", "https://gateway.example/anthropic/v1"],
    ["https://gateway.example/v1", "https://gateway.example/v1"],
  ])("Anthropic's address %s is meant as %s", (baseUrl, expected) => {
    expect(baseUrlOf({ provider: "anthropic", model: "m", baseUrl }, {})).toBe(expected);
  });

  test("the recorded address wins over the environment, which wins over the provider's own", () => {
    const environment = { OPENAI_BASE_URL: "http://here/v1" };
    expect(baseUrlOf({ provider: "openai", model: "m", baseUrl: "http://there/v1" }, environment)).toBe(
      "http://there/v1",
    );
    expect(baseUrlOf({ provider: "openai", model: "m" }, environment)).toBe("http://here/v1");
    expect(baseUrlOf({ provider: "openai", model: "m" }, {})).toBe("https://api.openai.com/v1");
  });
});

describe("keys", () => {
  test.each([
    ["anthropic", "ANTHROPIC_API_KEY"],
    ["openai", "OPENAI_API_KEY"],
    ["google", "GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY"],
  ])("%s without a key is refused before anything begins, naming %s", (provider, names) => {
    const refusal = refusalOf(() =>
      requireKey({ provider, model: "m" }, { ANTHROPIC_API_KEY: " ", OPENAI_API_KEY: "" }),
    );
    expect(refusal).toBe(`There is no key for ${provider}/m. | Set ${names}.`);
  });

  test("opening a model without its key is refused in the same way", () => {
    const choice = { provider: "anthropic", model: "m" };
    const open = (): unknown => openModel({ choice, environment: {}, host: outside, redact: (text) => text });
    expect(refusalOf(open)).toContain("ANTHROPIC_API_KEY");
  });

  test("opening a provider that is not known is refused", () => {
    const choice = { provider: "nobody", model: "m" };
    const open = (): unknown => openModel({ choice, environment: {}, host: outside, redact: (text) => text });
    expect(refusalOf(open)).toContain("Known ones: anthropic, openai, openai-compatible, google");
  });

  test("a local server and a cassette need none", () => {
    expect(requireKey({ provider: "openai-compatible", model: "m" }, {})).toBeUndefined();
    expect(requireKey({ provider: "cassette", model: "f" }, {})).toBeUndefined();
  });

  test("a key is taken without the space around it, and what is no key is refused unseen", () => {
    expect(requireKey({ provider: "openai", model: "m" }, { OPENAI_API_KEY: " sk-1\n" })).toBe("sk-1");
    const refusal = refusalOf(() =>
      requireKey({ provider: "openai", model: "m" }, { OPENAI_API_KEY: "sk-1\nsk-2" }),
    );
    expect(refusal).toContain("OPENAI_API_KEY");
    expect(refusal).not.toContain("sk-1");
  });

  test("Google's older name for its key works too", () => {
    expect(requireKey({ provider: "google", model: "m" }, { GEMINI_API_KEY: "k" })).toBe("k");
    expect(keyNames).toContain("GEMINI_API_KEY");
  });
});
