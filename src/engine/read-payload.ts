import { utf8Text } from "../host/index.ts";
import type { BlobRef } from "../model/values.ts";
import type { Blobs } from "../store/index.ts";
import type { EngineContext } from "./context.ts";

/** Payloads, read back from where the log or the queue keeps them. */

/**
 * The text of a payload that stands beside the log, for whoever shows a session. Rejects `log_damaged` where its bytes
 * are missing or others, or a storage error.
 */
export async function readPayload(context: EngineContext, session: string, blob: BlobRef): Promise<string> {
  return utf8Text(await context.store.blobs(session).get(blob));
}

/** A text that stands in its line, or in a blob where it is too long for one. Rejects as {@link readPayload}. */
export async function storedText(
  blobs: Pick<Blobs, "get">,
  { text = "", blob }: { readonly text?: string | undefined; readonly blob?: BlobRef | undefined },
): Promise<string> {
  return blob === undefined ? text : utf8Text(await blobs.get(blob));
}
