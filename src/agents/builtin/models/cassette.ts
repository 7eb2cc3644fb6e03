import { LineCounter, parseDocument } from "yaml";
import type { Cassette, CassetteTurn } from "../../../model/cassette.ts";
import { CassetteFile, schemaOfTurn } from "../../../model/cassette.ts";
import { contradictionsOf } from "../../../model/cassette-rules.ts";
import { readDocument } from "../../../model/document.ts";
import type { Path, Problem } from "../../../model/problems.ts";
import { problemsOf, refusal } from "../../../model/problems.ts";
import { isRecord } from "../../../model/values.ts";

/** Recorded answers of a model, in a file that people write too: YAML or JSON, read strictly. */

/**
 * Reads a cassette. Throws `usage` that lists everything that is wrong with it at once, each with its place; what it
 * does not know it refuses, for a misspelt field would silently change what a run does.
 */
export function parseCassette(bytes: Uint8Array, name: string): Cassette {
  const what = `The cassette ${name}`;
  const inexact = "cannot be kept exactly; give the arguments as argsText";
  const document = readDocument(bytes, { yaml: { parseDocument, LineCounter }, what, inexact });
  const { value } = document;
  const problems: Problem[] = [...document.problems];
  if (!isRecord(value)) throw refusal(what, ["it is not a mapping with the fields cassette and turns"]);
  const file = CassetteFile.safeParse(value);
  if (!file.success) problems.push(...problemsOf(file.error.issues, value));
  const turns: CassetteTurn[] = [];
  const listed = Array.isArray(value["turns"]) ? value["turns"] : [];
  for (const [index, turn] of listed.entries()) {
    const prefix = ["turns", index];
    const result = schemaOfTurn(turn).safeParse(turn);
    if (result.success) turns.push(result.data);
    else problems.push(...problemsOf(result.error.issues, turn, { prefix, besides: besidesError(turn) }));
    for (const { path, text } of contradictionsOf(turn)) problems.push({ path: [...prefix, ...path], text });
  }
  if (problems.length > 0) throw document.refusal(problems);
  return { turns };
}

/** What a failure may not have beside it is known, in an answer. */
function besidesError(turn: unknown): (path: Path) => string | undefined {
  const isError = isRecord(turn) && "error" in turn;
  return (path) => (isError && path.length === 0 ? "cannot stand beside error" : undefined);
}
