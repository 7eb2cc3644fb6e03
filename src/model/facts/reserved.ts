import * as z from "zod/mini";
import { BlobRef, Json } from "../values.ts";

/** Facts whose writers are other agents' adapters, checkpoints and imports. */

/** The agent's own session that this one continues. */
export const VendorBound = z.object({
  kind: z.literal("vendor.bound"),
  agent: z.string(),
  via: z.string(),
  id: z.string(),
});
export type VendorBound = z.infer<typeof VendorBound>;

/** The agent's own session was opened again. */
export const VendorStarted = z.object({
  kind: z.literal("vendor.started"),
  id: z.string(),
  run: z.optional(z.string()),
});
export type VendorStarted = z.infer<typeof VendorStarted>;

/** The agent refused or failed to open it. */
export const VendorFailed = z.object({
  kind: z.literal("vendor.failed"),
  reason: z.string(),
  message: z.string(),
  stderr: z.optional(BlobRef),
});
export type VendorFailed = z.infer<typeof VendorFailed>;

/** The workspace's files were saved in the shadow repository. */
export const Checkpoint = z.object({
  kind: z.literal("checkpoint"),
  message: z.optional(z.string()),
  commit: z.string(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** What follows came from another store. */
export const Imported = z.object({ kind: z.literal("imported"), from: Json });
export type Imported = z.infer<typeof Imported>;

/** The conversation went on with another agent, in another session. */
export const HandedOff = z.object({ kind: z.literal("handed.off"), session: z.string(), agent: z.string() });
export type HandedOff = z.infer<typeof HandedOff>;
