import type { EngineContext } from "../../engine/index.ts";
import { readPayload } from "../../engine/index.ts";
import { isHoldfastError } from "../../model/errors.ts";
import type { BlobRef, Json } from "../../model/values.ts";
import { formatBytes } from "../text/units.ts";

/** Payloads that stand beside the log, read for a page for people: it shows what a person may want to see of them. */

/** What a page shows in a payload's place. */
export interface Payloads {
  /** Its text, or in brackets why that is not shown. */
  text(blob: BlobRef): string;
  /** The value that its text is, where it is shown and is one. */
  value(blob: BlobRef): Json | undefined;
}

/** Nobody reads more in a terminal; all of it is in the file that `--json` names. */
const shownBytesMax = 1024 * 1024;

/** Reads payloads. One that cannot be read says so in its place: the page is shown all the same. */
export async function readPayloads(
  context: EngineContext,
  session: string,
  blobs: readonly (BlobRef | undefined)[],
): Promise<Payloads> {
  const texts = new Map<string, string>();
  for (const blob of blobs) {
    if (blob === undefined || blob.bytes > shownBytesMax || texts.has(blob.sha256)) continue;
    texts.set(blob.sha256, await textOf(context, session, blob));
  }
  const text = (blob: BlobRef) =>
    texts.get(blob.sha256) ?? `(${formatBytes(blob.bytes)} of text; --json names the blob)`;
  return { text, value: (blob) => parse(texts.get(blob.sha256)) };
}

async function textOf(context: EngineContext, session: string, blob: BlobRef): Promise<string> {
  try {
    return await readPayload(context, session, blob);
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return `(${formatBytes(blob.bytes)} of text, which cannot be read: ${error.message})`;
  }
}

function parse(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
