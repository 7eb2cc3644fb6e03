import * as z from "zod/mini";
import { BlobRef, Count, Duration, EffectClass, Json, Outcome } from "../values.ts";

/** Facts about operations: one tool call each, from the model's wish to its place in the conversation. */

/** The model asked for it; in one line with its assistant message. */
export const OperationAsked = z.object({
  kind: z.literal("op.asked"),
  /** Id of the operation, given here and ours. */
  operation: z.string(),
  /** Id of the run that it belongs to. */
  run: z.string(),
  /** The turn whose answer asked for it, from 1. */
  turn: Count,
  /** The tool's name as the model wrote it. */
  tool: z.string(),
  /** What the tool may do to the world; `opaque` where there is no such tool. */
  effect: EffectClass,
  /** The provider's id of the call; kept, never keyed on. */
  call: z.optional(z.string()),
  /** The provider's text of the arguments, where parsing and writing it again changes it. */
  rawArgs: z.optional(z.string()),
  /** That text, where it is too long for the line. */
  rawArgsBlob: z.optional(BlobRef),
  /** True where a secret was redacted from the recorded arguments: only the process that has them can start it. */
  redacted: z.optional(z.boolean()),
  /** Id of the operation that recovery found not executed and that this one stands for. */
  replaces: z.optional(z.string()),
});
export type OperationAsked = z.infer<typeof OperationAsked>;

/** A file as it was when we looked. Inode and birth time together are its identity. */
export const FileEvidence = z.object({
  /** Number of the device, in decimal digits. */
  dev: z.string(),
  /** Number of the inode, in decimal digits. */
  inode: z.string(),
  /** Nanoseconds since 1970 when the inode was made, in decimal digits. */
  birthtimeNs: z.string(),
  /** SHA-256 of the content, 64 hex digits; of no bytes where it is a link, whose identity says everything. */
  sha256: z.string(),
});
export type FileEvidence = z.infer<typeof FileEvidence>;

const StagedFile = z.object({
  /** Absolute path of the file. */
  path: z.string(),
  /** Number of the inode, in decimal digits. */
  inode: z.string(),
  /** Nanoseconds since 1970 when the inode was made, in decimal digits. */
  birthtimeNs: z.string(),
  /** SHA-256 of the content: 64 hex digits. */
  sha256: z.string(),
});

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
    staged: z.optional(StagedFile),
    /** SHA-256 of the new content: 64 hex digits; absent for a deletion. */
    sha256: z.optional(z.string()),
  }),
  z.object({
    class: z.literal("supervised"),
    /** Absolute path of the directory that the command starts in. */
    cwd: z.string(),
    /** Milliseconds that the command may take; absent means no limit. */
    timeoutMs: z.optional(Duration),
    /** Names the start; the claim and the status repeat it. */
    nonce: z.string(),
  }),
  z.object({
    class: z.literal("keyed"),
    /** The key under which a repetition does nothing new. */
    key: z.string(),
  }),
  z.object({ class: z.literal("opaque") }),
]);
export type Evidence = z.infer<typeof Evidence>;

/** The effect is about to start. */
export const OperationStarted = z.object({
  kind: z.literal("op.started"),
  /** Id of the operation. */
  operation: z.string(),
  /** The tool's name. */
  tool: z.string(),
  /** The exact arguments but for redacted secrets, where they stand in the line. */
  args: z.optional(Json),
  /** The same as a blob of their JSON text, where they are too long for the line. */
  argsBlob: z.optional(BlobRef),
  /** True where something was redacted: recovery makes no new operation from these arguments. */
  redacted: z.optional(z.boolean()),
  /** What the tool may do to the world, which decides what recovery does. */
  effect: EffectClass,
  /** What a proof after a death goes by. */
  evidence: Evidence,
});
export type OperationStarted = z.infer<typeof OperationStarted>;

/** The effect ended, or never started; its result is known. */
export const OperationKnown = z.object({
  kind: z.literal("op.known"),
  /** Id of the operation. */
  operation: z.string(),
  /** How it ended. */
  outcome: Outcome,
  /** What the model reads, where it stands in the line. */
  output: z.optional(z.string()),
  /** What the model reads, where it is too long for the line. */
  outputBlob: z.optional(BlobRef),
  /** The whole output, where the model reads only head and tail of it. */
  fullBlob: z.optional(BlobRef),
  /** Wall clock of the effect's real start, where it was observed. */
  startedAt: z.optional(Count),
  /** Wall clock of the effect's real end, where it was observed. */
  endedAt: z.optional(Count),
  /** Milliseconds that the effect took, where that was measured. */
  durationMs: z.optional(Duration),
  /** Details for people and machines: exit code, signal, survivors, how it was proven; `{blob}` where that is too long. */
  details: z.optional(Json),
});
export type OperationKnown = z.infer<typeof OperationKnown>;

/** It cannot be proven whether the effect happened. */
export const OperationUnknown = z.object({
  kind: z.literal("op.unknown"),
  /** Id of the operation. */
  operation: z.string(),
  /** Why it cannot be known. */
  reason: z.string(),
  /** All that was found: partial output, hashes, process state; `{blob}` names it where it is too long for the line. */
  evidence: Json,
});
export type OperationUnknown = z.infer<typeof OperationUnknown>;

/** A person said what happened. Binds to exactly one operation, executes nothing. */
export const OperationResolved = z.object({
  kind: z.literal("op.resolved"),
  /** Id of the operation. */
  operation: z.string(),
  /** How it ended, as the person says. */
  outcome: Outcome,
  /** What the model reads, where it stands in the line. */
  output: z.optional(z.string()),
  /** What the model reads, where it is too long for the line. */
  outputBlob: z.optional(BlobRef),
  /** How the person knows. */
  evidence: z.optional(z.string()),
  /** Who said it. */
  by: z.string(),
});
export type OperationResolved = z.infer<typeof OperationResolved>;

/** The result is part of the conversation; in one line with its tool message. */
export const OperationSettled = z.object({
  kind: z.literal("op.settled"),
  /** Id of the operation. */
  operation: z.string(),
});
export type OperationSettled = z.infer<typeof OperationSettled>;

/** A person must allow the operation before it starts. */
export const ApprovalAsked = z.object({
  kind: z.literal("approval.asked"),
  /** Id of the operation. */
  operation: z.string(),
  /** The capability that it uses. */
  capability: z.string(),
});
export type ApprovalAsked = z.infer<typeof ApprovalAsked>;

/** Somebody, or a rule, allowed or denied it. */
export const ApprovalDecided = z.object({
  kind: z.literal("approval.decided"),
  /** Id of the operation. */
  operation: z.string(),
  /** Whether it may start. */
  decision: z.enum(["allow", "deny"]),
  /** Who decided: a person's name, or what made the rule. */
  by: z.string(),
  /** Why, where something was said. */
  reason: z.optional(z.string()),
});
export type ApprovalDecided = z.infer<typeof ApprovalDecided>;

/** A person's answer that holds for later calls of the same kind. */
export const ApprovalRule = z.object({
  kind: z.literal("approval.rule"),
  /** The capability that it holds for. */
  capability: z.string(),
  /** Whether such operations may start. */
  decision: z.enum(["allow", "deny"]),
  /** Who gave it. */
  by: z.string(),
});
export type ApprovalRule = z.infer<typeof ApprovalRule>;
