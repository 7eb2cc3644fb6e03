import type { ApprovalAnswer, ApprovalMode, ApprovalQuestion } from "../engine/index.ts";
import type { Choice } from "./choose.ts";
import type { ApprovalChoice } from "./control.ts";
import type { Departure } from "./departure.ts";
import type { Outside } from "./outside.ts";
import type { ProgressOutput } from "./progress/output.ts";
import { oneLine } from "./text/clean.ts";

/** How a person at the terminal is asked whether an operation may start. */

/** What it takes to ask. */
export interface Asking {
  readonly outside: Outside;
  readonly output: ProgressOutput;
  readonly departure: Departure;
}

/** The mode that a choice means. */
export function approvalMode(choice: ApprovalChoice, asking: Asking): ApprovalMode {
  if (choice.kind === "wait") return choice;
  if (choice.kind === "deny") return { kind: "deny" };
  return { kind: "prompt", ask: (question, signal) => ask(asking, question, signal) };
}

/** Resolves to the answer; to undefined once `signal` is aborted, or where Ctrl-C was the answer. */
async function ask(
  { outside, output, departure }: Asking,
  question: ApprovalQuestion,
  signal: AbortSignal,
): Promise<ApprovalAnswer | undefined> {
  output.ask(question);
  try {
    // The question stands there before anybody is waited for; an output that fails is told of at the end.
    await Promise.allSettled([output.flushed()]);
    const choice = await chooseByKeys(outside, oneLine(question.capability), signal);
    if (choice === "interrupted") departure.interrupt();
    return typeof choice === "string" ? undefined : choice;
  } finally {
    output.answered();
  }
}

async function chooseByKeys(outside: Outside, capability: string, signal: AbortSignal): Promise<Choice> {
  const { choose } = await import("./choose.ts");
  const keys = await outside.openKeys();
  try {
    return await choose(capability, keys, signal);
  } finally {
    keys.close();
  }
}
