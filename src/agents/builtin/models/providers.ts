import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { ProviderName } from "./choice.ts";

/** What it takes to reach a model. */
export interface Access {
  readonly provider: ProviderName;
  /** The provider's name of the model. */
  readonly model: string;
  readonly baseUrl: string;
  /** Absent only where the provider needs none. */
  readonly apiKey: string | undefined;
  readonly fetch: typeof fetch;
}

/** The name under which the compatible provider's package keeps what it wants back. */
export const compatibleName = "openai-compatible";

/**
 * The provider's package for that model. Each package is loaded when its provider is first used and never otherwise;
 * address and key are always given, for without them a package would look into the process's own environment.
 */
export async function loadLanguageModel(access: Access): Promise<LanguageModelV3> {
  const { provider, model, baseUrl, fetch } = access;
  const settings = { baseURL: baseUrl, apiKey: access.apiKey ?? "", fetch };
  switch (provider) {
    case "anthropic":
      return (await import("@ai-sdk/anthropic")).createAnthropic(settings).languageModel(model);
    case "openai":
      return (await import("@ai-sdk/openai")).createOpenAI(settings).responses(model);
    case "openai-compatible":
      return (await import("@ai-sdk/openai-compatible"))
        .createOpenAICompatible({ ...settings, name: compatibleName, includeUsage: true })
        .chatModel(model);
    case "google":
      return (await import("@ai-sdk/google")).createGoogleGenerativeAI(settings).languageModel(model);
  }
}
