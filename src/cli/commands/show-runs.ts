import type { RunSummary } from "../../model/views.ts";
import { nameOfStatus, statusSpan } from "../progress/summary.ts";
import type { Screen } from "../screen.ts";
import { writeTable } from "../table.ts";
import { formatAge, formatDuration } from "../text/units.ts";

/** Writes runs as a table. */
export function writeRuns(screen: Screen, runs: readonly RunSummary[], now: number): void {
  const rows = runs.map((run) => {
    const status = statusSpan(run.status);
    const took = run.endedAt === undefined ? "" : formatDuration(run.endedAt - run.createdAt);
    return [
      { text: run.run },
      { text: nameOfStatus(run.status), tone: typeof status === "string" ? ("plain" as const) : status[0] },
      { text: String(run.attempts) },
      { text: formatAge(run.createdAt, now) },
      { text: took },
    ];
  });
  const columns = ["RUN", "STATUS", "ATTEMPTS", "STARTED", "TOOK"].map((title) => ({ title }));
  writeTable(screen, { columns, rows, shrinkOrder: [] });
}
