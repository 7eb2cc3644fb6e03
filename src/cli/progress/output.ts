import type { ApprovalQuestion, Observer, WorkReport } from "../../engine/index.ts";
import type { QueueOutlook } from "../../model/queue-hold.ts";
import type { RunView } from "../../model/views.ts";

/** Characters of output that may wait for its reader; behind more than these the work waits too. */
export const durableWaitsMax = 1024 * 1024;

/** What work leaves behind. */
export interface LeftBehind {
  /** The run that it was about, or the newest one; absent where there is none. */
  readonly run: RunView | undefined;
  readonly queue: QueueOutlook;
}

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
  /** The work came to an orderly end. `left`: what it leaves behind, where that is asked for. */
  ended(report: WorkReport, left: LeftBehind | undefined): void;
  /** True where `ended` is told what is left. */
  readonly needsLeft: boolean;
  flushed(): Promise<void>;
}
