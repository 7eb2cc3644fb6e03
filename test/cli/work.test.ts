import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Call, OutputForm } from "../../src/cli/call.ts";
import { jsonlProgress } from "../../src/cli/progress/jsonl.ts";
import type { Work } from "../../src/cli/work.ts";
import { doWork } from "../../src/cli/work.ts";
import type { EngineContext } from "../../src/engine/index.ts";
import type { OutputStream } from "../../src/host/index.ts";
import { nodeHost, StreamError } from "../../src/host/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import { HoldfastError } from "../../src/model/errors.ts";
import { linesOf, Place } from "./program.ts";

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
    const interrupt = async (how: Work["start"]): Promise<{ code: number; stderr: string }> => {
      const [stdout, stderr] = [new Kept(), new Kept()];
      const host = { ...nodeHost(), clock: { ...nodeHost().clock, sleep: async () => undefined } };
      stdout.stall();
      const code = await new Promise<number>((exit) => {
        const onSignal = (interrupted: () => void) => {
          // When all that can go on has gone on.
          setTimeout(interrupted, 20);
          return () => undefined;
        };
        const outside = { host, stdout, stderr, mayColour: false, debug: false, onSignal, exit };
        const call = { outside, kind: "run", form: "jsonl", program: "holdfast" } as unknown as Call;
        void doWork(call, {} as EngineContext, { control, start: how });
      });
      return { code, stderr: stderr.text };
    };
    const over = await interrupt(async ({ observer }) => {
      await observer.commit(created);
      await observer.commit(ended);
      return { session, run, ending: "completed" };
    });
    expect(over).toEqual({ code: 0, stderr: "" });
    const failed = await interrupt(async ({ observer }) => {
      await observer.commit(created);
      throw full();
    });
    expect(failed.code).toBe(7);
    const going = await interrupt(async ({ observer }) => {
      await observer.commit(created);
      return await new Promise(() => undefined);
    });
    expect(going).toEqual({ code: 11, stderr: expect.stringContaining("interrupted; session") });
  });

  /** A run whose output nobody reads; it has more to say than a pipe holds, and many commands to run after that. */
  function startUnread(): {
    child: ReturnType<typeof spawn>;
    told: Promise<{ code: number | null; stderr: string }>;
  } {
    const model = place.cassette(
      { calls: [{ tool: "exec", args: { command: "head -c 2000000 /dev/zero | tr '\\0' x" } }] },
      ...Array.from({ length: 100 }, () => ({
        calls: [{ tool: "exec", args: { command: "echo ran >> ran.txt; sleep 0.1" } }],
      })),
      { text: "Done." },
    );
    const args = [place.program, "run", "--task", "x", "--model", model, "--allow-shell"];
    const child = spawn(process.execPath, args, {
      cwd: place.workspace,
      env: place.env(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stderr = "";
    child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const told = new Promise<{ code: number | null; stderr: string }>((done) =>
      child.on("exit", (code) => done({ code, stderr })),
    );
    return { child, told };
  }

  const ran = join(place.workspace, "ran.txt");
  const commandsRun = () => (existsSync(ran) ? readFileSync(ran, "utf8").trim().split("\n").length : 0);

  async function untilRun(count: number): Promise<void> {
    while (commandsRun() < count) await new Promise((done) => setTimeout(done, 20));
  }

  test("does not keep a process that is told to go, and no command begins after that", async () => {
    const { child, told } = startUnread();
    await untilRun(2);
    child.kill("SIGTERM");
    const before = commandsRun();
    const { code, stderr } = await told;
    expect(code).toBe(11);
    expect(stderr).toMatch(
      /^holdfast: interrupted; session ses_\w{26} is kept\n {2}Go on with: holdfast resume /,
    );
    // One whose start was under way when the signal came.
    expect(commandsRun()).toBeLessThanOrEqual(before + 1);
    child.stdout?.destroy();
  });

  test("is not waited for at all after a second signal", async () => {
    const before = commandsRun();
    const { child, told } = startUnread();
    await untilRun(before + 2);
    child.kill("SIGTERM");
    child.kill("SIGINT");
    expect(await told).toEqual({ code: 11, stderr: "" });
    child.stdout?.destroy();
  });
});
