import type { ResumeCheck, ResumeExplanation } from "../../engine/index.ts";
import { explainResume } from "../../engine/index.ts";
import { errorTable } from "../../model/errors.ts";
import type { ResumePlan } from "../../model/resume-plan.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import { documentOf } from "../document.ts";
import type { Failure } from "../failure.ts";
import { hintLines, withProgram } from "../failure.ts";
import type { Screen } from "../screen.ts";
import { oneLine } from "../text/clean.ts";
import { withCommands } from "../text/queue.ts";
import { formatCount } from "../text/units.ts";
import { wrapText } from "../text/wrap.ts";
import { writeCommand, writeFields } from "./fields.ts";
import type { ResumeFlags, ResumeWords } from "./resume.ts";
import { acceptingCommand, hintOfAcceptance, resumeRequestOf } from "./resume.ts";

/**
 * `holdfast resume --explain`: every check of a resume with its result, and the command that works from here. Starts
 * nothing. Resolves to the exit code that the resume itself would end with where it would be refused.
 */
export async function resumeExplain(call: Call, selector: string, flags: ResumeFlags): Promise<number> {
  const context = engineOf(call);
  const request = await resumeRequestOf(call, context, { selector, flags });
  const found = withCommands(await explainResume(context, request), call.program);
  // Only the command line knows which flags gave the policy.
  const accepting = { next: acceptingCommand(call, { selector, flags }) };
  const explained = { ...found, ...(found.eligible && request.acceptPolicy === true && accepting) };
  const checks = explained.checks.map((check) => withHint(call, check, { selector, flags }));
  const first = checks.find(({ ok }) => !ok);
  if (call.form === "json") {
    const document = documentOf(call.kind, {
      data: { ...explained, checks },
      error: first && failureOf(first),
    });
    await call.outside.stdout.write(`${JSON.stringify(document)}\n`);
  } else {
    const screen = screenOf(call);
    writeExplanation(screen, { ...explained, checks });
    await screen.flushed();
  }
  return first?.error === undefined ? 0 : errorTable[first.error].exit;
}

function withHint(call: Call, check: ResumeCheck, words: ResumeWords): ResumeCheck {
  if (check.hint === undefined) return check;
  const hint = withProgram(check.hint, call.program);
  return { ...check, hint: check.error === "policy_drift" ? hintOfAcceptance(call, words, hint) : hint };
}

/** What a resume would say. */
function failureOf({ check, reason = "", hint, error = "internal" }: ResumeCheck): Failure {
  return {
    code: error,
    message: reason,
    ...(hint !== undefined && { hint }),
    ...(error === "not_resumable" && { reason: check }),
  };
}

/** What a check that is passed has found. */
const passedWords: Readonly<Record<ResumeCheck["check"], string>> = {
  exists: "the session is there",
  store: "the state directory may be written",
  archived: "it is not archived",
  active: "no process runs it",
  damaged: "its log is sound",
  direct: "it is a session of this program",
  "other-device": "it belongs to this device",
  "cwd-missing": "its directory is there",
  off: "its agent is switched on",
  unsupported: "its agent can resume",
  disabled: "its agent may resume",
  "missing-id": "its agent has what it resumes by",
  workspace: "the directory is the one that it was bound to",
  definition: "the definition is the recorded one",
  policy: "the policy is the recorded one",
  task: "the task fits",
  queue: "log and queue agree",
  model: "its model can be asked",
};

const nameColumns = 14;

function writeExplanation(screen: Screen, explained: ResumeExplanation): void {
  const { session, eligible, code, checks, plan, next } = explained;
  const verdict = eligible ? (["good", "can be resumed"] as const) : (["bad", `no(${code})`] as const);
  screen.line(["bold", session], "  ", verdict);
  for (const { check, ok, reason = "", hint } of checks) {
    const head = [
      ok ? (["good", "  ✓ "] as const) : (["bad", "  ✗ "] as const),
      check.padEnd(nameColumns),
    ] as const;
    if (ok) {
      screen.line(...head, ["dim", passedWords[check]]);
      continue;
    }
    const indent = " ".repeat(4 + nameColumns);
    wrapText(oneLine(reason), screen.columns - indent.length).forEach((line, index) => {
      screen.line(...(index === 0 ? head : [indent]), line);
    });
    for (const line of hintLines(screen.columns - indent.length, hint ?? ""))
      screen.line(indent, ["dim", line]);
  }
  const then = plan !== undefined && eligible ? planWords(plan) : undefined;
  if (then !== undefined || next !== undefined) screen.line();
  if (then !== undefined) writeFields(screen, [["then", then]]);
  if (next !== undefined) writeCommand(screen, "next", next);
}

/** What a resume does first. */
function planWords({ run, prove, unknown, deliver }: ResumePlan): string {
  const toProve = prove === 0 ? "" : `: ${formatCount(prove, "operation")} to prove first`;
  const toSay = `a person says what happened to ${formatCount(unknown, "operation")}`;
  const messages = `${formatCount(deliver, "message")} from the queue${deliver > 1 ? ", one after the other" : ""}`;
  const steps = [
    ...(unknown === 0 ? [] : [toSay]),
    ...(run === undefined ? [] : [`it finishes ${run}${toProve}`]),
    ...(deliver === 0 ? [] : [`it takes ${messages}`]),
  ];
  return steps.length === 0 ? "there is nothing to do but a next task" : steps.join("; then ");
}
