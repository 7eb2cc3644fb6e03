import { basename } from "node:path";
import type { Environment } from "./agents/builtin/index.ts";
import { openBuiltinAgent, parseCassette, parseModelChoice, requireKey } from "./agents/builtin/index.ts";
import type { AgentRequest, ChosenModel, EngineContext } from "./engine/index.ts";
import type { Host } from "./host/index.ts";
import { isDiskError, sha256 } from "./host/index.ts";
import { HoldfastError } from "./model/errors.ts";
import { Store } from "./store/index.ts";

/** Builds the real things: here, and nowhere else, the rooms are put together. */

/** Where a program works. */
export interface OpenOptions {
  readonly host: Host;
  readonly stateDirectory: string;
  /** Promises that nothing else writes the state directory, where its file system cannot guarantee that. */
  readonly singleWriter: boolean;
  readonly environment: Environment;
  readonly version: string;
  /** The program that supervises commands. */
  readonly supervisorProgram: { readonly file: string; readonly args: readonly string[] };
}

const cassetteBytesMax = 64 * 1024 * 1024;

/** What every verb of the engine works with. Opens no file yet. */
export function openEngine(options: OpenOptions): EngineContext {
  const { host, stateDirectory: directory, singleWriter, environment, version } = options;
  const store = new Store(host, { directory, singleWriter });
  const defined = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return {
    host,
    store,
    version,
    environment: Object.fromEntries(defined),
    chooseModel: (agent, model) => chooseModel(host, environment, { agent, model }),
    openAgent: (request) => openAgent(options, request),
  };
}

async function chooseModel(
  host: Host,
  environment: Environment,
  wanted: { agent: string; model: string | undefined },
): Promise<ChosenModel> {
  const { agent, model } = wanted;
  if (agent !== "builtin") {
    throw new HoldfastError("usage", `there is no agent ${JSON.stringify(agent)}`, {
      hint: "The agents are: builtin.",
    });
  }
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
  try {
    const file = await host.disk.open(await host.disk.realPath(path), "read");
    try {
      const { size, kind } = await file.stat();
      if (kind !== "file") throw new HoldfastError("usage", `the cassette ${path} is no file`);
      if (size > cassetteBytesMax) throw new HoldfastError("usage", `the cassette ${path} is over 64 MiB`);
      const bytes = new Uint8Array(size);
      return bytes.subarray(0, await file.read(bytes, 0));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (!isDiskError(error)) throw error;
    throw new HoldfastError("usage", `the cassette ${path} cannot be read: ${error.code}`, { cause: error });
  }
}

async function openAgent(
  options: OpenOptions,
  request: AgentRequest,
): ReturnType<EngineContext["openAgent"]> {
  const { host, environment, supervisorProgram } = options;
  const { model, cassette, capabilities, passEnv } = request;
  if (request.agent !== "builtin") {
    throw new HoldfastError("agent_missing", `this version does not know the agent ${request.agent}`);
  }
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
