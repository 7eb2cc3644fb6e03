import * as z from "zod/mini";
import { BlobRef, EffectClass, Json, Outcome } from "../values.ts";

/** Facts about operations: one tool call each, from the model's wish to its place in the conversation. */

/** The model asked for it; in one line with its assistant message. */
export const OperationAsked = z.object({
  kind: z.literal("op.asked"),
  operation: z.string(),
  run: z.string(),
  turn: z.number(),
  tool: z.string(),
  effect: EffectClass,
  /** The provider's id of the call; kept, never keyed on. */
  call: z.optional(z.string()),
  /** The provider's text of the arguments, where parsing and writing it again changes it. */
  rawArgs: z.optional(z.string()),
  rawArgsBlob: z.optional(BlobRef),
  /** True where a secret was redacted from the recorded arguments: only the process that has them can start it. */
  redacted: z.optional(z.boolean()),
  /** The operation that recovery found not executed and that this one stands for. */
  replaces: z.optional(z.string()),
});
export type OperationAsked = z.infer<typeof OperationAsked>;

/** A file as it was when we looked. Inode and birth time together are its identity. */
export const FileEvidence = z.object({
  dev: z.string(),
  inode: z.string(),
  birthtimeNs: z.string(),
  sha256: z.string(),
});
export type FileEvidence = z.infer<typeof FileEvidence>;

/** What is known before the effect starts, by effect class; what a proof after a death goes by. */
export const Evidence = z.discriminatedUnion("class", [
  z.object({ class: z.literal("pure") }),
  z.object({
    class: z.literal("checked"),
    /** Resolved absolute path of the target. */
    path: z.string(),
    /** The target before the effect; absent where there was none. */
    target: z.optional(FileEvidence),
    /** `replace` and `create` stage the new content beside the target; `in_place` could not; `trash` and `trash_copy` delete. */
    method: z.enum(["replace", "create", "in_place", "trash", "trash_copy"]),
    /** The staged file, or the copy in the session's trash. */
    staged: z.optional(
      z.object({ path: z.string(), inode: z.string(), birthtimeNs: z.string(), sha256: z.string() }),
    ),
    /** SHA-256 of the new content. */
    sha256: z.optional(z.string()),
  }),
  z.object({
    class: z.literal("supervised"),
    /** The directory the command starts in. */
    cwd: z.string(),
    /** Absent means no limit. */
    timeoutMs: z.optional(z.number()),
    /** Names the start; the claim and the status repeat it. */
    nonce: z.string(),
  }),
  z.object({ class: z.literal("keyed"), key: z.string() }),
  z.object({ class: z.literal("opaque") }),
]);
export type Evidence = z.infer<typeof Evidence>;

/** The effect is about to start. */
export const OperationStarted = z.object({
  kind: z.literal("op.started"),
  operation: z.string(),
  tool: z.string(),
  /** Exact arguments, but for redacted secrets. */
  args: z.optional(Json),
  argsBlob: z.optional(BlobRef),
  /** True where something was redacted: recovery makes no new operation from these arguments. */
  redacted: z.optional(z.boolean()),
  effect: EffectClass,
  evidence: Evidence,
});
export type OperationStarted = z.infer<typeof OperationStarted>;

/** The effect ended, or never started; its result is known. */
export const OperationKnown = z.object({
  kind: z.literal("op.known"),
  operation: z.string(),
  outcome: Outcome,
  /** What the model reads. */
  output: z.optional(z.string()),
  outputBlob: z.optional(BlobRef),
  /** The whole output, where the model reads head and tail of it. */
  fullBlob: z.optional(BlobRef),
  /** Wall clock of the effect's real start and end, where it was observed. */
  startedAt: z.optional(z.number()),
  endedAt: z.optional(z.number()),
  durationMs: z.optional(z.number()),
  /** Details for people and machines: exit code, signal, survivors, how it was proven. */
  details: z.optional(Json),
});
export type OperationKnown = z.infer<typeof OperationKnown>;

/** It cannot be proven whether the effect happened. */
export const OperationUnknown = z.object({
  kind: z.literal("op.unknown"),
  operation: z.string(),
  /** Why it cannot be known. */
  reason: z.string(),
  /** All that was found: partial output, hashes, process state. */
  evidence: Json,
});
export type OperationUnknown = z.infer<typeof OperationUnknown>;

/** A person said what happened. Binds to exactly one operation, executes nothing. */
export const OperationResolved = z.object({
  kind: z.literal("op.resolved"),
  operation: z.string(),
  outcome: Outcome,
  /** What the model reads. */
  output: z.optional(z.string()),
  outputBlob: z.optional(BlobRef),
  /** How the person knows. */
  evidence: z.optional(z.string()),
  by: z.string(),
});
export type OperationResolved = z.infer<typeof OperationResolved>;

/** The result is part of the conversation; in one line with its tool message. */
export const OperationSettled = z.object({ kind: z.literal("op.settled"), operation: z.string() });
export type OperationSettled = z.infer<typeof OperationSettled>;

/** A person must allow the operation before it starts. */
export const ApprovalAsked = z.object({
  kind: z.literal("approval.asked"),
  operation: z.string(),
  capability: z.string(),
});
export type ApprovalAsked = z.infer<typeof ApprovalAsked>;

/** Somebody, or a rule, allowed or denied it. */
export const ApprovalDecided = z.object({
  kind: z.literal("approval.decided"),
  operation: z.string(),
  decision: z.enum(["allow", "deny"]),
  by: z.string(),
  reason: z.optional(z.string()),
});
export type ApprovalDecided = z.infer<typeof ApprovalDecided>;

/** A person's answer that holds for later calls of the same kind. */
export const ApprovalRule = z.object({
  kind: z.literal("approval.rule"),
  capability: z.string(),
  decision: z.enum(["allow", "deny"]),
  by: z.string(),
});
export type ApprovalRule = z.infer<typeof ApprovalRule>;
