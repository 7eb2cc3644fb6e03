import type { DiskFile, Host } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import type { Commit } from "../model/commit.ts";
import { queueRules, strictVisitor } from "./file-rules.ts";
import { zeroSum } from "./line.ts";
import type { Remainder, ScanState } from "./scan.ts";
import { scanLines, startScan } from "./scan.ts";
import type { SessionFolder } from "./session-folder.ts";

/** Takes each accepted line of the queue in order; a returned text is a reason why it is damage after all. */
export type VisitQueue = (commit: Commit) => string | void;

/** The state before the first line of a session's queue. */
export function emptyQueue(session: string): ScanState {
  return startScan(session, zeroSum, true);
}

/** Reads the queue without a lock: what stands there up to the first thing that is no line. */
export async function readQueue(
  host: Host,
  folder: SessionFolder,
  visit: VisitQueue,
): Promise<{ scan: ScanState; remainder: Remainder }> {
  const scan = emptyQueue(folder.id);
  let file: DiskFile;
  try {
    file = await host.disk.open(folder.queue, "read");
  } catch (error) {
    if (isDiskError(error, "ENOENT")) return { scan, remainder: { state: "none" } };
    throw error;
  }
  const visitor = strictVisitor(queueRules, {
    accepted: (commit) => visit(commit) ?? undefined,
    void: () => undefined,
  });
  try {
    return { scan, remainder: await scanLines(file, scan, visitor) };
  } finally {
    await file.close();
  }
}
