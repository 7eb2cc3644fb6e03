import type { DiskFile, Host } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import type { Commit } from "../model/commit.ts";
import { HoldfastError } from "../model/errors.ts";
import { emptyHead, SumHistory } from "./chain.ts";
import { zeroSum } from "./line.ts";
import { commitOf, parseFacts } from "./read-facts.ts";
import type { Damage, Remainder, ScannedLine, ScanState } from "./scan.ts";
import { scanLines } from "./scan.ts";
import type { SessionFolder } from "./session-folder.ts";

/** Takes each accepted line of the queue in order. */
export type VisitQueue = (commit: Commit) => void;

/** The state before the first line of a session's queue. */
export function emptyQueue(session: string): ScanState {
  return { session, mayBeEmpty: true, head: emptyHead(), sums: new SumHistory(zeroSum), end: 0, lines: 0 };
}

/** The typed error for a damaged queue. */
export function damagedQueue(session: string, path: string, damage: Damage): HoldfastError {
  const { line, offset, reason } = damage;
  return new HoldfastError("queue_damaged", `${path}: line ${line}, byte ${offset}: ${reason}`, {
    hint: `What is intact can be read: holdfast session show ${session}`,
    at: { file: path, line, offset },
  });
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
  const visitLine = (line: ScannedLine, verdict: "accepted" | "void"): string | undefined => {
    if (verdict === "void") return undefined;
    const parsed = parseFacts(line.bytes, line.envelope);
    if ("fault" in parsed) return parsed.fault;
    visit(commitOf(line.envelope, parsed.facts));
    return undefined;
  };
  try {
    return { scan, remainder: await scanLines(file, scan, visitLine) };
  } finally {
    await file.close();
  }
}
