import { readFileSync } from "node:fs";
import { createSession, readSession } from "../../src/engine/index.ts";
import { nodeHost } from "../../src/host/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import type { DeliveryAdmitted, Row, SessionCreated } from "../../src/model/facts.ts";
import { openEngine } from "../../src/open.ts";
import type { Place } from "./program.ts";

/** Sessions whose policy leaves something to a person. */

/** A session with a task in its queue, where a person must allow what uses one of the capabilities. */
export async function askingSession(
  place: Place,
  turns: readonly unknown[],
  capabilities: readonly string[] = ["exec"],
): Promise<string> {
  const host = nodeHost({ environment: place.env() });
  const context = openEngine({
    host,
    stateDirectory: place.state,
    singleWriter: false,
    environment: place.env(),
    version: "0.0.0-test",
    supervisorProgram: { file: process.execPath, args: [place.program] },
  });
  const model = place.cassette(...turns);
  const request = { workspace: place.workspace, agent: "builtin", model, task: "Do it." };
  const plain = await createSession(context, { ...request, policy: { allowShell: true } });
  const lines: Commit[] = [];
  await readSession(context, plain, (commit) => void lines.push(commit));
  const [created, row] = (lines[0]?.facts ?? []) as [SessionCreated, Row];
  const approvals = Object.fromEntries(capabilities.map((name) => [name, "ask" as const]));
  const queue: DeliveryAdmitted = {
    kind: "delivery.admitted",
    delivery: "dlv_1",
    idempotencyKey: "dlv_1",
    logSeq: 0,
    source: "user",
    text: "Do it.",
    mode: "queue",
  };
  return await context.store.create({
    created: { ...created, policy: { ...created.policy, approvals } },
    row,
    blobs: [readFileSync(model.slice("cassette:".length))],
    queue: [queue],
  });
}
