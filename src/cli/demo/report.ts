import type { Commit } from "../../model/commit.ts";
import type { Screen, Span } from "../screen.ts";
import { oneLine } from "../text/clean.ts";
import { fitEnd, padEnd, widthOf } from "../text/width.ts";
import type { Attempt } from "./attempt.ts";
import type { Evidence } from "./evidence.ts";
import { effectsOf, shortId } from "./evidence.ts";
import type { ShownLine } from "./lines.ts";
import { showLines } from "./lines.ts";
import type { Stage } from "./stage.ts";
import type { PlannedKill } from "./story.ts";
import { kills, task } from "./story.ts";

/** The demo as people see it: at 80 columns, in the order in which it happens. */

const kindsWidth = 24;
/** Of one attempt, so many lines from its beginning and from its end are shown. */
const [linesFirst, linesLast] = [4, 4];

/** Says what is about to happen. */
export function reportStage(screen: Screen, stage: Stage): void {
  screen.line([
    "bold",
    `One task, ${kills.length} deaths. What runs, is killed and is found on disk is real; only the`,
  ]);
  screen.line(["bold", "model's words are recorded, so no key is needed."]);
  screen.line();
  fields(screen, [
    ["task", task],
    ["workspace", stage.workspace],
    ["witness", stage.witness],
  ]);
}

/** Says that a worker began. */
export function reportStart(screen: Screen, attempt: { number: number; pid: number; verb: string }): void {
  screen.line();
  const { number, pid, verb } = attempt;
  screen.line(["bold", `Attempt ${number}`], ["dim", `  holdfast ${verb}, process ${pid}`]);
}

/** Shows what a worker left on disk, and how it ended. */
export function reportAttempt(
  screen: Screen,
  attempt: Attempt,
  left: {
    readonly commits: readonly Commit[];
    readonly from: number;
    readonly kill: PlannedKill | undefined;
  },
): void {
  const lines = showLines(left.commits).slice(left.from);
  const leftOut = lines.length - linesFirst - linesLast;
  const isShort = leftOut <= 1;
  for (const line of isShort ? lines : lines.slice(0, linesFirst)) writeLine(screen, line);
  if (!isShort) screen.line(["dim", `        … ${leftOut} lines`]);
  for (const line of isShort ? [] : lines.slice(-linesLast)) writeLine(screen, line);
  if (attempt.killed) {
    screen.line(["bad", "  SIGKILL"], `, sent when ${left.kill?.moment ?? "it ran"}`);
    return;
  }
  const { code, signal } = attempt.exit;
  screen.line(code === 0 ? ["good", "  done"] : ["bad", `  ended by itself: ${signal ?? `exit ${code}`}`]);
  for (const complaint of code === 0 ? [] : attempt.complaints) screen.line(["dim", `    ${complaint}`]);
}

/** Shows how every effect came out, the witness, and which claims hold. */
export function reportEvidence(screen: Screen, evidence: Evidence): void {
  screen.line();
  screen.line(["bold", "Effects, and how their end is known"]);
  for (const { id, tool, subject, outcome, hasEffect, deaths, proof } of evidence.operations) {
    if (!hasEffect) continue;
    const word = outcome === "not_executed" ? "not run" : outcome;
    const name = `  ${shortId(id)}  ${padEnd(tool, 6)}  ${padEnd(word, 7)}  `;
    screen.line(name, ["dim", fitEnd(subject, screen.columns - name.length)]);
    if (proof === undefined) continue;
    const text = `${deaths === 1 ? "1 death" : `${deaths} deaths`}. ${proof}`;
    screen.line("           ", ["accent", fitEnd(text, screen.columns - 11)]);
  }
  screen.line();
  screen.line(["bold", "The witness, written by the commands themselves"]);
  for (const { deed, operation } of evidence.witness) screen.line(`  ${deed} ${operation}`);
  screen.line();
  screen.line(["bold", "Held against what is on disk"]);
  for (const { claim, holds, found } of evidence.checks) {
    screen.line(holds ? ["good", "  holds  "] : ["bad", "  FAILS  "], claim);
    if (!holds) screen.line("         ", ["bad", found]);
  }
}

/** The last lines: what it came to and how to look at it. */
export function reportEnd(
  screen: Screen,
  evidence: Evidence,
  session: { readonly look: string; readonly deaths: number },
): void {
  const failed = evidence.checks.filter(({ holds }) => !holds).length;
  const effects = effectsOf(evidence.operations).length;
  screen.line();
  const end: Span =
    failed === 0
      ? ["good", `${effects} effects, ${session.deaths} deaths: each effect happened exactly once.`]
      : ["bad", `${failed} of ${evidence.checks.length} claims do not hold.`];
  screen.line(end);
  screen.line("Look at what happened:");
  screen.line("  ", ["bold", session.look]);
}

function writeLine(screen: Screen, { seq, kinds, detail }: ShownLine): void {
  const head = `  ${String(seq).padStart(4)}  ${padEnd(kinds, kindsWidth)}  `;
  const shown = fitEnd(oneLine(detail), screen.columns - head.length);
  if (shown === "") screen.line(head.trimEnd());
  else screen.line(head, ["dim", shown]);
}

function fields(screen: Screen, rows: readonly (readonly [string, string])[]): void {
  for (const [name, value] of rows) {
    const head = `${padEnd(name, 9)}  `;
    wrap(value, screen.columns - head.length).forEach((line, index) => {
      screen.line(["dim", index === 0 ? head : " ".repeat(head.length)], line);
    });
  }
}

/** Breaks a text between words; a longer word stays whole. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = lines.length === 0 ? undefined : `${lines.at(-1)} ${word}`;
    if (longer === undefined || widthOf(longer) > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
