import type { CallLimits } from "./agents/builtin/index.ts";
import type { EngineContext } from "./engine/index.ts";
import type { Host } from "./host/index.ts";
import { HoldfastError } from "./model/errors.ts";
import { Store } from "./store/index.ts";

export type { CallLimits } from "./agents/builtin/index.ts";

/** Builds the real things: here the rooms are put together. */

/** Where a program works. */
export interface OpenOptions {
  readonly host: Host;
  readonly stateDirectory: string;
  /** Promises that nothing else writes the state directory, where its file system cannot guarantee that. */
  readonly singleWriter: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** The program that supervises commands. */
  readonly supervisorProgram: { readonly file: string; readonly args: readonly string[] };
  /** How long a model may be silent; where absent, what the agent holds right. */
  readonly callLimits?: CallLimits;
}

/** What every verb of the engine works with. Opens no file yet, and loads an agent when one is asked for. */
export function openEngine(options: OpenOptions): EngineContext {
  const { host, stateDirectory: directory, singleWriter, environment, version } = options;
  const { supervisorProgram, callLimits } = options;
  const store = new Store(host, { directory, singleWriter });
  const defined = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return {
    host,
    store,
    version,
    environment: Object.fromEntries(defined),
    chooseModel: async (agent, model) => {
      if (agent !== "builtin") {
        throw new HoldfastError("usage", `there is no agent ${JSON.stringify(agent)}`, {
          hint: "The agents are: builtin.",
        });
      }
      return await (await builtinAgent()).chooseModel(host.disk, environment, model);
    },
    openRedactor: async () => (await builtinAgent()).openRedactor(environment),
    openAgent: async (request) => {
      if (request.agent !== "builtin") {
        throw new HoldfastError("agent_missing", `this version does not know the agent ${request.agent}`);
      }
      return (await builtinAgent()).openBuiltinAgent({
        host,
        environment,
        supervisorProgram,
        callLimits,
        ...request,
      });
    },
  };
}

/** Loaded when a session is worked on: reading one needs none of it. */
function builtinAgent(): Promise<typeof import("./agents/builtin/index.ts")> {
  return import("./agents/builtin/index.ts");
}
