import { afterAll, describe, expect, test } from "vitest";
import type { Call, OutputForm } from "../../src/cli/call.ts";
import type { EndSignal } from "../../src/cli/index.ts";
import { jsonlProgress } from "../../src/cli/progress/jsonl.ts";
import type { Work } from "../../src/cli/work.ts";
import { doWork } from "../../src/cli/work.ts";
import type { EngineContext } from "../../src/engine/index.ts";
import { runTask } from "../../src/engine/index.ts";
import type { Clock, OutputStream } from "../../src/host/index.ts";
import { nodeHost, StreamError } from "../../src/host/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import { HoldfastError } from "../../src/model/errors.ts";
import { engineOn } from "./asking.ts";
import { runHint } from "./hints.ts";
import { documentIn, linesOf, Place } from "./program.ts";

const place = new Place();
afterAll(() => place.remove());

const session = "ses_01m8przqmpfx81qrqzwwv0wwr3";
const run = "run_01m8przqp1kgz3y78sm52xd798";

function commitOf(seq: number, ...facts: Commit["facts"]): Commit {
  return { seq, at: 1000 + seq, epoch: 1, ses: session, facts } as unknown as Commit;
}

const created = commitOf(0, { kind: "run.created", run, message: "msg_x" } as never);
const ended = commitOf(1, {
  kind: "run.ended",
  run,
  status: "completed",
  text: "Done.",
  usage: {},
  turns: 1,
  elapsedMs: 5,
});

/** A stream that keeps what it is given, once it is let. */
class Kept implements OutputStream {
  readonly isTerminal = false;
  readonly columns = 80;
  text = "";
  #gate: Promise<void> = Promise.resolve();

  /** From now on nothing is taken; returns how to go on. */
  stall(): () => void {
    let open = (): void => undefined;
    this.#gate = new Promise((resolve) => (open = resolve));
    return open;
  }

  async write(text: string): Promise<void> {
    await this.#gate;
    this.text += text;
  }
}

type Told = Omit<Work, "control">;
const control: Work["control"] = { approvals: { kind: "deny" } };

/** Work that is only told of: what the command line makes of it. */
async function tell(form: OutputForm, work: Told): Promise<{ code: number; stdout: string; stderr: string }> {
  const [stdout, stderr] = [new Kept(), new Kept()];
  const host = nodeHost();
  const outside = { host, stdout, stderr, mayColour: false, debug: false, onSignal: () => () => undefined };
  const call = { outside, kind: "run", form, program: "holdfast --state-dir here" } as unknown as Call;
  const code = await doWork(call, {} as EngineContext, { ...work, control });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

const wayOn = `holdfast --state-dir here resume ${session}`;
const full = () =>
  new HoldfastError("disk_full", "no space left", {
    hint: "Free some space and run the same command again.",
  });

describe("what went wrong after a session exists", () => {
  test("never advises to run again what would make another session", async () => {
    const told = await tell("jsonl", {
      start: async ({ observer, begun }) => {
        begun(session);
        await observer.commit(created);
        throw full();
      },
    });
    expect(told.code).toBe(7);
    expect(linesOf(told.stdout).at(-1)).toMatchObject({
      type: "error",
      code: "disk_full",
      hint: `Free some space. Go on with: ${wayOn}`,
    });
    const before = await tell("jsonl", { start: () => Promise.reject(full()) });
    expect(before.stderr).toContain("run the same command again");
  });

  test("keeps the way out that is particular to it", async () => {
    const hint = `Write it anew: holdfast session repair ${session}`;
    const told = await tell("text", {
      start: async ({ begun }) => {
        begun(session);
        throw new HoldfastError("durability_unknown", "unknown", { hint });
      },
    });
    expect(told.stderr).toContain(`holdfast --state-dir here session repair ${session}`);
  });

  test("of a further task says how to give it again, until it is part of the conversation", async () => {
    const message = { kind: "message", id: "msg_x", role: "user", parts: [{ type: "text", text: "Next" }] };
    const given = (...commits: Commit[]): Told => ({
      session,
      task: "Next",
      start: async ({ observer }) => {
        for (const commit of commits) await observer.commit(commit);
        throw full();
      },
    });
    const lost = await tell("text", given(commitOf(1, { kind: "epoch.raised" } as never)));
    expect(lost.stderr).toContain("Free some space. Run the same command again");
    const kept = await tell("text", given(commitOf(1, message as never)));
    expect(kept.stderr).toMatch(/^holdfast: no space left\n {2}Free some space\. Go on with:\n/);
    expect(kept.stderr.split("\n").at(-2)?.trim()).toBe(wayOn);
  });
});

describe("JSON Lines", () => {
  test("end with the run's end, whatever fails after it", async () => {
    const work = (...commits: Commit[]): Told => ({
      start: async ({ observer, begun }) => {
        begun(session);
        for (const commit of commits) await observer.commit(commit);
        throw new HoldfastError("busy", "the queue is being written");
      },
    });
    const over = await tell("jsonl", work(created, ended));
    expect(linesOf(over.stdout).at(-1)).toMatchObject({ type: "run.ended", status: "completed" });
    expect(over.stderr).toContain("holdfast: the queue is being written");
    // A run that has begun after it ends otherwise.
    const next = await tell("jsonl", work(created, ended, created));
    expect(linesOf(next.stdout).at(-1)).toMatchObject({ type: "error", code: "busy" });
  });

  test("say why a session is not resumable", async () => {
    const told = await tell("jsonl", {
      session,
      start: () =>
        Promise.reject(new HoldfastError("not_resumable", "it is archived", { reason: "archived" })),
    });
    expect(linesOf(told.stdout)).toMatchObject([
      { type: "error", code: "not_resumable", reason: "archived" },
    ]);
    expect(told.code).toBe(9);
  });

  test("leave out what is transient behind a slow reader, and let the work wait with what is durable", async () => {
    const stream = new Kept();
    const goOn = stream.stall();
    const output = jsonlProgress(stream);
    const { observer } = output;
    const piece = "x".repeat(1000);
    for (let count = 0; count < 10_000; count++) {
      observer.live({ type: "live.text", run, text: piece });
    }
    const commits = Array.from({ length: 30 }, (_, index) =>
      commitOf(index, { kind: "model.failed", message: "y".repeat(50_000) } as never),
    );
    let taken = 0;
    const working = (async () => {
      for (const commit of commits) {
        await observer.commit(commit);
        taken++;
      }
    })();
    // Whatever can go on without the reader has gone on when a timer fires.
    await new Promise((done) => setTimeout(done, 20));
    expect(taken).toBeGreaterThan(5);
    expect(taken).toBeLessThan(commits.length);
    goOn();
    await working;
    await output.flushed();
    const lines = linesOf(stream.text);
    expect(lines.filter(({ type }) => type === "live.text").length).toBeLessThan(300);
    expect(lines.filter((line) => "seq" in line).map(({ seq }) => seq)).toEqual(
      commits.map(({ seq }) => seq),
    );
  });

  test("of an output that failed nothing is kept, and nobody waits for it", async () => {
    const failing = {
      isTerminal: false,
      columns: 80,
      write: () => Promise.reject(new StreamError("ENOSPC", undefined)),
    };
    const output = jsonlProgress(failing);
    for (let seq = 0; seq < 50; seq++) {
      await output.observer.commit(
        commitOf(seq, { kind: "model.failed", message: "y".repeat(50_000) } as never),
      );
    }
    await expect(output.flushed()).rejects.toThrow("the output cannot be written: ENOSPC");
  });
});

describe("a reader that stopped reading", () => {
  test("does not make a run that is over an interrupted one, nor a failure another one", async () => {
    const over = await unread(["SIGTERM"], async ({ observer }) => {
      await observer.commit(created);
      await observer.commit(ended);
      return { session, run, ending: "completed" };
    });
    expect(over).toEqual({ code: 0, stderr: "" });
    const failed = await unread(["SIGTERM"], async ({ observer }) => {
      await observer.commit(created);
      throw full();
    });
    expect(failed.code).toBe(7);
  });

  test("does not keep who leaves, nor his last words to people", async () => {
    const going: Work["start"] = async ({ observer }) => {
      await observer.commit(created);
      return await new Promise(() => undefined);
    };
    expect(await unread(["SIGINT", "SIGINT"], going)).toEqual({
      code: 11,
      stderr: expect.stringContaining(`holdfast: interrupted; session ${session} is kept`),
    });
    expect(await unread(["SIGTERM", "SIGTERM", "SIGINT", "SIGINT"], going)).toMatchObject({ code: 11 });
  });
});

describe("work that a signal stops", () => {
  /** A run of the real engine, to which signals come as soon as its session exists. */
  async function stoppedAtOnce(sent: readonly EndSignal[], form: OutputForm, streams: Partial<Streams> = {}) {
    const signals = new Signals();
    const context = engineOn(place);
    const task = { workspace: place.workspace, agent: "builtin", policy: {}, task: "Go" };
    const model = place.cassette({ text: "Done." });
    let made = "";
    const start: Work["start"] = ({ observer, control: stops, begun }) =>
      runTask(context, { ...task, model, ...stops }, observer, (id) => {
        made = id;
        begun(id);
        for (const signal of sent) signals.send(signal);
      });
    const told = await under(signals, start, { form, context, ...streams });
    return { ...told, made };
  }

  test("before it began is suspended, and its task waits", async () => {
    const message = "suspended before the run began; its task waits";
    for (const form of ["jsonl", "json", "text"] as const) {
      const { code, stdout, stderr, made } = await stoppedAtOnce(["SIGTERM"], form);
      const hint = `Go on with: holdfast resume ${made}`;
      const error = { code: "suspended", message, hint };
      expect(code).toBe(11);
      if (form === "json") expect(documentIn(stdout)).toMatchObject({ ok: false, error });
      else expect(stderr).toBe(`holdfast: ${message}\n  ${hint}\n`);
      if (form === "jsonl") expect(linesOf(stdout).at(-1)).toMatchObject({ type: "error", ...error });
      const { data } = documentIn((await place.call(["run", "list", made, "--json"])).stdout);
      expect(data.runs).toEqual([]);
      const again = await runHint(place, hint);
      expect([again.code, linesOf(again.stdout).at(-1)?.["status"]]).toEqual([0, "completed"]);
    }
  });

  test("is canceled by a Ctrl-C that comes twice at once, and not left: npm passes on what its child has got", async () => {
    const { code, stdout } = await stoppedAtOnce(["SIGINT", "SIGINT"], "jsonl");
    expect([code, linesOf(stdout).at(-1)?.["status"]]).toEqual([4, "canceled"]);
  });

  test("ends with the code of its ending, also where the terminal is gone and takes nothing", async () => {
    const gone: OutputStream = {
      isTerminal: true,
      columns: 80,
      write: () => Promise.reject(new StreamError("EIO", undefined)),
    };
    for (const form of ["jsonl", "json", "text"] as const) {
      const told = await stoppedAtOnce(["SIGINT"], form, { stdout: gone, stderr: gone });
      expect(told.code).toBe(4);
      const { data } = documentIn((await place.call(["run", "show", told.made, "--json"])).stdout);
      expect(data.status).toBe("canceled");
    }
  });
});

/** Signals by hand. */
class Signals {
  #told: (signal: EndSignal) => void = () => undefined;

  readonly listen = (told: (signal: EndSignal) => void): (() => void) => {
    this.#told = told;
    return () => undefined;
  };

  send(signal: EndSignal): void {
    this.#told(signal);
  }
}

interface Streams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

/** A clock of which each look is a second later, and no wait takes any time. */
function hastyClock(): Clock {
  let nowMs = 0;
  return { ...nodeHost().clock, sleep: async () => undefined, monotonicMs: () => (nowMs += 1000) };
}

/** Work under signals. */
async function under(
  signals: Signals,
  start: Work["start"],
  about: Partial<Streams> & {
    readonly form: OutputForm;
    readonly context?: EngineContext;
    readonly clock?: Clock;
  },
): Promise<{ code: number; stdout: string; stderr: string }> {
  const kept = { stdout: new Kept(), stderr: new Kept() };
  const { form, context = {} as EngineContext, stdout = kept.stdout, stderr = kept.stderr } = about;
  const { clock = nodeHost().clock } = about;
  const code = await new Promise<number>((exit) => {
    const host = { ...nodeHost(), clock };
    const outside = { host, stdout, stderr, mayColour: false, debug: false, onSignal: signals.listen, exit };
    const call = { outside, kind: "run", form, program: "holdfast" } as unknown as Call;
    void doWork(call, context, { control, start }).then(exit);
  });
  return { code, stdout: kept.stdout.text, stderr: kept.stderr.text };
}

/** Signals to work whose output nobody takes, each when all that can go on has gone on. */
async function unread(
  list: readonly EndSignal[],
  start: Work["start"],
): Promise<{ code: number; stderr: string }> {
  const signals = new Signals();
  const stdout = new Kept();
  stdout.stall();
  list.forEach((signal, index) => setTimeout(() => signals.send(signal), 20 * (index + 1)));
  const { code, stderr } = await under(signals, start, { form: "jsonl", stdout, clock: hastyClock() });
  return { code, stderr };
}
