import { expect } from "vitest";
import { approveOperation, type ApprovalAnswer, type EngineContext } from "../../src/engine/index.ts";
import type { Examined } from "./examine.ts";
import { Stage, type Work, type WorkOptions } from "./stage.ts";

/** Operations in memory that a policy leaves to a person, and the person. */

/** The model's call that writes a file. */
export const write = (path: string, content = "new\n") => ({ tool: "write", args: { path, content } });
export const done = { text: "Done." };
export const allow: ApprovalAnswer = { decision: "allow", remember: false };
export const deny: ApprovalAnswer = { decision: "deny", remember: false, reason: "not today" };

/** A session whose policy leaves these to a person. */
export function stageAsking(capabilities: readonly string[], ...turns: unknown[]): Promise<Stage> {
  const approvals = Object.fromEntries(capabilities.map((name) => [name, "ask" as const]));
  return Stage.set({ turns, policy: { approvals } });
}

export const waiting: WorkOptions = { approvals: { kind: "wait" } };

/** A person's word about the `nth` operation that the model asked for, from another process. */
export async function say(
  stage: Stage,
  answer: ApprovalAnswer,
  options: { nth?: number; by?: string; engine?: EngineContext } = {},
) {
  const { nth = 0, by = "ada", engine = stage.world.engine() } = options;
  const operation = (await stage.operations())[nth];
  const { session } = stage;
  return await approveOperation(engine, {
    session,
    run: operation?.run ?? "",
    operation: operation?.operation ?? "",
    by,
    ...answer,
  });
}

/** What the model reads of each call. */
export const results = ({ state }: Examined): string[] =>
  state.messages.flatMap(({ message }) =>
    message.parts.flatMap((part) => (part.type === "tool_result" ? (part.output ?? "") : [])),
  );

export async function expectEnding(work: Work, ending: string): Promise<void> {
  expect((await work.report).ending).toBe(ending);
}
