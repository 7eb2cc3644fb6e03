import { isDiskError } from "../../../host/index.ts";
import type { EffectResult, Tool, ToolRun } from "../../../model/agent.ts";
import type { ToolArguments } from "./arguments.ts";
import type { FileHost } from "./file-host.ts";
import { explain, failed, notReady } from "./results.ts";

/** A tool that only looks. */
export interface Look<T> {
  readonly name: string;
  readonly description: string;
  readonly arguments: ToolArguments<T>;
  /** Looks; a DiskError that it rejects with becomes a result. */
  look(run: ToolRun, args: T): Promise<EffectResult>;
}

/** Makes a tool of a look. It changes nothing, so after a death it simply has not happened and may be asked anew. */
export function pureTool<T>(host: FileHost, look: Look<T>): Tool {
  return {
    name: look.name,
    description: look.description,
    parameters: look.arguments.parameters,
    effect: "pure",
    capability: look.name,
    async prepare(run) {
      const parsed = look.arguments.parse(run.args);
      return parsed.ok
        ? { ready: true, evidence: { class: "pure" } }
        : notReady(failed(parsed.message, { reason: "bad_arguments" }));
    },
    async perform(run) {
      const parsed = look.arguments.parse(run.args);
      if (!parsed.ok) return failed(parsed.message, { reason: "bad_arguments" });
      return await timed(host, () => resultOf(() => look.look(run, parsed.value)));
    },
    prove: async () => ({ proven: "not_executed" }),
    cleanUp: async () => undefined,
  };
}

/** Turns a refusal of the disk into a result. */
export async function resultOf(work: () => Promise<EffectResult>): Promise<EffectResult> {
  try {
    return await work();
  } catch (error) {
    if (!isDiskError(error)) throw error;
    return failed(`It could not be done: ${explain(error)}, at ${error.path}.`, { reason: error.code });
  }
}

/** Adds when the work began and ended. */
export async function timed(host: FileHost, work: () => Promise<EffectResult>): Promise<EffectResult> {
  const startedAt = host.clock.now();
  const started = host.clock.monotonicMs();
  const result = await work();
  return {
    ...result,
    startedAt,
    endedAt: host.clock.now(),
    durationMs: host.clock.monotonicMs() - started,
  };
}
