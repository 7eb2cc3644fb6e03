import { canonicalJson } from "../model/canonical-json.ts";
import type { ReadDocument } from "../model/document.ts";
import { readDocument } from "../model/document.ts";
import { HoldfastError } from "../model/errors.ts";
import type { Problem } from "../model/problems.ts";
import { textsIn } from "../model/texts.ts";
import type { EngineContext } from "./context.ts";

/** Documents of a caller that become part of a session: read strictly, small enough for its first line, without secrets. */

/** A file that a caller names, as it was read. */
export interface NamedFile {
  /** How the caller called it. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** What a document must not have. */
export interface DocumentLimits {
  /** What it is, as refusals name it. */
  readonly what: string;
  readonly bytesMax: number;
}

/** Reads a document. Rejects `usage` where it is none, or would not fit. */
export async function readNamedDocument(
  { bytes }: NamedFile,
  { what, bytesMax }: DocumentLimits,
): Promise<ReadDocument> {
  if (bytes.length > bytesMax) throw tooLong(what, bytesMax);
  // Loaded where a document is read: no other command needs it.
  const { yamlParser: yaml } = await import("./yaml-parser.ts");
  const document = readDocument(bytes, { yaml, what });
  // What is referred to again and again is written out each time.
  if (Buffer.byteLength(canonicalJson(document.value)) > bytesMax) throw tooLong(what, bytesMax);
  return document;
}

function tooLong(what: string, bytesMax: number): HoldfastError {
  return new HoldfastError("usage", `${what} is too long: it may have ${bytesMax / 1024} KiB`);
}

/**
 * Refuses a document that holds a secret which this process knows: what becomes part of a session must hold none. Asked
 * before anything else is said of it, for what is wrong with a value is said with the value.
 */
export async function refuseSecrets(
  { openRedactor }: Pick<EngineContext, "openRedactor">,
  document: ReadDocument,
): Promise<void> {
  const redactor = await openRedactor();
  const found: Problem[] = [];
  for (const [path, text] of textsIn(document.value)) {
    if (redactor.text(text) === text) continue;
    // The name of a member may be the secret itself.
    const isName = path.at(-1) === text;
    found.push({ path: isName ? path.slice(0, -1) : path, text: "holds a provider's key, and is recorded" });
  }
  if (found.length > 0) throw document.refusal(found);
}
