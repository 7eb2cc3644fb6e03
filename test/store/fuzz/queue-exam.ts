import { applyToQueue, emptyQueueState } from "../../../src/model/delivery.ts";
import type { Commit } from "../../../src/model/commit.ts";
import { storeOn } from "../../corpus/opened.ts";
import { plant, stateDirectory, type SessionFiles } from "../../corpus/session-files.ts";
import { promised } from "../../crash/campaign/finding.ts";
import type { MemoryDisk } from "../../crash/memory-disk.ts";
import { admitted } from "../builders.ts";
import { changedOrRefused, reading } from "./looked-at.ts";
import { expectWritten, type Known } from "./log-exam.ts";

/** What must hold of a session whose queue is no longer what its writers left. */
export async function examineQueue(files: SessionFiles, known: Known): Promise<void> {
  const { session } = files;
  const disk = plant(files);
  const store = storeOn(disk);
  const seen: Commit[] = [];
  const read = await reading(disk, "reading the queue", () =>
    store.readQueue(session, (commit) => void seen.push(commit)),
  );
  if (read.error !== undefined) {
    const { code, details } = read.error;
    const isTold = ["queue_damaged", "unsupported_version"].includes(code) && details.at !== undefined;
    promised(isTold, "untyped", () => `reading the queue: ${code}`);
  }
  expectWritten(seen, known);
  const folded = emptyQueueState();
  await reading(disk, "folding the queue", () =>
    store.readQueue(session, (commit) => applyToQueue(folded, commit)),
  );
  await examineAdmission(disk, session, { seen, isRefused: read.error !== undefined });
  await examineRepair(plant(files), session);
}

async function examineAdmission(
  disk: MemoryDisk,
  session: string,
  before: { seen: readonly Commit[]; isRefused: boolean },
): Promise<void> {
  const store = storeOn(disk);
  const bytes = bytesAt(disk, session);
  const admission = store.appendToQueue(
    session,
    () => undefined,
    (queue) => queue.append([admitted("it goes on")]),
  );
  const { error } = await changedOrRefused("admitting", admission);
  if (error !== undefined) {
    promised(
      bytesAt(disk, session).equals(bytes),
      "foreign write",
      () => "a refused admission changed the queue",
    );
    return;
  }
  promised(!before.isRefused, "false success", () => "a message was admitted to a damaged queue");
  const after: Commit[] = [];
  await store.readQueue(session, (commit) => void after.push(commit));
  const isKept = before.seen.every(({ sum }, index) => after[index]?.sum === sum);
  promised(isKept, "lost", () => "an admission lost what was there");
  promised(JSON.stringify(after).includes("it goes on"), "lost", () => "an admission is not there");
}

async function examineRepair(disk: MemoryDisk, session: string): Promise<void> {
  const store = storeOn(disk);
  const bytes = bytesAt(disk, session);
  const repairing = { version: "0.1.0", visit: () => undefined, visitQueue: () => undefined };
  const { error } = await changedOrRefused("repair", store.repair(session, repairing));
  const after = bytesAt(disk, session);
  if (error !== undefined) {
    promised(after.equals(bytes), "foreign write", () => "a refused repair changed the queue");
    return;
  }
  const again = await changedOrRefused("second repair", store.repair(session, repairing));
  const isNothing = again.value?.every((one) => one.repaired === undefined) ?? false;
  promised(isNothing && bytesAt(disk, session).equals(after), "repeated", () => "a queue was repaired twice");
}

function bytesAt(disk: MemoryDisk, session: string): Buffer {
  return Buffer.from(disk.peek(`${stateDirectory}/sessions/${session}/queue.jsonl`) ?? []);
}
