import { HoldfastError } from "../../../model/errors.ts";
import type { ModelChoice } from "../../../model/facts/session.ts";

/** Which model answers, and with which key: decided before a session exists, so that nothing is begun in vain. */

/**
 * Variables by name. Keys and base URLs come from here alone, never from the process itself: who calls puts together
 * what the environment, the credential file and the configuration say.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

interface ProviderRow {
  /** Variables that may hold the key, the first one set wins. */
  readonly keyNames: readonly [string, ...string[]];
  readonly keyRequired: boolean;
  readonly baseUrlName: string;
  /** The provider's own address; absent where there is none and one must be given. */
  readonly ownBaseUrl?: string;
}

const providers = {
  anthropic: {
    keyNames: ["ANTHROPIC_API_KEY"],
    keyRequired: true,
    baseUrlName: "ANTHROPIC_BASE_URL",
    ownBaseUrl: "https://api.anthropic.com",
  },
  openai: {
    keyNames: ["OPENAI_API_KEY"],
    keyRequired: true,
    baseUrlName: "OPENAI_BASE_URL",
    ownBaseUrl: "https://api.openai.com/v1",
  },
  "openai-compatible": {
    keyNames: ["OPENAI_COMPATIBLE_API_KEY"],
    keyRequired: false,
    baseUrlName: "OPENAI_COMPATIBLE_BASE_URL",
  },
  google: {
    keyNames: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    keyRequired: true,
    baseUrlName: "GOOGLE_BASE_URL",
    ownBaseUrl: "https://generativelanguage.googleapis.com/v1beta",
  },
} as const satisfies Record<string, ProviderRow>;

/** A provider that is reached over the network. */
export type ProviderName = keyof typeof providers;

const providerNames = Object.keys(providers) as readonly ProviderName[];

/** The names of all variables that may hold a key; their values are secrets and no child sees them. */
export const keyNames: readonly string[] = providerNames.flatMap((name) => [...providers[name].keyNames]);

const forms = "A model is given as PROVIDER/MODEL, as in anthropic/claude-sonnet-4-5, or as cassette:FILE.";

function usage(message: string, hint: string): HoldfastError {
  return new HoldfastError("usage", message, { hint });
}

function isProviderName(name: string): name is ProviderName {
  return Object.hasOwn(providers, name);
}

/** The provider of a recorded choice. Throws `usage` where it is not a known one. */
export function providerOf(name: string): ProviderName {
  if (isProviderName(name)) return name;
  throw usage(
    `There is no provider "${name}". Known ones: ${providerNames.join(", ")}, and cassette:FILE.`,
    forms,
  );
}

function valueOf(
  environment: Environment,
  names: readonly string[],
): { name: string; value: string } | undefined {
  for (const name of names) {
    const value = environment[name]?.trim();
    if (value) return { name, value };
  }
  return undefined;
}

/**
 * Reads what `--model` was given: `provider/model` or `cassette:FILE`. A base URL is taken from the environment and
 * recorded, so that a resume reaches the same place. Throws `usage` where the text, the provider or the URL is wrong.
 */
export function parseModelChoice(text: string, environment: Environment): ModelChoice {
  const cassette = /^cassette([:/])(.*)$/s.exec(text);
  if (cassette !== null) {
    const file = cassette[2] ?? "";
    if (cassette[1] === "/") throw usage(`"${text}" does not name a cassette.`, `Write cassette:${file}`);
    if (file === "") throw usage("cassette: names no file.", forms);
    return { provider: "cassette", model: file };
  }
  const slash = text.indexOf("/");
  if (slash <= 0) {
    if (isProviderName(text)) throw usage(`"${text}" names a provider and no model.`, forms);
    throw usage(`"${text}" is not a model.`, `${forms} Providers: ${providerNames.join(", ")}.`);
  }
  const provider = providerOf(text.slice(0, slash));
  const model = text.slice(slash + 1);
  if (model.trim() === "") throw usage(`"${text}" names the provider ${provider} and no model.`, forms);
  const row: ProviderRow = providers[provider];
  const given = valueOf(environment, [row.baseUrlName]);
  if (given !== undefined) return { provider, model, baseUrl: checkBaseUrl(given.value, given.name) };
  if (row.ownBaseUrl !== undefined) return { provider, model };
  throw usage(
    `The provider ${provider} has no address of its own.`,
    `Set ${row.baseUrlName}, for example to http://127.0.0.1:11434/v1`,
  );
}

/** A base URL as it is recorded. Throws `usage` where it is none, or holds a secret that would be recorded with it. */
function checkBaseUrl(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw usage(
      `${name} is not a URL of http or https.`,
      `Set ${name} to a URL such as https://gateway.example/v1`,
    );
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw usage(
      `${name} holds more than an address; it is recorded with the session and must hold no secret.`,
      `Leave user, password, query and fragment out of ${name}; a key has a variable of its own.`,
    );
  }
  return text.replace(/\/+$/, "");
}

/** Where calls go: the recorded base URL, else the environment's, else the provider's own. */
export function baseUrlOf(choice: ModelChoice, environment: Environment): string {
  const provider = providerOf(choice.provider);
  const row: ProviderRow = providers[provider];
  const given = valueOf(environment, [row.baseUrlName]);
  const url = choice.baseUrl ?? (given && checkBaseUrl(given.value, given.name)) ?? row.ownBaseUrl;
  if (url === undefined) throw usage(`The provider ${provider} has no address.`, `Set ${row.baseUrlName}.`);
  // Anthropic's own programs take the address without a version, so both ways of writing it must work.
  return provider === "anthropic" && !/\/v\d+$/.test(url) ? `${url}/v1` : url;
}

/**
 * The key for a choice, undefined where none is needed. Throws `usage` that names the variable to set, so that a
 * command can check before it begins a session. Its value is a secret.
 */
export function requireKey(choice: ModelChoice, environment: Environment): string | undefined {
  if (choice.provider === "cassette") return undefined;
  const row: ProviderRow = providers[providerOf(choice.provider)];
  const found = valueOf(environment, row.keyNames);
  if (found === undefined) {
    if (!row.keyRequired) return undefined;
    throw usage(
      `There is no key for ${choice.provider}/${choice.model}.`,
      `Set ${row.keyNames.join(" or ")}.`,
    );
  }
  // Anything else cannot stand in a header, and the refusal of the HTTP client would quote it.
  if (!/^[\x21-\x7e]+$/.test(found.value)) {
    throw usage(`${found.name} holds characters that no key has.`, `Set ${found.name} to the key alone.`);
  }
  return found.value;
}
