import * as z from "zod/mini";
import { Json } from "../values.ts";

/** Facts about the session as a whole: what it is, what its list row says, who holds it, what happened to its store. */

const sum = z.string().check(z.regex(/^[0-9a-f]{32}$/));

/** The directory, and the repository it belongs to, that a session works in. */
export const WorkspaceBinding = z.object({
  /** Canonical absolute path of the workspace. */
  root: z.string(),
  /** Where `root` lies inside its repository, "" at the top; absent without git. */
  pathInRepository: z.optional(z.string()),
  /** First commits of the repository, sorted; absent without git or in a shallow clone. */
  firstCommits: z.optional(z.array(z.string())),
  /** Normalised remote without scheme, user and `.git`. */
  remote: z.optional(z.string()),
  /** Branch at creation; absent where HEAD is detached. */
  branch: z.optional(z.string()),
  /** Commit at creation; absent in a repository without commits. */
  head: z.optional(z.string()),
  /** Inode of `root`, which with `birthtimeNs` is the identity of a directory without git. */
  inode: z.string(),
  birthtimeNs: z.string(),
});
export type WorkspaceBinding = z.infer<typeof WorkspaceBinding>;

/** What an agent may do, as the caller bounded it. */
export const Policy = z.object({
  /** Capabilities that may be used; absent means every one. */
  allowedCapabilities: z.optional(z.array(z.string())),
  /** Capabilities that may not; wins over the allowed ones. */
  deniedCapabilities: z.array(z.string()),
  allowShell: z.boolean(),
  allowMcp: z.boolean(),
  /** Names of environment variables that children get although they look secret; sorted, unique. */
  passEnv: z.array(z.string()),
  maxTurns: z.optional(z.number()),
  maxWallClockMs: z.optional(z.number()),
  maxTokens: z.optional(z.number()),
  /** What happens when a tool of that capability is asked for; absent means allow. */
  approvals: z.record(z.string(), z.enum(["allow", "ask", "deny"])),
});
export type Policy = z.infer<typeof Policy>;

/** The agent definition as it is locked into a session. */
export const AgentDefinition = z.object({
  apiVersion: z.literal("holdfast/v1"),
  kind: z.literal("Agent"),
  metadata: z.object({ name: z.string(), description: z.optional(z.string()) }),
  spec: z.object({
    objective: z.string(),
    instructions: z.array(z.string()),
    successCriteria: z.optional(z.array(z.string())),
    capabilities: z.object({ required: z.array(z.string()), optional: z.array(z.string()) }),
    execution: z.object({
      modelRole: z.string(),
      maxTurns: z.number(),
      maxWallClockMs: z.optional(z.number()),
      maxTokens: z.optional(z.number()),
      /** New operations that recovery may make for one interrupted pure call. */
      maxPureRetries: z.number(),
    }),
    output: z.object({
      format: z.enum(["text", "json"]),
      requiredFields: z.optional(z.array(z.string())),
      schema: z.optional(Json),
    }),
  }),
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/** Where a branch left its parent. */
export const ParentLink = z.object({
  /** The parent session. */
  session: z.string(),
  /** The first ancestor of the family. */
  root: z.string(),
  /** The message at the fork point; absent before the first message. */
  message: z.optional(z.string()),
  /** That message's position among the visible ones, from 1. */
  ordinal: z.optional(z.number()),
  messageAt: z.optional(z.number()),
  position: z.enum(["before", "after"]),
  kind: z.enum(["manual", "edit", "rerun"]),
});
export type ParentLink = z.infer<typeof ParentLink>;

/** One inherited prefix: read as if that log ended at `bytes`, the end of the accepted line (`seq`, `sum`). */
export const BaseRef = z.object({ session: z.string(), seq: z.number(), sum, bytes: z.number() });
export type BaseRef = z.infer<typeof BaseRef>;

/** What answers in this session, fixed at its start. */
export const ModelChoice = z.object({
  /** `anthropic`, `openai`, `openai-compatible`, `google` or `cassette`. */
  provider: z.string(),
  /** The provider's name of the model; a cassette's file name. */
  model: z.string(),
  /** Base URL where it is not the provider's own. */
  baseUrl: z.optional(z.string()),
  /** The cassette's bytes, a blob of the session. */
  cassette: z.optional(z.object({ sha256: z.string(), bytes: z.number() })),
});
export type ModelChoice = z.infer<typeof ModelChoice>;

/** First fact of line 0. */
export const SessionCreated = z.object({
  kind: z.literal("session.created"),
  /** Version of the program that wrote it. */
  version: z.string(),
  agent: z.string(),
  model: z.optional(ModelChoice),
  workspace: WorkspaceBinding,
  definition: AgentDefinition,
  /** SHA-256 of the definition's canonical JSON. */
  definitionHash: z.string(),
  /** Requested and permitted capabilities, sorted. */
  capabilities: z.array(z.string()),
  policy: Policy,
  /** SHA-256 of the policy's canonical JSON. */
  policyHash: z.string(),
  parent: z.optional(ParentLink),
  /** Inherited prefixes, oldest first. */
  bases: z.optional(z.array(BaseRef)),
});
export type SessionCreated = z.infer<typeof SessionCreated>;

/** What a list shows; in line 0 and, last, in every line that changes one of its members. */
export const Row = z.object({
  kind: z.literal("row"),
  title: z.string(),
  /** Who gave the title: `auto` never replaces one of a person. */
  titleBy: z.enum(["auto", "person"]),
  archived: z.boolean(),
  pinned: z.boolean(),
  /** Manual position among the pinned ones; absent means by time. */
  order: z.optional(z.number()),
  agent: z.string(),
  /** `provider/model`. */
  model: z.optional(z.string()),
  /** The workspace's root. */
  binding: z.string(),
  /** The newest run. */
  run: z.optional(z.string()),
  /** State of the newest run as stored; `idle` before the first. A running one without a live lease is interrupted. */
  state: z.string(),
  /** Operations whose outcome is unknown. */
  openUnknowns: z.number(),
  parent: z.optional(z.string()),
  /** The agent's own session. */
  vendor: z.optional(z.string()),
  /** Set where the session was moved away and runs no more here. */
  moved: z.optional(z.boolean()),
});
export type Row = z.infer<typeof Row>;

/** A person changed what the list shows. Members that are absent stay. */
export const SessionChanged = z.object({
  kind: z.literal("session.changed"),
  title: z.optional(z.string()),
  archived: z.optional(z.boolean()),
  pinned: z.optional(z.boolean()),
  order: z.optional(z.number()),
  by: z.optional(z.string()),
});
export type SessionChanged = z.infer<typeof SessionChanged>;

/** The session runs in another store from here on, or was sealed to travel. */
export const SessionMoved = z.object({
  kind: z.literal("session.moved"),
  from: z.string(),
  to: z.optional(z.string()),
  sealed: z.optional(z.boolean()),
});
export type SessionMoved = z.infer<typeof SessionMoved>;

/** A process took the lease; first fact of its first line. The number is the line's `epoch`. */
export const EpochRaised = z.object({
  kind: z.literal("epoch.raised"),
  /** Id of the store. */
  store: z.string(),
  device: z.string(),
  host: z.string(),
  bootId: z.string(),
  pid: z.number(),
  startTime: z.string(),
  /** Version of the program. */
  version: z.string(),
  /** Path of the worker's socket; absent where it has none. */
  socket: z.optional(z.string()),
  /** Random, so that no two holders write the same line; what a caller of the socket must name. */
  nonce: z.optional(z.string()),
});
export type EpochRaised = z.infer<typeof EpochRaised>;

/** The holder let go in good order. */
export const LeaseReleased = z.object({ kind: z.literal("lease.released") });
export type LeaseReleased = z.infer<typeof LeaseReleased>;

/** The session is bound to another place from here on. */
export const WorkspaceRebound = z.object({
  kind: z.literal("workspace.rebound"),
  workspace: WorkspaceBinding,
});
export type WorkspaceRebound = z.infer<typeof WorkspaceRebound>;

/** A different policy was accepted on resume. */
export const PolicyAccepted = z.object({
  kind: z.literal("policy.accepted"),
  policy: Policy,
  policyHash: z.string(),
  by: z.optional(z.string()),
});
export type PolicyAccepted = z.infer<typeof PolicyAccepted>;

/** Bytes that nobody had acknowledged were removed from, or completed at, the end of this file. */
export const Repaired = z.object({
  kind: z.literal("repaired"),
  /** `newline`: a whole line got its end; `cut`: a piece was removed; `copied`: the file was written anew. */
  action: z.enum(["newline", "cut", "copied"]),
  /** Byte offset of the piece. */
  offset: z.number(),
  bytes: z.number(),
  /** Name under `recovery/` where the original bytes are kept; absent for `newline`. */
  saved: z.optional(z.string()),
});
export type Repaired = z.infer<typeof Repaired>;

/** A person accepted that the log is shorter than `head` says. */
export const RollbackAccepted = z.object({ kind: z.literal("rollback.accepted"), seq: z.number(), sum });
export type RollbackAccepted = z.infer<typeof RollbackAccepted>;
