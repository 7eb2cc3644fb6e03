import type { Host } from "../../../host/index.ts";
import type { Model } from "../../../model/agent.ts";
import { HoldfastError } from "../../../model/errors.ts";
import type { ModelChoice } from "../../../model/facts/session.ts";
import { makeRedactor } from "../../../model/redact.ts";
import { makeCassetteModel } from "./cassette-model.ts";
import { parseCassette } from "./cassette.ts";
import { type CallLimits, callLimits } from "./call-limits.ts";
import { baseUrlOf, type Environment, providerOf, requireKey } from "./choice.ts";
import { makeProviderModel } from "./provider-model.ts";

/** What it takes to open a model. */
export interface OpenModelOptions {
  /** As `parseModelChoice` read it, or as the session recorded it. */
  readonly choice: ModelChoice;
  /** Where keys and base URLs are looked up. */
  readonly environment: Environment;
  readonly host: Pick<Host, "fetch" | "clock">;
  /** How long a call may be silent; {@link callLimits} where nobody says. A cassette has none. */
  readonly limits?: CallLimits;
  /** Masks secrets in text that is about to be stored or shown. */
  readonly redact: (text: string) => string;
  /** The cassette's bytes; needed for a cassette and for nothing else. */
  readonly cassette?: Uint8Array;
}

/**
 * Opens the chosen model. Sends nothing and loads no provider's package before the first call. Throws `usage` where
 * the provider is unknown, a key or an address is missing, or the cassette cannot be read.
 */
export function openModel(options: OpenModelOptions): Model {
  const { choice, environment, host } = options;
  if (choice.provider === "cassette") {
    if (options.cassette === undefined) {
      throw new HoldfastError("usage", `The cassette ${choice.model} was not given.`);
    }
    return makeCassetteModel(parseCassette(options.cassette, choice.model), choice.model, host.clock);
  }
  const apiKey = requireKey(choice, environment);
  const own = makeRedactor(apiKey === undefined ? [] : [apiKey]);
  return makeProviderModel({
    access: {
      provider: providerOf(choice.provider),
      model: choice.model,
      baseUrl: baseUrlOf(choice, environment),
      apiKey,
      fetch: host.fetch,
    },
    clock: host.clock,
    limits: options.limits ?? callLimits,
    redact: (text) => options.redact(own.text(text)),
  });
}
