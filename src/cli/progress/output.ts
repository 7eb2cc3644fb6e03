import type { ApprovalQuestion, Observer, WorkReport } from "../../engine/index.ts";
import type { RunView } from "../../model/views.ts";

/** Characters of output that may wait for its reader; behind more than these the work waits too. */
export const durableWaitsMax = 1024 * 1024;

/** Who tells people or programs what happens while a session is worked on. */
export interface ProgressOutput {
  readonly observer: Observer;
  /** The session exists from now on. */
  begun(session: string): void;
  /** Says something beside what happens. */
  note(text: string): void;
  /** Shows what a person is asked; nothing else is shown until it is {@link ProgressOutput.answered}. */
  ask(question: ApprovalQuestion): void;
  /** The question is answered, by whomever, or nobody is asked any more. */
  answered(): void;
  /** Nothing live is shown any more: an error or a summary follows. */
  stop(): void;
  /** The work came to an orderly end. `run`: the run that it was about, where there is one. */
  ended(report: WorkReport, run: RunView | undefined): void;
  /** True where `ended` is told the run. */
  readonly needsRun: boolean;
  flushed(): Promise<void>;
}
