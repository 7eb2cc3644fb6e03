/** Names of environment variables, and what they say of the values. */

const secretWords =
  /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|PRIVATE|COOKIE|BEARER|_AUTH$|_PAT$|_JWT/;

const providerPrefixes =
  /^(ANTHROPIC|OPENAI|AZURE_OPENAI|GEMINI|GOOGLE_GENERATIVE_AI|MISTRAL|GROQ|XAI|DEEPSEEK|OPENROUTER|TOGETHER|FIREWORKS|COHERE|CEREBRAS|PERPLEXITY|OLLAMA|CLAUDE|CODEX|AI_GATEWAY|HOLDFAST)_/;
const providerNames = new Set(["GOOGLE_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"]);

/** True where the name speaks of a secret. */
export function speaksOfSecret(name: string): boolean {
  return secretWords.test(name.toUpperCase());
}

/** True for the key of a model's provider: no command ever sees its value, whoever asks for that. */
export function isProviderKey(name: string): boolean {
  const upper = name.toUpperCase();
  return providerNames.has(upper) || (providerPrefixes.test(upper) && secretWords.test(upper));
}
