import type { Host } from "../../host/index.ts";
import type { Agent, Model, Tool } from "../../model/agent.ts";
import type { ModelChoice } from "../../model/facts.ts";
import { HoldfastError } from "../../model/errors.ts";
import type { Redactor } from "../../model/redact.ts";
import { makeRedactor } from "../../model/redact.ts";
import type { SupervisorProgram } from "./exec/index.ts";
import { execTool } from "./exec/index.ts";
import type { CallLimits } from "./models/call-limits.ts";
import type { Environment } from "./models/choice.ts";
import { keyNames } from "./models/choice.ts";
import type { OpenModelOptions } from "./models/model.ts";
import { openModel } from "./models/model.ts";
import { fileTools } from "./tools/file-tools.ts";

export type { CallLimits } from "./models/call-limits.ts";
export { chooseModel } from "./models/choose.ts";

/** Masks every key that the environment holds. */
export function openRedactor(environment: Environment): Redactor {
  return makeRedactor(secretsOf(environment));
}

/** The values of all variables that may hold a key: known secrets, which nothing may store or show. */
function secretsOf(environment: Environment): string[] {
  // A key is used without the blanks around it, and then stands so in what comes back.
  return keyNames.map((name) => environment[name]?.trim() ?? "").filter((value) => value !== "");
}

/** What the built-in agent is opened with. */
export interface BuiltinAgentOptions {
  readonly host: Host;
  readonly model: ModelChoice;
  /** False where only the tools are needed: the model then answers every call with a refusal. */
  readonly asks: boolean;
  readonly cassette?: Uint8Array;
  /** Tools of other capabilities are not offered to the model. */
  readonly capabilities: readonly string[];
  /** Tools of these are kept to prove what was started with them. */
  readonly pastCapabilities: readonly string[];
  readonly environment: Environment;
  readonly passEnv: readonly string[];
  readonly supervisorProgram: SupervisorProgram;
  /** How long a model may be silent, where it is not the usual. */
  readonly callLimits?: CallLimits | undefined;
}

/**
 * Opens the built-in agent for a session: a model and the tools that it may use. Sends nothing yet. Throws
 * `provider_failed` where the model cannot be used.
 */
export function openBuiltinAgent(options: BuiltinAgentOptions): Agent {
  const { host, model: choice, environment, passEnv, supervisorProgram, capabilities, cassette } = options;
  const secrets = secretsOf(environment);
  const redactor = makeRedactor(secrets);
  const redact = (text: string) => redactor.text(text);
  const model = options.asks
    ? openRecordedModel({
        choice,
        environment,
        host,
        redact,
        ...(cassette !== undefined && { cassette }),
        ...(options.callLimits !== undefined && { limits: options.callLimits }),
      })
    : silentModel(choice);
  const all: Tool[] = [
    ...fileTools(host),
    execTool({ host, supervisorProgram, environment, passEnv, secrets }),
  ];
  const toolsOf = (allowed: readonly string[]) => all.filter((tool) => allowed.includes(tool.capability));
  return {
    name: "builtin",
    model,
    tools: toolsOf(capabilities),
    pastTools: toolsOf(options.pastCapabilities),
    redact,
    maskStream: () => redactor.stream(),
    close: async () => undefined,
  };
}

function silentModel({ provider, model: name }: ModelChoice): Model {
  return {
    provider,
    name,
    async *call() {
      const message = `${provider}/${name} is not to be asked anything`;
      yield { type: "failed", failure: { reason: "interrupted", message, retryable: false } };
    },
  };
}

/** The session exists: what lacks now is the provider's fault, and nothing that the caller worded. */
function openRecordedModel(options: OpenModelOptions): Model {
  try {
    return openModel(options);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "usage") throw error;
    throw new HoldfastError("provider_failed", error.message, { ...error.details, cause: error });
  }
}
