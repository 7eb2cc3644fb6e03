import * as z from "zod/mini";
import { BlobRef, Json } from "../values.ts";

/** Facts whose writers are other agents' adapters, checkpoints and imports. */

/** The agent's own session that this one continues. */
export const VendorBound = z.object({
  kind: z.literal("vendor.bound"),
  /** Name of the agent. */
  agent: z.string(),
  /** Through which of the agent's interfaces it is driven. */
  via: z.string(),
  /** The agent's id of its session. */
  id: z.string(),
});
export type VendorBound = z.infer<typeof VendorBound>;

/** The agent's own session was opened again. */
export const VendorStarted = z.object({
  kind: z.literal("vendor.started"),
  /** The agent's id of its session. */
  id: z.string(),
  /** Id of the run that it was opened for. */
  run: z.optional(z.string()),
});
export type VendorStarted = z.infer<typeof VendorStarted>;

/** The agent refused or failed to open it. */
export const VendorFailed = z.object({
  kind: z.literal("vendor.failed"),
  /** Why, as a code. */
  reason: z.string(),
  /** What happened, for people. */
  message: z.string(),
  /** What the agent's program wrote to its standard error. */
  stderr: z.optional(BlobRef),
});
export type VendorFailed = z.infer<typeof VendorFailed>;

/** The workspace's files were saved in the shadow repository. */
export const Checkpoint = z.object({
  kind: z.literal("checkpoint"),
  /** Id of the user message before which they were as saved. */
  message: z.optional(z.string()),
  /** Hash of the shadow repository's commit. */
  commit: z.string(),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** What follows came from another store. */
export const Imported = z.object({
  kind: z.literal("imported"),
  /** What it came from. */
  from: Json,
});
export type Imported = z.infer<typeof Imported>;

/** The conversation went on with another agent, in another session. */
export const HandedOff = z.object({
  kind: z.literal("handed.off"),
  /** Id of the session in which it goes on. */
  target: z.string(),
  /** Name of the agent that answers there. */
  agent: z.string(),
});
export type HandedOff = z.infer<typeof HandedOff>;
