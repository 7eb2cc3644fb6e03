import * as z from "zod/mini";

/**
 * What a worker and a supervisor say to each other: one connection for one operation. The first exchange names the
 * session and a nonce, and both sides check it: the path of a socket alone proves nothing.
 */

/** The worker's first message. */
const Hello = z.object({
  type: z.literal("hello"),
  v: z.literal(1),
  session: z.string(),
  /** Chosen by the worker, and repeated by the supervisor. */
  nonce: z.string(),
});

/** Start a command: at most once for its operation, whoever else may ask. Secrets travel here and nowhere else. */
export const Start = z.object({
  type: z.literal("start"),
  operation: z.string(),
  nonce: z.string(),
  /** The folder that the preparation made. */
  spool: z.string(),
  command: z.string(),
  cwd: z.string(),
  /** All of the command's environment. */
  env: z.record(z.string(), z.string()),
  /** Values that must not reach the disk. */
  secrets: z.array(z.string()),
  timeoutMs: z.optional(z.number()),
});
export type Start = z.infer<typeof Start>;

/** Tell this connection about a command that runs. */
const Watch = z.object({ type: z.literal("watch"), operation: z.string() });

/** Stop the command; its real end is recorded. */
const Cancel = z.object({
  type: z.literal("cancel"),
  operation: z.string(),
  /** Milliseconds that it has to end by itself; the supervisor's own measure where absent. */
  graceMs: z.optional(z.number().check(z.nonnegative())),
});

/** All that a worker says. */
export const WorkerMessage = z.discriminatedUnion("type", [Hello, Start, Watch, Cancel]);
export type WorkerMessage = z.infer<typeof WorkerMessage>;

/** Why a command was not started, or is not watched. */
export const RefusalReason = z.enum([
  /** Somebody else claimed it: another supervisor, or a recovery that made sure it never starts. */
  "claimed_elsewhere",
  /** Its folder is gone, or the disk refused to record the start. Nothing was claimed. */
  "spool",
  /** It does not run here. */
  "not_here",
]);
export type RefusalReason = z.infer<typeof RefusalReason>;

/** The supervisor's answers and notices. */
export const SupervisorMessage = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("welcome"),
    session: z.string(),
    /** The worker's nonce. */
    nonce: z.string(),
    /** The supervisor's own nonce, as in its claims. */
    supervisor: z.string(),
  }),
  /** The claim is durable; the end will be in the status. Answers `start` and `watch`. */
  z.object({ type: z.literal("accepted"), operation: z.string() }),
  z.object({
    type: z.literal("refused"),
    operation: z.string(),
    reason: RefusalReason,
    message: z.string(),
  }),
  /** The output or the status has grown. Only a hint: the files are the truth. */
  z.object({ type: z.literal("changed"), operation: z.string() }),
]);
export type SupervisorMessage = z.infer<typeof SupervisorMessage>;
