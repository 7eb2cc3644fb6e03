import { isDiskError } from "../host/index.ts";
import type { OperationPlace, Tool } from "../model/agent.ts";
import type { Evidence } from "../model/facts.ts";
import type { Json } from "../model/values.ts";

/** Removes what an operation staged or spooled. What cannot be removed is litter: no outcome depends on it. */
export async function cleanUp(
  tool: Tool,
  place: OperationPlace,
  left: { readonly evidence: Evidence | undefined; readonly args: Json | undefined },
): Promise<void> {
  try {
    await tool.cleanUp(place, left.evidence, left.args);
  } catch (error) {
    if (!isDiskError(error)) throw error;
  }
}
