import { isCancel, select, settings } from "@clack/prompts";
import type { ApprovalAnswer } from "../engine/index.ts";
import type { Keys } from "../host/index.ts";

/** The question to a person at the terminal. A file of its own, so that its package is loaded where somebody is asked. */

/** What came of it: an answer, Ctrl-C, or nothing since `signal` was aborted. */
export type Choice = ApprovalAnswer | "interrupted" | "aborted";

/** Asks; `keys` are what is typed, and the choices stand below all that was written. */
export async function choose(capability: string, keys: Keys, signal: AbortSignal): Promise<Choice> {
  if (signal.aborted) return "aborted";
  // A stray Escape is no answer.
  settings.aliases.delete("escape");
  // A signal of its own: one that is aborted after the answer would have it end a second time.
  const asking = new AbortController();
  const abort = (): void => asking.abort();
  signal.addEventListener("abort", abort);
  try {
    const answer = await select<ApprovalAnswer>({
      message: "May it start?",
      options: [
        { value: { decision: "allow", remember: false }, label: "Yes, once" },
        {
          value: { decision: "allow", remember: true },
          label: `Yes, and each ${capability} of this session`,
        },
        { value: { decision: "deny", remember: false }, label: "No" },
        { value: { decision: "deny", remember: true }, label: `No, and no ${capability} of this session` },
      ],
      showInstructions: false,
      withGuide: false,
      input: keys.stream,
      signal: asking.signal,
    });
    if (!isCancel(answer)) return answer;
    return asking.signal.aborted ? "aborted" : "interrupted";
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
