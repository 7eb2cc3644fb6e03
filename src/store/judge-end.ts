import type { Host } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { RollbackAccepted } from "../model/facts.ts";
import type { HeadRecord } from "./head-file.ts";
import { judgeHead } from "./head-file.ts";
import type { History } from "./read-log.ts";
import type { SessionFolder } from "./session-folder.ts";

/** What was read of a log, and what else is known of its end. */
export interface KnownEnd {
  readonly folder: SessionFolder;
  readonly history: Pick<History, "scan">;
  readonly head: HeadRecord | undefined;
  /** Where the accepted line ends that has the head's seq; undefined where there is none. */
  readonly headEnd: number | undefined;
  /** The heads that a person has accepted as gone. */
  readonly accepted: readonly RollbackAccepted[];
  /** A person accepts it now. */
  readonly acceptRollback: boolean;
}

/**
 * Compares the log's end with `head`, before anything behind it is cut; resolves to the fact of a rollback that is
 * accepted here. Rejects `rolled_back` where the file is shorter than it was known to be, or another one; `log_damaged`
 * where it is as long and does not verify.
 */
export async function judgeEnd(host: Host, known: KnownEnd): Promise<RollbackAccepted[]> {
  const { folder, head, headEnd, accepted, acceptRollback } = known;
  const { scan } = known.history;
  const fileBytes = (await host.disk.stat(folder.log))?.size ?? 0;
  const log = { sumAt: (seq: number) => scan.sums.at(seq), lastSeq: scan.head.seq, headEnd, fileBytes };
  const verdict = judgeHead(head, log, accepted);
  if (verdict === "good" || head === undefined) return [];
  if (verdict === "log_damaged") {
    throw new HoldfastError(
      "log_damaged",
      `${folder.log}: byte ${scan.end}: lines up to seq ${head.seq} were known`,
      {
        hint: `What is intact can be read: holdfast session show ${folder.id}`,
        at: { file: folder.log, line: scan.lines + 1, offset: scan.end },
      },
    );
  }
  if (acceptRollback) return [{ kind: "rollback.accepted", headSeq: head.seq, sum: head.sum }];
  const what =
    head.seq > scan.head.seq
      ? `ends at seq ${scan.head.seq}, but seq ${head.seq} was known to be on disk`
      : `holds another line at seq ${head.seq}, or at another place, than was known to be on disk`;
  throw new HoldfastError("rolled_back", `the log of session ${folder.id} ${what}`, {
    hint: `If the older state is meant, go on from it with: holdfast resume ${folder.id} --accept-rollback`,
  });
}
