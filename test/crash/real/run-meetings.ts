import { createSession } from "../../../src/engine/index.ts";
import type { OperationState } from "../../../src/model/operation.ts";
import type { Mishap } from "../../peers/mishap.ts";
import type { RunStep } from "../../peers/run-worker.ts";
import { Finding, promised } from "../campaign/finding.ts";
import type { ChildEnd, ChildLine } from "./child.ts";
import type { Meeting, MeetingKind } from "./order-plan.ts";
import type { Room } from "./room.ts";
import { judgeRun, readRun } from "./run-judge.ts";
import { commands, oneCommand, Performance } from "./run-play.ts";

/** Who meets whom on a run, change by change: a worker that resumes, and a person's word from another process. */
export const runMeetings: readonly MeetingKind[] = [
  { scenario: "resume-and-cancel", changes: [90, 6], step: 14, prepare: prepareCancel },
  { scenario: "resume-and-approve", changes: [40, 6], step: 6, prepare: prepareApprove },
  { scenario: "resume-and-resolve", changes: [12, 12], step: 4, prepare: prepareResolve },
];

/** A meeting of a worker that resumes with somebody who does this step. */
function meetingOf(
  staged: Performance,
  step: RunStep,
  judge: (answer: ChildLine | undefined) => Promise<void>,
  resumes: Partial<RunStep & { do: "resume" }> = {},
): Meeting {
  const { home } = staged;
  const resume: RunStep = {
    do: "resume",
    request: { selector: home.session, acceptRollback: false },
    ...resumes,
  };
  return {
    first: (mishap: Mishap) => home.worker(resume, mishap),
    second: (mishap: Mishap) => home.worker(step, mishap),
    judge: async ([worker, person]) => {
      if (worker === undefined || person === undefined) return;
      home.note(worker);
      home.note(person);
      judgeRefusals(worker);
      await judge(person.lines.find((line) => "ended" in line || "refused" in line));
    },
    end: () => home.end(),
  };
}

/** A worker that meets another one is told that it is busy, and nothing else. */
function judgeRefusals({ lines }: ChildEnd): void {
  for (const { refused, message } of lines) {
    if (refused !== undefined && refused !== "busy") {
      throw new Finding("untyped", `a worker is told ${JSON.stringify(refused)}: ${String(message)}`);
    }
  }
}

/** What a person may be told instead of being heard. */
function judgeAnswer(answer: ChildLine | undefined, may: readonly string[]): boolean {
  if (answer === undefined || "ended" in answer) return answer !== undefined;
  promised(
    may.includes(String(answer["refused"])),
    "untyped",
    () => `a person is told ${String(answer["refused"])}: ${String(answer["message"])}`,
  );
  return false;
}

async function prepareCancel(room: Room): Promise<Meeting> {
  const staged = new Performance(room, commands);
  const { home } = staged;
  const session = await createSession(await home.engine(), home.task(staged.model));
  return meetingOf(staged, { do: "cancel", request: { session } }, async (answer) => {
    // Before there is a run there is none to cancel.
    const isHeard = judgeAnswer(answer, ["usage", "not_found", "busy"]);
    for (let rounds = 0; rounds < 2; rounds++) await home.goOn();
    const { state } = await judgeRun(home);
    const runs = [...state.runs.values()].map(({ at }) => at).join();
    promised(["completed", "canceled"].includes(runs), "stuck", () => `its runs are ${runs}`);
    const told = (answer?.["ended"] as { status?: string } | undefined)?.status;
    if (isHeard && told !== undefined && ["completed", "canceled"].includes(told)) {
      promised(runs === told, "lost", () => `a person was told ${told}, and it is ${runs}`);
    }
  });
}

async function prepareApprove(room: Room): Promise<Meeting> {
  const staged = new Performance(room, oneCommand);
  const { home } = staged;
  const policy = { allowShell: true, approvals: { exec: "ask" as const } };
  await createSession(await home.engine(), home.task(staged.model, { policy }));
  const waits = { approvals: { kind: "wait" as const, forMs: 3000 } };
  const request = { selector: home.session, acceptRollback: false };
  const asker = await home.worker({ do: "resume", request, ...waits });
  const asked = (line: ChildLine): boolean => JSON.stringify(line).includes('"approval.asked"');
  if ((await asker.line(asked)) === undefined) throw new Finding("stuck", "nobody is asked");
  home.note(await asker.kill());
  const operation = await onlyOperation(staged);
  const word = { session: home.session, run: operation.run, operation: operation.operation };
  const step: RunStep = { do: "approve", request: { ...word, decision: "allow", remember: false } };
  return meetingOf(
    staged,
    step,
    async (answer) => {
      // It was denied for want of an answer.
      const isHeard = judgeAnswer(answer, ["busy", "usage", "already_resolved"]);
      await staged.finish();
      const found = await onlyOperation(staged);
      const decided = found.approval?.decided?.decision;
      if (isHeard) promised(decided === "allow", "lost", () => `a person allowed it, and it is ${decided}`);
    },
    waits,
  );
}

async function prepareResolve(room: Room): Promise<Meeting> {
  const staged = new Performance(room, oneCommand);
  const { home } = staged;
  // Killed when the command is claimed and its end is not on record.
  home.supervisorMishap = { is: "die", at: 13, file: `${home.folder}/supervisor-died` };
  await staged.live();
  home.supervisorMishap = undefined;
  const operation = await onlyOperation(staged);
  promised(operation.at === "unknown", "other", () => `it is ${operation.at}, and nothing is to be resolved`);
  const word = { session: home.session, run: operation.run, operation: operation.operation };
  const happened = home.times("one") === 1;
  const resolution = happened
    ? { ...word, outcome: "ok" as const, output: "It did happen." }
    : { ...word, outcome: "not_executed" as const };
  return meetingOf(staged, { do: "resolve", resolution }, async (answer) => {
    const isHeard = judgeAnswer(answer, ["busy"]);
    if (isHeard) {
      const { at } = await onlyOperation(staged);
      promised(at === "known" || at === "settled", "lost", () => `a person resolved it, and it is ${at}`);
    }
    await staged.finish();
  });
}

async function onlyOperation({ home }: Performance): Promise<OperationState> {
  const { state } = await readRun(await home.engine(), home.session);
  const [operation] = state.operations.values();
  if (operation === undefined) throw new Finding("lost", "there is no operation");
  return operation;
}
