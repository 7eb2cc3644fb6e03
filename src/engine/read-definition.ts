import { sha256 } from "../host/index.ts";
import { canonicalJson } from "../model/canonical-json.ts";
import { isMcp, requestedCapabilities } from "../model/capability.ts";
import type { AgentDefinition } from "../model/facts.ts";
import type { EngineContext } from "./context.ts";
import type { NamedFile } from "./read-document.ts";
import { readNamedDocument, refuseSecrets } from "./read-document.ts";

/** A definition as it is locked into a session. */
export interface LockedDefinition {
  readonly definition: AgentDefinition;
  /** SHA-256 of the definition's canonical JSON: 64 hex digits. */
  readonly definitionHash: string;
}

/** What a definition file was found to be. */
export interface DefinitionView extends LockedDefinition {
  /** What a policy must allow so that the agent can do all that it asks for. */
  readonly needs: readonly ("allowShell" | "allowMcp")[];
}

/** Bytes that it may have, as it stands in the file and as it is recorded. */
export const definitionBytesMax = 256 * 1024;

/** The definition with its hash. */
export function lockDefinition(definition: AgentDefinition): LockedDefinition {
  return { definition, definitionHash: sha256(canonicalJson(definition)) };
}

/** Reads a definition, YAML or JSON. Rejects `usage` with everything that is wrong with it, each with its place. */
export async function readDefinition(
  context: Pick<EngineContext, "openRedactor">,
  file: NamedFile,
): Promise<AgentDefinition> {
  const what = `the definition ${file.name}`;
  const document = await readNamedDocument(file, { what, bytesMax: definitionBytesMax });
  await refuseSecrets(context, document);
  const { checkDefinition, outputSchemaOf } = await import("../model/definition.ts");
  const schemas =
    outputSchemaOf(document.value) === undefined
      ? undefined
      : (await import("./json-schema.ts")).openSchemaChecker();
  const { definition, problems } = checkDefinition(document.value, schemas);
  const all = [...document.problems, ...problems];
  if (definition === undefined || all.length > 0) throw document.refusal(all);
  return definition;
}

/** Reads a definition as {@link readDefinition}, and says what it comes to. Needs no session and no model. */
export async function validateAgent(
  context: Pick<EngineContext, "openRedactor">,
  file: NamedFile,
): Promise<DefinitionView> {
  const definition = await readDefinition(context, file);
  const requested = requestedCapabilities(definition);
  return {
    ...lockDefinition(definition),
    needs: [
      ...(requested.includes("exec") ? (["allowShell"] as const) : []),
      ...(requested.some(isMcp) ? (["allowMcp"] as const) : []),
    ],
  };
}
