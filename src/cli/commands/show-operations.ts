import type { OperationView } from "../../model/views.ts";
import type { CallState } from "../progress/tool-line.ts";
import { markOf, summariseArgs } from "../progress/tool-line.ts";
import type { Screen, Span } from "../screen.ts";
import type { Cell } from "../table.ts";
import { writeTable } from "../table.ts";
import { waitsForApproval } from "../text/approval.ts";
import { argumentsText } from "../text/arguments.ts";
import { cleanText, oneLine } from "../text/clean.ts";
import { evidenceSentences } from "../text/evidence.ts";
import { endWords, proofWords } from "../text/proof.ts";
import { treeLines } from "../text/tree.ts";
import { formatDuration, formatTime } from "../text/units.ts";
import { writeIndented } from "./fields.ts";

/** Operations on a page for people: a table of them, and each with what it was asked for and what came of it. */

const rowsMax = 10;

/** Writes operations as a table, one line each. */
export function writeOperationTable(screen: Screen, operations: readonly OperationView[]): void {
  const columns = [
    { title: "" },
    { title: "OPERATION" },
    { title: "TOOL", widthMin: 6 },
    { title: "STATE" },
    { title: "TOOK" },
    { title: "ASKED FOR", widthMin: 10 },
  ];
  writeTable(screen, { columns, rows: operations.map((one) => rowOf(one)), shrinkOrder: [5, 2] });
}

function rowOf(operation: OperationView): Cell[] {
  const { id, tool, state, outcome, args } = operation;
  const mark = markSpan(operation);
  const took = tookMs(operation);
  return [
    typeof mark === "string" ? { text: mark } : { tone: mark[0], text: mark[1] },
    { text: id },
    { text: oneLine(tool) },
    { text: waitsForApproval(operation) ? "waits" : (outcome ?? state).replace("_", " ") },
    { text: took === undefined ? "" : formatDuration(took) },
    { text: summariseArgs(args) },
  ];
}

function markSpan({ state, outcome }: OperationView): Span {
  const shown: CallState | undefined = state === "unknown" ? "unknown" : outcome;
  return shown === undefined ? "" : markOf(shown);
}

/** What was measured; of what a person resolved, nobody knows how long it took. */
function tookMs({ durationMs, startedAt, endedAt, resolution }: OperationView): number | undefined {
  if (durationMs !== undefined) return durationMs;
  if (resolution !== undefined || startedAt === undefined || endedAt === undefined) return undefined;
  return endedAt - startedAt;
}

/** Writes one operation: what it was asked for as it was asked, how it ended, what is known, its output. */
export function writeOperation(
  screen: Screen,
  operation: OperationView,
  how: { readonly full: boolean },
): void {
  const { id, tool, args, details, output = "", approval, resolution } = operation;
  const took = tookMs(operation);
  const words = [
    oneLine(tool),
    (operation.outcome ?? operation.state).replace("_", " "),
    endWords(details),
    took === undefined ? undefined : formatDuration(took),
  ];
  const room = how.full ? { rowsMax: Number.POSITIVE_INFINITY } : { rowsMax, rest: "all of it with --full" };
  screen.line();
  screen.line(markSpan(operation), " ", ["bold", id]);
  writeIndented(screen, words.filter((word) => word !== undefined).join(" · "), { indent: "  " });
  const proof = proofWords(details);
  if (proof !== undefined) writeIndented(screen, proof, { indent: "  " });
  if (approval !== undefined) writeIndented(screen, approvalWords(approval), { indent: "  " });
  if (resolution !== undefined) writeIndented(screen, resolutionWords(resolution), { indent: "  " });
  screen.line(["dim", "  asked for:"]);
  writeIndented(screen, argumentsText(args), room);
  writeEvidence(screen, operation);
  if (output === "") return;
  screen.line(["dim", "  output:"]);
  writeIndented(screen, output, room);
}

/** Who was asked for what since when, and what came of it. */
function approvalWords(approval: NonNullable<OperationView["approval"]>): string {
  const { capability, askedAt, decision, by = "", at, reason } = approval;
  const asked = `approval of ${oneLine(capability)} was asked for at ${formatTime(askedAt)}`;
  if (decision === undefined) return `${asked}, and nobody has answered yet`;
  const why = reason === undefined ? "" : `: ${oneLine(reason)}`;
  const when = at === undefined ? "" : ` at ${formatTime(at)}`;
  return `${asked}; ${decision === "allow" ? "allowed" : "denied"} by ${oneLine(by)}${when}${why}`;
}

function resolutionWords({ by, at, evidence }: NonNullable<OperationView["resolution"]>): string {
  const why = evidence === undefined ? "" : `: ${oneLine(evidence)}`;
  return `was resolved by ${oneLine(by)} at ${formatTime(at)}${why}`;
}

/** All that was found about what cannot be known. */
function writeEvidence(screen: Screen, { state, evidence, unknownAt }: OperationView): void {
  if (state !== "unknown" || evidence === undefined) return;
  screen.line(["dim", "  what was found:"]);
  const sentences = evidenceSentences(evidence, unknownAt);
  if (sentences.length > 0) writeIndented(screen, sentences.join("\n"));
  screen.line(["dim", "  in detail:"]);
  writeIndented(screen, cleanText(treeLines(evidence).join("\n")));
}
