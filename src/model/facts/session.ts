import * as z from "zod/mini";
import { BlobRef, Count, Duration, Json, Sum } from "../values.ts";

/** Facts about the session as a whole: what it is, what its list row says, who holds it, what happened to its store. */

/** The directory, and the repository it belongs to, that a session works in. */
export const WorkspaceBinding = z.object({
  /** Canonical absolute path of the workspace. */
  root: z.string(),
  /** Where `root` lies inside its repository, "" at the top; absent without git. */
  pathInRepository: z.optional(z.string()),
  /** Hashes of the repository's first commits, sorted; absent without git or in a shallow clone. */
  firstCommits: z.optional(z.array(z.string())),
  /** The remote's address as an identity, without scheme, user, password and `.git`; absent where there is none. */
  remote: z.optional(z.string()),
  /** Name of the branch at creation; absent where HEAD is detached. */
  branch: z.optional(z.string()),
  /** Hash of the commit at creation; absent in a repository without commits. */
  head: z.optional(z.string()),
  /** Inode of `root` in decimal digits, with `birthtimeNs` the identity of a directory without git. */
  inode: z.string(),
  /** Nanoseconds since 1970 when that inode was made, in decimal digits. */
  birthtimeNs: z.string(),
});
export type WorkspaceBinding = z.infer<typeof WorkspaceBinding>;

/** What an agent may do, as the caller bounded it. */
export const Policy = z.object({
  /** Capabilities that may be used; absent means every one. */
  allowedCapabilities: z.optional(z.array(z.string())),
  /** Capabilities that may not; wins over the allowed ones. */
  deniedCapabilities: z.array(z.string()),
  /** True where commands may be run. */
  allowShell: z.boolean(),
  /** True where tools of MCP servers may be used. */
  allowMcp: z.boolean(),
  /** Names of environment variables that children get although they look secret; sorted, unique. */
  passEnv: z.array(z.string()),
  /** Model answers that a run may take, over all its attempts; absent means no limit. */
  maxTurns: z.optional(Count),
  /** Milliseconds that a run may take, over all its attempts; absent means no limit. */
  maxWallClockMs: z.optional(Duration),
  /** Tokens that a run may use, over all its attempts; absent means no limit. */
  maxTokens: z.optional(Count),
  /** What happens when a tool of that capability is asked for; absent means allow. */
  approvals: z.record(z.string(), z.enum(["allow", "ask", "deny"])),
});
export type Policy = z.infer<typeof Policy>;

/** The agent definition as it is locked into a session. */
export const AgentDefinition = z.object({
  /** Version of the definition's own form. */
  apiVersion: z.literal("holdfast/v1"),
  /** What the document defines. */
  kind: z.literal("Agent"),
  /** What people call it. */
  metadata: z.object({
    /** Its short name. */
    name: z.string(),
    /** What it is for. */
    description: z.optional(z.string()),
  }),
  /** What it is. */
  spec: z.object({
    /** What it shall achieve. */
    objective: z.string(),
    /** How it shall work, one instruction each. */
    instructions: z.array(z.string()),
    /** By what it can tell that it is done. */
    successCriteria: z.optional(z.array(z.string())),
    /** What it may use, where the policy permits it. */
    capabilities: z.object({
      /** Capabilities without which it does not start. */
      required: z.array(z.string()),
      /** Capabilities that it can do without. */
      optional: z.array(z.string()),
    }),
    /** How its runs are executed. */
    execution: z.object({
      /** The role whose model answers: `execution`, `planning` or `summary`. */
      modelRole: z.string(),
      /** Model answers that a run may take, over all its attempts. */
      maxTurns: Count,
      /** Milliseconds that a run may take, over all its attempts; absent means no limit. */
      maxWallClockMs: z.optional(Duration),
      /** Tokens that a run may use, over all its attempts; absent means no limit. */
      maxTokens: z.optional(Count),
      /** New operations that recovery may make for one interrupted pure call. */
      maxPureRetries: Count,
    }),
    /** What its final answer must be. */
    output: z.object({
      /** Prose, or one JSON document. */
      format: z.enum(["text", "json"]),
      /** Members that a json answer must have. */
      requiredFields: z.optional(z.array(z.string())),
      /** JSON Schema that a json answer must satisfy. */
      schema: z.optional(Json),
    }),
  }),
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/** Where a branch left its parent. */
export const ParentLink = z.object({
  /** Id of the parent session. */
  session: z.string(),
  /** Id of the first ancestor of the family. */
  root: z.string(),
  /** Id of the message at the fork point; absent before the first message. */
  message: z.optional(z.string()),
  /** That message's position among the visible ones, from 1. */
  ordinal: z.optional(Count),
  /** When that message was committed. */
  messageAt: z.optional(Count),
  /** On which side of that message it was cut. */
  position: z.enum(["before", "after"]),
  /** What for: by hand, to send a user's message changed, or to send it again. */
  kind: z.enum(["manual", "edit", "rerun"]),
});
export type ParentLink = z.infer<typeof ParentLink>;

/** One inherited prefix: read as if that log ended at `bytes`, the end of the accepted line (`seq`, `sum`). */
export const BaseRef = z.object({
  /** Id of the ancestor whose log it is. */
  session: z.string(),
  /** Position of the last inherited line in that log, from 0. */
  seq: Count,
  /** The sum of that line. */
  sum: Sum,
  /** Byte offset of the end of that line. */
  bytes: Count,
});
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
  cassette: z.optional(BlobRef),
});
export type ModelChoice = z.infer<typeof ModelChoice>;

/** First fact of line 0. */
export const SessionCreated = z.object({
  kind: z.literal("session.created"),
  /** Version of the program that wrote it. */
  version: z.string(),
  /** Name of the agent that answers, as `builtin`. */
  agent: z.string(),
  /** The model that answers; absent where the agent brings its own. */
  model: z.optional(ModelChoice),
  /** Where it works. */
  workspace: WorkspaceBinding,
  /** What the agent is, locked. */
  definition: AgentDefinition,
  /** SHA-256 of the definition's canonical JSON: 64 hex digits. */
  definitionHash: z.string(),
  /** Requested and permitted capabilities, sorted. */
  capabilities: z.array(z.string()),
  /** What the caller permitted. */
  policy: Policy,
  /** SHA-256 of the policy's canonical JSON: 64 hex digits. */
  policyHash: z.string(),
  /** Where it left its parent; absent where it is no branch. */
  parent: z.optional(ParentLink),
  /** Inherited prefixes, oldest first. */
  bases: z.optional(z.array(BaseRef)),
});
export type SessionCreated = z.infer<typeof SessionCreated>;

/** What a list shows; in line 0 and, last, in every line that changes one of its members. */
export const Row = z.object({
  kind: z.literal("row"),
  /** What people call the session; "" before there is a title. */
  title: z.string(),
  /** Who gave the title: `auto` never replaces one of a person. */
  titleBy: z.enum(["auto", "person"]),
  /** True where lists hide it unless asked. */
  archived: z.boolean(),
  /** True where lists show it before the others. */
  pinned: z.boolean(),
  /** Manual position among the pinned ones, lower first; absent means by time. */
  order: z.optional(z.number()),
  /** Name of the agent that answers. */
  agent: z.string(),
  /** The model that answers, as `provider/model`. */
  model: z.optional(z.string()),
  /** Absolute path of the workspace's root. */
  binding: z.string(),
  /** Id of the newest run. */
  run: z.optional(z.string()),
  /** State of the newest run as stored; `idle` before the first. A running one without a live lease is interrupted. */
  state: z.string(),
  /** How many operations have an unknown outcome. */
  openUnknowns: Count,
  /** Id of the parent session, where it is a branch. */
  parent: z.optional(z.string()),
  /** The agent's id of its own session. */
  vendor: z.optional(z.string()),
  /** True where the session was moved away and runs no more here. */
  moved: z.optional(z.boolean()),
});
export type Row = z.infer<typeof Row>;

/** A person changed what the list shows. Members that are absent stay. */
export const SessionChanged = z.object({
  kind: z.literal("session.changed"),
  /** The new title. */
  title: z.optional(z.string()),
  /** Whether lists hide it from now on. */
  archived: z.optional(z.boolean()),
  /** Whether lists show it before the others from now on. */
  pinned: z.optional(z.boolean()),
  /** The new position among the pinned ones, lower first. */
  order: z.optional(z.number()),
  /** Who changed it. */
  by: z.optional(z.string()),
});
export type SessionChanged = z.infer<typeof SessionChanged>;

/** The session runs in another store from here on, or was sealed to travel. */
export const SessionMoved = z.object({
  kind: z.literal("session.moved"),
  /** Id of the store that ran it so far. */
  from: z.string(),
  /** Id of the store that runs it from now on; absent where it was sealed. */
  to: z.optional(z.string()),
  /** True where it runs nowhere until a store takes it in. */
  sealed: z.optional(z.boolean()),
});
export type SessionMoved = z.infer<typeof SessionMoved>;

/** A process took the lease; first fact of its first line. The number is the line's `epoch`. */
export const EpochRaised = z.object({
  kind: z.literal("epoch.raised"),
  /** Id of the store that the session lies in. */
  store: z.string(),
  /** Id of the machine. */
  device: z.string(),
  /** Name of the machine. */
  host: z.string(),
  /** What the system calls its current boot. */
  bootId: z.string(),
  /** Number of the process. */
  pid: Count,
  /** When the process started, as the system tells it; with `pid` and `bootId` it names one process. */
  startTime: z.string(),
  /** Version of the program. */
  version: z.string(),
  /** Absolute path of the worker's socket; absent where it has none. */
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
  /** Where it works from now on. */
  workspace: WorkspaceBinding,
});
export type WorkspaceRebound = z.infer<typeof WorkspaceRebound>;

/** A different policy was accepted on resume. */
export const PolicyAccepted = z.object({
  kind: z.literal("policy.accepted"),
  /** The policy that holds from now on. */
  policy: Policy,
  /** SHA-256 of its canonical JSON: 64 hex digits. */
  policyHash: z.string(),
  /** Who accepted it. */
  by: z.optional(z.string()),
});
export type PolicyAccepted = z.infer<typeof PolicyAccepted>;

/** Bytes that nobody had acknowledged were removed from, or completed at, the end of this file. */
export const Repaired = z.object({
  kind: z.literal("repaired"),
  /** What was done. `newline`: a whole line got its end; `cut`: a piece was removed; `copied`: the file was written anew. */
  action: z.enum(["newline", "cut", "copied"]),
  /** Byte offset of the piece in the file. */
  offset: Count,
  /** How many bytes the piece had. */
  bytes: Count,
  /** Name under `recovery/` where the original bytes are kept; absent for `newline`. */
  saved: z.optional(z.string()),
});
export type Repaired = z.infer<typeof Repaired>;

/** A person accepted that the log is shorter than `head` says. */
export const RollbackAccepted = z.object({
  kind: z.literal("rollback.accepted"),
  /** Position of the line that `head` names and that the log lost. */
  headSeq: Count,
  /** The sum of that line. */
  sum: Sum,
});
export type RollbackAccepted = z.infer<typeof RollbackAccepted>;
