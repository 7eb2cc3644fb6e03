import { utf8Text } from "../host/index.ts";
import type { BlobRef } from "../model/values.ts";
import type { EngineContext } from "./context.ts";

/**
 * The text of a payload that stands beside the log, for whoever shows a session. Rejects `log_damaged` where its bytes
 * are missing or others, or a storage error.
 */
export async function readPayload(context: EngineContext, session: string, blob: BlobRef): Promise<string> {
  return utf8Text(await context.store.blobs(session).get(blob));
}
