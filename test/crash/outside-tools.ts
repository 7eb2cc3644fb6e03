import type { EngineContext } from "../../src/engine/index.ts";
import type { Agent, EffectResult, Tool, ToolRun } from "../../src/model/agent.ts";
import { append } from "./memory-commands.ts";
import type { MemoryProcess } from "./memory-processes.ts";
import { Witness } from "./witness.ts";

/** Tools of the effect classes that no tool of the built-in agent has. */

/** A service outside of the machine, which no power cut there harms. It does nothing twice under one key. */
export class Payments {
  readonly #done: Map<string, number>;

  constructor(done: Iterable<readonly [string, number]> = []) {
    this.#done = new Map(done);
  }

  /** The keys under which something was paid, and how often each was asked for. */
  get done(): ReadonlyMap<string, number> {
    return this.#done;
  }

  /** Pays, unless it has under this key; answers with how often it was asked. */
  pay(key: string): number {
    const asked = (this.#done.get(key) ?? 0) + 1;
    this.#done.set(key, asked);
    return asked;
  }

  copy(): Payments {
    return new Payments(this.#done);
  }
}

/**
 * The same engine with an agent that can also `pay` (keyed: it repeats under the id of its operation) and `launch`
 * (opaque: it appends a word to the witness, and nobody can prove what became of it). Both need the capability `exec`.
 */
export function withOutsideTools(
  engine: EngineContext,
  process: MemoryProcess,
  payments: Payments,
): EngineContext {
  const tools = [payTool(process, payments), launchTool(process)];
  const offered = (allowed: readonly string[]) =>
    tools.filter(({ capability }) => allowed.includes(capability));
  return {
    ...engine,
    async openAgent(request): Promise<Agent> {
      const agent = await engine.openAgent(request);
      return {
        ...agent,
        tools: [...agent.tools, ...offered(request.capabilities)],
        pastTools: [...(agent.pastTools ?? []), ...offered(request.pastCapabilities)],
      };
    },
  };
}

const parameters = { type: "object" };
const common = { parameters, capability: "exec", cleanUp: async (): Promise<void> => undefined };

function payTool({ disk }: MemoryProcess, payments: Payments): Tool {
  const pay = (key: string): Promise<EffectResult> =>
    disk.perform("fetch", `pay ${key}`, {
      act: () => {
        payments.pay(key);
        return { outcome: "ok", output: "paid" };
      },
    });
  return {
    ...common,
    name: "pay",
    description: "Pays.",
    effect: "keyed",
    prepare: async ({ place }) => ({ ready: true, evidence: { class: "keyed", key: place.operation } }),
    perform: ({ place }) => pay(place.operation),
    prove: async ({ place }) => ({ proven: "known", result: await pay(place.operation) }),
  };
}

function launchTool(process: MemoryProcess): Tool {
  return {
    ...common,
    name: "launch",
    description: "Launches a word.",
    effect: "opaque",
    prepare: async () => ({ ready: true, evidence: { class: "opaque" } }),
    async perform({ args }: ToolRun) {
      const { word } = args as { word: string };
      await append(process, word, Witness.path);
      return { outcome: "ok", output: "launched" };
    },
    prove: async () => ({ proven: "unknown", reason: "nobody can tell", evidence: {} }),
  };
}
