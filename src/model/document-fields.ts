import * as z from "zod/mini";
import { isCapability } from "./capability.ts";
import { builtinCapabilities } from "./default-definition.ts";

/** Fields that the documents which bound an agent have in common. */

/** The id of a capability. */
export const Capability = z.string().check(
  z.refine(isCapability, {
    error: `must be one of ${builtinCapabilities.join(", ")}, or mcp__SERVER__TOOL`,
  }),
);

/** How much of something a run may use: at least one. */
export const Budget = z.int().check(z.minimum(1));

/** Milliseconds that a run may take; a timer takes no more. */
export const BudgetMs = z.int().check(z.minimum(1), z.maximum(2 ** 31 - 1));
