import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { commandsIn, runHint } from "./hints.ts";
import { documentIn, linesOf, Place, sessionIn } from "./program.ts";

const place = new Place();
afterAll(() => place.remove());

const refused = { error: { status: 401, message: "bad key" } };
const fails = { calls: [{ tool: "read", args: { path: "none" } }] };

async function data(args: readonly string[], where = place) {
  return documentIn((await where.call([...args, "--json"])).stdout).data;
}

/** What people said in the conversation, in order. */
async function tasksOf(session: string, where = place): Promise<string[]> {
  const { messages } = await data(["session", "show", session], where);
  return messages
    .filter(({ role }: { role: string }) => role === "user")
    .flatMap(({ parts }: { parts: { type: string; text?: string }[] }) =>
      parts.flatMap(({ type, text }) => (type === "text" ? (text ?? "a blob") : [])),
    );
}

const wide = (text: string): string[] => text.split("\n").filter((line) => line.length > 80);

describe("messages that are sent in a loop, while runs end and the session is resumed", () => {
  test("are all delivered, each once, in the order in which they were sent", async () => {
    const here = new Place();
    try {
      const count = 12;
      const turns = Array.from({ length: count + 1 }, (_, index) => ({
        text: String(index),
        perTokenMs: 40,
      }));
      const begun = here.start(["run", "--task", "Task 0", "--model", here.cassette(...turns)]);
      const session = sessionIn(await begun.seen(/ses_[0-9a-z]{26}/));
      let isOver = false;
      const going = (async () => {
        await begun.ended;
        const codes: (number | null)[] = [];
        while (!isOver) codes.push((await here.call(["resume", session])).code);
        return codes;
      })();
      const sent: { delivery: string; live: boolean; next?: string }[] = [];
      for (let index = 1; index <= count; index++)
        sent.push(await data(["send", session, `Task ${index}`], here));
      isOver = true;
      const codes = await going;
      // Whoever was told of a process had his message taken by it; for the others one resume is enough.
      while (documentIn((await here.call(["resume", session, "--json"])).stdout).data.idle !== true) continue;
      expect(codes.filter((code) => code !== 0)).toEqual([]);
      expect(await tasksOf(session, here)).toEqual(
        Array.from({ length: count + 1 }, (_, index) => `Task ${index}`),
      );
      const { deliveries } = await data(["queue", "list", session, "--all"], here);
      expect(deliveries.map(({ id, state }: { id: string; state: string }) => [id, state]).slice(1)).toEqual(
        sent.map(({ delivery }) => [delivery, "acknowledged"]),
      );
    } finally {
      here.remove();
    }
  }, 120_000);
});

describe("send", () => {
  test("leaves a message that is shown where it is taken, behind how the run before it ended", async () => {
    const here = new Place();
    try {
      const gate = join(here.folder, "gate");
      const waits = {
        calls: [{ tool: "exec", args: { command: `until [ -e ${gate} ]; do sleep 0.05; done` } }],
      };
      const model = here.cassette(waits, { text: "One." }, { text: "Two." });
      const flags = ["--model", model, "--allow-shell", "--format", "text"];
      const running = here.start(["run", "--task", "The first", ...flags]);
      const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
      await here.call(["send", session, "The second"]);
      writeFileSync(gate, "");
      const { code, stdout } = await running.ended;
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /One\.\n\ncompleted {2}run_[0-9a-z]{26}; the next message:\n\nThe second\n\nTwo\.\n\ncompleted {2}1 turn/,
      );
      expect(stdout).not.toContain("The first");
    } finally {
      here.remove();
    }
  });

  test("takes its text from a word, a flag, a file or standard input", async () => {
    const session = await place.completed();
    const file = join(place.folder, "message.md");
    writeFileSync(file, "from a file\n");
    const ways: [string[], string?][] = [
      [["from a word"]],
      [["--task", "from a flag"]],
      [["--task-file", file]],
      [["--stdin"], "from a pipe"],
      [["--", "--from behind dashes"]],
    ];
    for (const [words, stdin] of ways) {
      const ended = await place.call(["send", session, ...words], stdin === undefined ? {} : { stdin });
      expect([words, ended.code, ended.stderr]).toEqual([words, 0, ""]);
    }
    const { deliveries } = await data(["queue", "list", session]);
    expect(deliveries.map(({ text }: { text: string }) => text)).toEqual([
      "from a word",
      "from a flag",
      "from a file\n",
      "from a pipe",
      "--from behind dashes",
    ]);
  });

  test("says the delivery, why it waits and which command has it taken; that command does", async () => {
    const model = place.cassette(fails, { text: "1" }, refused, { text: "2" });
    const first = await place.call(["run", "--task", "x", "--model", model]);
    expect(first.code).toBe(0);
    const session = sessionIn(first.stdout);
    const sent = await place.call(["send", session, "Next."]);
    expect(wide(sent.stdout)).toEqual([]);
    expect(sent.stdout).toMatch(/^ {2}delivery {2}dlv_[0-9a-z]{26}\n/);
    expect(sent.stdout).toContain("waits: nobody runs the session");
    expect((await runHint(place, sent.stdout)).code).toBe(10);
    // The run is suspended: what comes behind it says so, wherever it is looked for.
    const held = { reason: "suspended", next: `holdfast resume ${session}` };
    const behind = await data(["send", session, "Last."]);
    expect(behind).toMatchObject({ state: "admitted", live: false, held, next: held.next });
    expect((await data(["session", "show", session])).queue).toMatchObject({ waiting: 1, held });
    const list = await data(["queue", "list", session]);
    expect(list).toMatchObject({ deliveries: [{ text: "Last." }], held });
    const page = await place.call(["session", "show", session]);
    expect(page.stdout).toMatch(/\n {2}queue +1 message waits: the run is suspended \(provider\)\n/);
    expect((await runHint(place, held.next)).code).toBe(1);
    expect(await tasksOf(session)).toEqual(["x", "Next.", "Last."]);
  });

  test("behind a run that is canceled waits for a resume, as whoever cancels it is told", async () => {
    const model = place.cassette(
      { text: "So slowly that it is met at work.", perTokenMs: 3000 },
      { text: "2" },
    );
    const running = place.start(["run", "--task", "x", "--model", model]);
    const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
    await running.seen(/"type":"live\.text"/);
    expect(await data(["send", session, "Next."])).toMatchObject({ live: true, underWay: true });
    const canceled = await place.call(["run", "cancel", session]);
    expect((await running.ended).code).toBe(4);
    expect(canceled.stdout).toContain("1 message waits: the run was canceled");
    expect(await data(["queue", "list", session])).toMatchObject({
      live: false,
      held: { reason: "canceled" },
    });
    expect((await runHint(place, canceled.stdout)).code).toBe(0);
    expect(await tasksOf(session)).toEqual(["x", "Next."]);
  });

  test("keeps the state directory that it was given in the commands that it names", async () => {
    const session = await place.completed();
    const elsewhere = { env: { HOLDFAST_STATE_DIR: `${place.folder}/other` } };
    const sent = await place.call(["--state-dir", place.state, "send", session, "Next."], elsewhere);
    const [command = ""] = commandsIn(sent.stdout);
    expect(command).toBe(`holdfast --state-dir ${place.state} resume ${session}`);
    expect((await runHint(place, sent.stdout)).code).toBe(1);
  });

  test("with a key that another text has is refused, and the command that it names shows that text", async () => {
    const session = await place.completed();
    await place.call(["send", session, "This one.", "--key", "k"]);
    const other = await place.call(["send", session, "That one.", "--key", "k", "--json"]);
    const { error } = documentIn(other.stdout);
    expect([other.code, error?.code]).toEqual([8, "message_id_conflict"]);
    expect((await runHint(place, error?.hint ?? "")).stdout).toContain("This one.");
  });
});

describe("work that leaves messages behind", () => {
  /** A session whose run fails while a message waits behind it. */
  async function failing(form: readonly string[]) {
    const model = place.cassette(refused, fails);
    const first = await place.call(["run", "--task", "x", "--model", model]);
    const session = sessionIn(first.stdout);
    await place.call(["send", session, "Next."]);
    return { session, ended: await place.call(["resume", session, ...form]) };
  }

  test("says in its summary and its document that they wait and why", async () => {
    const { session, ended } = await failing(["--format", "text"]);
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(/\nqueue +1 message waits: the run failed \(cassette_exhausted\)\n/);
    expect(wide(ended.stdout)).toEqual([]);
    const json = await failing(["--json"]);
    expect(documentIn(json.ended.stdout).data.queue).toMatchObject({
      waiting: 1,
      held: { reason: "failed", next: `holdfast resume ${json.session}` },
    });
    // The page offers what waits before another task.
    const { stdout } = await place.call(["session", "show", session]);
    expect(stdout).toMatch(/\n {2}queue +1 message waits: the run failed/);
  });

  test("says of one that cannot be delivered that it is blocked, and why, in every form", async () => {
    for (const [form, find] of [
      [["--format", "text"], (text: string) => text],
      [["--json"], (text: string) => JSON.stringify(documentIn(text).data.queue.blocked)],
    ] as const) {
      const session = await place.completed("x", { text: "1" }, { text: "2" });
      await place.call(["send", session, "long ".repeat(9000)]);
      const { deliveries } = await data(["queue", "list", session]);
      const { blob } = deliveries[0];
      writeFileSync(join(place.state, "sessions", session, "blobs", blob.sha256), "other bytes");
      const ended = await place.call(["resume", session, ...form]);
      expect(ended.code).toBe(0);
      expect(find(ended.stdout)).toContain("its text cannot be read");
      const again = await place.call(["resume", session]);
      expect([again.code, linesOf(again.stdout).length]).toEqual([0, 1]);
      expect(again.stderr).toMatch(
        /nothing to do in session \S+; 1 message is blocked: its text cannot be read/,
      );
      const page = await place.call(["queue", "list", session]);
      expect(page.stdout).toMatch(/blocked[^]*dlv_[0-9a-z]{26}: its text cannot be read/);
    }
  });
});

describe("queue list", () => {
  test("fits 80 columns, and says what leads on", async () => {
    const session = await place.completed();
    for (const text of ["Short.", `A rather long one ${"that goes on ".repeat(20)}`, "Two\nlines\u001b[31m."])
      await place.call(["send", session, text]);
    const { stdout, code } = await place.call(["queue", "list", session]);
    expect([code, wide(stdout)]).toEqual([0, []]);
    expect(stdout).toMatch(/^ID +SENT +FROM +STATE +TEXT\n/);
    expect(stdout).toContain("Two lines");
    expect(stdout).not.toContain("\u001b");
    expect(commandsIn(stdout)).toEqual([`holdfast resume ${session}`]);
    const none = await place.completed();
    expect((await place.call(["queue", "list", none])).stdout).toBe(
      `No message waits for session ${none}.\n`,
    );
    expect((await data(["queue", "list", none, "--all"])).deliveries).toMatchObject([
      { text: "A task", state: "acknowledged", source: "user" },
    ]);
  });

  test("of a damaged queue is 7, and what it holds of the session can still be shown", async () => {
    const session = await place.completed();
    const path = join(place.state, "sessions", session, "queue.jsonl");
    writeFileSync(path, readFileSync(path, "utf8").replace(/\d/, "x"));
    const ended = await place.call(["queue", "list", session, "--json"]);
    const { error } = documentIn(ended.stdout);
    expect([ended.code, error?.code]).toEqual([7, "queue_damaged"]);
    const sent = await place.call(["send", session, "x", "--json"]);
    expect([sent.code, documentIn(sent.stdout).error?.code]).toEqual([7, "queue_damaged"]);
    const shown = await runHint(place, error?.hint ?? "");
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(/queue +damaged: /)]);
  });

  test("works where nothing can be written", async (context) => {
    const here = new Place();
    const state = join(here.folder, "mounted");
    mkdirSync(state, { mode: 0o700 });
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", state], { stdio: "ignore" });
    } catch {
      here.remove();
      return context.skip("a file system cannot be mounted here");
    }
    try {
      const env = { HOLDFAST_STATE_DIR: state };
      const model = here.cassette({ text: "1" });
      const session = sessionIn((await here.call(["run", "--task", "x", "--model", model], { env })).stdout);
      await here.call(["send", session, "Next."], { env });
      execFileSync("mount", ["-o", "remount,ro", state]);
      const listed = await here.call(["queue", "list", session, "--json"], { env });
      expect(documentIn(listed.stdout).data.deliveries).toMatchObject([{ text: "Next.", state: "admitted" }]);
      const explained = await here.call(["resume", session, "--explain", "--json"], { env });
      expect([explained.code, documentIn(explained.stdout).data.eligible]).toEqual([0, true]);
      const sent = await here.call(["send", session, "x", "--json"], { env });
      expect([sent.code, documentIn(sent.stdout).error?.code]).toEqual([7, "io_error"]);
    } finally {
      execFileSync("umount", ["-l", state]);
      here.remove();
    }
  });
});
