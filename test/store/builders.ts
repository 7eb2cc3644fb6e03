import { createHash } from "node:crypto";
import type {
  DeliveryAdmitted,
  EpochRaised,
  Message,
  ModelRequested,
  Row,
  SessionCreated,
} from "../../src/model/facts.ts";
import { makeId, type IdPrefix } from "../../src/model/ids.ts";
import type { NewSession } from "../../src/store/index.ts";

/** Facts with good defaults. The same name makes the same id, so that tests can say what they mean. */

/** An id that is made of a name. */
export function idOf(prefix: IdPrefix, name: string): string {
  return makeId(prefix, 1_764_511_111_111, createHash("sha256").update(name).digest().subarray(0, 10));
}

/** A user's message whose id is made of its text, unless a name is given. */
export function message(text: string, name = text): Message {
  return { kind: "message", id: idOf("msg", name), role: "user", parts: [{ type: "text", text }] };
}

/** A delivery whose id is made of its text. */
export function admitted(text: string): DeliveryAdmitted {
  return {
    kind: "delivery.admitted",
    delivery: idOf("dlv", text),
    idempotencyKey: text,
    logSeq: 0,
    source: "user",
    text,
    mode: "queue",
  };
}

/** First fact of line 0. */
export const created: SessionCreated = {
  kind: "session.created",
  version: "0.1.0",
  agent: "builtin",
  workspace: { root: "/workspace", inode: "1", birthtimeNs: "0" },
  definition: {
    apiVersion: "holdfast/v1",
    kind: "Agent",
    metadata: { name: "tester" },
    spec: {
      objective: "Be tested.",
      instructions: [],
      capabilities: { required: [], optional: [] },
      execution: { modelRole: "main", maxTurns: 10, maxPureRetries: 1 },
      output: { format: "text" },
    },
  },
  definitionHash: "0".repeat(64),
  capabilities: [],
  policy: { deniedCapabilities: [], allowShell: false, allowMcp: false, passEnv: [], approvals: {} },
  policyHash: "0".repeat(64),
};

/** The list row of a new session. */
export function row(title: string): Row {
  return {
    kind: "row",
    title,
    titleBy: "auto",
    archived: false,
    pinned: false,
    agent: "builtin",
    binding: "/workspace",
    state: "idle",
    openUnknowns: 0,
  };
}

/** A process took the lease. */
export function epochRaised(): EpochRaised {
  return {
    kind: "epoch.raised",
    store: "sto_1",
    device: "dev_1",
    host: "here",
    bootId: "boot",
    pid: 4711,
    startTime: "1",
    version: "0.1.0",
  };
}

/** A model call is about to be made. */
export function modelRequested(run = idOf("run", "1"), turn = 1): ModelRequested {
  return {
    kind: "model.requested",
    run,
    turn,
    role: "execution",
    provider: "cassette",
    model: "test.yaml",
    system: { sha256: "a".repeat(64), bytes: 5 },
    tools: {},
  };
}

/** What a new session starts with. */
export function newSession(title = "a session", blobs: readonly Uint8Array[] = []): NewSession {
  return { created, row: row(title), blobs };
}
