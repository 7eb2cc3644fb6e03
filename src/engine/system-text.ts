import type { Agent } from "../model/agent.ts";
import type { SessionState } from "../model/fold.ts";
import { instructionOf } from "../model/output-contract.ts";

/** The system text: a stable prefix, so that a provider's prompt cache stays warm over a session. */
export function systemText(state: SessionState, agent: Agent, rules: string): string {
  const { objective, instructions, successCriteria, output } = state.created.definition.spec;
  const contract = instructionOf(output);
  const criteria =
    successCriteria === undefined ? [] : ["", "You are done when:", ...bullets(successCriteria)];
  return [
    objective,
    "",
    ...bullets(instructions),
    ...criteria,
    "",
    `The workspace is ${state.created.workspace.root}. Paths are relative to it; nothing outside can be reached.`,
    `Your tools: ${agent.tools.map((tool) => tool.name).join(", ")}.`,
    ...(contract === undefined ? [] : ["", contract]),
    ...(rules === "" ? [] : ["", rules]),
  ].join("\n");
}

function bullets(lines: readonly string[]): string[] {
  return lines.map((line) => `- ${line}`);
}
