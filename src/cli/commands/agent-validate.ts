import type { DefinitionView } from "../../engine/index.ts";
import { validateAgent } from "../../engine/index.ts";
import type { AgentDefinition } from "../../model/facts.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import type { Screen, Span } from "../screen.ts";
import { oneLine } from "../text/clean.ts";
import { formatCount, formatDuration } from "../text/units.ts";
import { answer } from "./answer.ts";
import { definitionFileOf } from "./definition.ts";
import { writeFields } from "./fields.ts";

/** `holdfast agent validate`: whether a file is a definition, and what it comes to. Writes nothing. */
export async function agentValidate(call: Call, name: string): Promise<number> {
  const view = await validateAgent(engineOf(call), await definitionFileOf(call, name));
  return await answer(call, view, () => {
    const screen = screenOf(call);
    writeDefinition(screen, view);
    return screen;
  });
}

function writeDefinition(screen: Screen, { definition, definitionHash, needs }: DefinitionView): void {
  const { metadata, spec } = definition;
  const { required, optional } = spec.capabilities;
  const names = (list: readonly string[]) => (list.length === 0 ? "nothing" : list.join(", "));
  screen.line(["bold", metadata.name], "  ", ["good", "valid"]);
  const fields: [string, Span][] = [
    ["about", metadata.description ?? ""],
    ["objective", spec.objective],
    ["told", toldWords(definition)],
    ["requires", names(required)],
    ["may use", names(optional)],
    ["needs", needs.map((need) => needWords[need]).join(", ")],
    ["bounds", boundWords(definition)],
    ["answers", outputWords(definition)],
    ["hash", definitionHash],
  ];
  writeFields(
    screen,
    fields.flatMap(([field, text]) => (text === "" ? [] : [[field, oneLine(String(text))] as const])),
  );
}

const needWords = {
  allowShell: "--allow-shell to run commands",
  allowMcp: "--allow-mcp to call MCP servers",
} as const;

function toldWords({ spec }: AgentDefinition): string {
  const { instructions, successCriteria = [] } = spec;
  const criteria =
    successCriteria.length === 1 ? "1 success criterion" : `${successCriteria.length} success criteria`;
  const told = formatCount(instructions.length, "instruction");
  return successCriteria.length === 0 ? told : `${told}, ${criteria}`;
}

function boundWords({ spec }: AgentDefinition): string {
  const { maxTurns, maxTokens, maxWallClockMs } = spec.execution;
  return [
    formatCount(maxTurns, "turn"),
    ...(maxTokens === undefined ? [] : [formatCount(maxTokens, "token")]),
    ...(maxWallClockMs === undefined ? [] : [formatDuration(maxWallClockMs)]),
  ].join(" · ");
}

function outputWords({ spec }: AgentDefinition): string {
  const { format, requiredFields } = spec.output;
  if (format === "text") return "text";
  return requiredFields === undefined
    ? "json that satisfies the schema"
    : `json with ${requiredFields.join(", ")}`;
}
