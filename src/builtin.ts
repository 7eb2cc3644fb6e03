import { basename } from "node:path";
import type { Environment } from "./agents/builtin/index.ts";
import {
  openBuiltinAgent,
  parseCassette,
  parseModelChoice,
  requireKey,
  secretsOf,
} from "./agents/builtin/index.ts";
import type { AgentRequest, ChosenModel } from "./engine/index.ts";
import type { Host } from "./host/index.ts";
import { isDiskError, readWhole, sha256 } from "./host/index.ts";
import type { Agent } from "./model/agent.ts";
import { HoldfastError } from "./model/errors.ts";
import type { Redactor } from "./model/redact.ts";
import { makeRedactor } from "./model/redact.ts";
import type { OpenOptions } from "./open.ts";

/** The built-in agent as the engine asks for it. Loaded when a session is worked on: reading one needs none of it. */

const cassetteBytesMax = 64 * 1024 * 1024;

/** What `--model` names, checked before a session exists. Rejects `usage`. */
export async function chooseModel(
  host: Host,
  environment: Environment,
  model: string | undefined,
): Promise<ChosenModel> {
  if (model === undefined) {
    throw new HoldfastError("usage", "no model was named, so nobody can answer", {
      hint:
        "Name one with --model: anthropic/MODEL, openai/MODEL, google/MODEL (each with its key in the environment), " +
        "openai-compatible/MODEL with OPENAI_COMPATIBLE_BASE_URL, or a recording with cassette:FILE.",
    });
  }
  const choice = parseModelChoice(model, environment);
  if (choice.provider !== "cassette") {
    requireKey(choice, environment);
    return { choice, blobs: [] };
  }
  const bytes = await readCassette(host, choice.model);
  const name = basename(choice.model);
  parseCassette(bytes, choice.model);
  const cassette = { sha256: sha256(bytes), bytes: bytes.length };
  return { choice: { ...choice, model: name, cassette }, blobs: [bytes] };
}

async function readCassette(host: Host, path: string): Promise<Uint8Array> {
  const unreadable = (why: string, cause?: unknown) =>
    new HoldfastError("usage", `the cassette ${path} ${why}`, { cause });
  try {
    if ((await host.disk.stat(path))?.kind === "directory") throw unreadable("is no file");
    const bytes = await readWhole(host.disk, path, cassetteBytesMax);
    if (bytes === undefined) throw unreadable("does not exist");
    return bytes;
  } catch (error) {
    if (isDiskError(error, "EFBIG")) throw unreadable("is over 64 MiB", error);
    if (isDiskError(error)) throw unreadable(`cannot be read: ${error.code}`, error);
    throw error;
  }
}

/** Masks every key that the environment holds. */
export function openRedactor(environment: Environment): Redactor {
  return makeRedactor(secretsOf(environment));
}

/** Opens the built-in agent for a session. Rejects `provider_failed` where it cannot work. */
export function openBuiltin(options: OpenOptions, request: AgentRequest): Agent {
  const { host, environment, supervisorProgram } = options;
  const { model, cassette, capabilities, passEnv } = request;
  try {
    return openBuiltinAgent({
      host,
      model,
      ...(cassette !== undefined && { cassette }),
      capabilities,
      environment,
      passEnv,
      supervisorProgram,
    });
  } catch (error) {
    // The session exists: what lacks now is the provider's, not the caller's wording.
    if (!(error instanceof HoldfastError) || error.code !== "usage") throw error;
    throw new HoldfastError("provider_failed", error.message, { ...error.details, cause: error });
  }
}
