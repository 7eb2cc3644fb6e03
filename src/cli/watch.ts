import type { Commit } from "../model/commit.ts";
import { isFact } from "../model/commit.ts";
import type { Message } from "../model/facts.ts";

/** What is remembered of the commits of the work, to say how it ended and how to go on. */
export class Watch {
  /** The session, or what selects it until it is known. */
  session: string | undefined;
  /** True once the session is known to exist, by its whole id. */
  isDurable = false;
  /** True once a line says how the last run ended: nothing that comes after it takes that back. */
  isOver = false;
  /** Why the run was suspended or ended, as its fact says. */
  reason: string | undefined;
  message: string | undefined;
  /** Who ended the run, as its fact says. */
  by: string | undefined;
  /** The task that a session which was there before is given, until it is seen in the conversation. */
  #task: string | undefined;

  constructor(work: { readonly session?: string; readonly task?: string }) {
    this.session = work.session;
    this.#task = work.session === undefined ? undefined : work.task?.toWellFormed();
  }

  begin(session: string): void {
    this.session = session;
    this.isDurable = true;
  }

  see(commit: Commit): void {
    this.begin(commit.ses);
    for (const fact of commit.facts) {
      if (isFact(fact, "run.created") || isFact(fact, "run.started")) {
        this.isOver = false;
        [this.reason, this.message, this.by] = [undefined, undefined, undefined];
      } else if (isFact(fact, "run.suspended")) {
        [this.reason, this.message] = [fact.reason, fact.message];
      } else if (isFact(fact, "run.ended")) {
        this.isOver = true;
        [this.reason, this.message, this.by] = [fact.reason, fact.message ?? fact.text, fact.by];
      } else if (isFact(fact, "message") && this.#isTask(fact)) this.#task = undefined;
    }
  }

  /** How to go on from here, as a sentence with a command of `program`. */
  wayOn(program: string): string {
    const resume = `${program} resume ${this.session}`;
    return this.#task === undefined
      ? `Go on with: ${resume}`
      : `Run the same command again; of what was begun nothing is done twice. Without the task: ${resume}`;
  }

  /** A long one stands in a blob, and is taken for it. */
  #isTask({ role, parts }: Message): boolean {
    return (
      role === "user" &&
      parts.some((part) => part.type === "text" && (part.blob !== undefined || part.text === this.#task))
    );
  }
}
