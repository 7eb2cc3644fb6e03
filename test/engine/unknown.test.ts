import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { findRun, readSession, resolveOperation, type Resolution } from "../../src/engine/index.ts";
import type { OperationView } from "../../src/model/views.ts";
import { environmentOf, wires } from "../agents/wire.ts";
import type { EngineWorkerLine } from "../peers/engine-worker.ts";
import { startModelServer } from "../peers/model-server.ts";
import { examine, expectKept, expectSettledOnce, factsOf } from "./examine.ts";
import { Home, list, type WorkerProcess } from "./home.ts";
import { useHomes } from "./use-homes.ts";

const { newHome, servers } = useHomes();

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    if (tries > 1000) throw new Error("it never came to be");
    await sleep(20);
  }
}

/** Finds the line with this piece of live output. */
const heard = (text: string) => (line: EngineWorkerLine) =>
  (line["live"] as { text?: string } | undefined)?.text?.includes(text) ?? false;

const witnessOf = (home: Home): string =>
  existsSync(home.witness) ? readFileSync(home.witness, "utf8") : "";

/** The one operation of the session that nobody knows the outcome of. */
async function unknownOperation(
  home: Home,
): Promise<{ run: string; operation: OperationView; session: string }> {
  const [session = ""] = home.sessions();
  const run = findRun(await readSession(home.engine(), session), undefined);
  expect(run.status).toBe("input_required");
  const open = run.operations.filter((one) => one.state === "unknown");
  expect(open).toHaveLength(1);
  const [operation] = open;
  if (operation === undefined) throw new Error("there is none");
  return { run: run.run, operation, session };
}

/** Kills a worker and the supervisor of its running command at the same moment. */
async function killBoth(home: Home, worker: WorkerProcess): Promise<void> {
  const spools = () =>
    list(home.inSession("spool")).filter((name) => existsSync(home.inSession("spool", name, "claim")));
  const claims = spools().map(
    (name) => JSON.parse(readFileSync(home.inSession("spool", name, "claim"), "utf8")) as { pid: number },
  );
  expect(claims).toHaveLength(1);
  const pids = [worker.pid, claims[0]?.pid ?? 0];
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await worker.ended;
}

describe("a command that runs when its worker dies", () => {
  test("is adopted by the next one: not started again, its output whole and live", async () => {
    const home = newHome();
    const gate = join(home.folder, "gate");
    const command = `echo x >> ${home.witness}; echo before; while [ ! -e ${gate} ]; do sleep 0.02; done; echo after`;
    const model = home.cassette([{ calls: [{ tool: "exec", args: { command } }] }, { text: "Done." }]);
    const first = home.worker({ run: home.task({ model }) });
    await first.line(heard("before"));
    const told = (await first.kill()).commits;

    const second = home.worker({ resume: { selector: home.sessions()[0] ?? "", acceptRollback: false } });
    await second.line(heard("before"));
    writeFileSync(gate, "");
    await second.line(heard("after"));
    const ended = await second.ended;
    expect(ended).toMatchObject({ code: 0, report: { ending: "completed" } });

    const examined = await examine(home.engine(), home.sessions()[0] ?? "");
    expectKept(examined, [...told, ...ended.commits]);
    expectSettledOnce(examined);
    expect(factsOf(examined, "op.asked")).toHaveLength(1);
    expect(factsOf(examined, "op.known")).toMatchObject([{ outcome: "ok", output: "before\nafter\n" }]);
    expect(witnessOf(home)).toBe("x\n");
    expect(list(home.inSession("spool"))).toEqual([]);
  });
});

describe("a command of which nobody knows how it ended", () => {
  test("stops the run until a person says what happened, twice in one run, in each of three ways", async () => {
    const home = newHome();
    const server = await startModelServer();
    servers.push(server);
    home.environment = { ...home.environment, ...environmentOf(server.url) };
    const begin = (word: string) => `echo ${word} >> ${home.witness}; echo partial ${word}; sleep 2`;
    for (const word of ["one", "two", "three"]) {
      server.push({
        calls: [{ id: `call_${word}`, name: "exec", args: JSON.stringify({ command: begin(word) }) }],
      });
    }
    server.push({ text: "Done." });

    const ways: { word: string; said: Partial<Resolution> & Pick<Resolution, "outcome">; read: string }[] = [
      {
        word: "one",
        said: { outcome: "ok", output: "it deployed 7 machines" },
        read: "it deployed 7 machines",
      },
      { word: "two", said: { outcome: "error", output: "the host was gone" }, read: "the host was gone" },
      { word: "three", said: { outcome: "not_executed" }, read: "it did not happen" },
    ];
    let worker = home.worker({ run: home.task({ model: wires.anthropic.model }) });
    for (const { word, said, read } of ways) {
      await worker.line(heard(`partial ${word}`));
      await killBoth(home, worker);
      expect(await home.resume()).toMatchObject({ code: 3, report: { ending: "input_required" } });
      const { run, operation, session } = await unknownOperation(home);
      expect(operation).toMatchObject({ tool: "exec", args: { command: begin(word) }, state: "unknown" });
      expect(operation.reason).toMatch(/supervisor is gone/);
      expect(operation.evidence).toMatchObject({
        claim: { kind: "start" },
        output: { tail: `partial ${word}\n` },
      });

      // Without a word it stays as it is.
      expect(await home.resume()).toMatchObject({ code: 3, report: { ending: "input_required" } });
      const view = await resolveOperation(home.engine(), {
        session,
        run,
        operation: operation.id,
        by: "ada",
        ...said,
      });
      expect(view.operations.find((one) => one.id === operation.id)).toMatchObject({
        state: "known",
        outcome: said.outcome,
        resolution: { by: "ada" },
      });
      const asked = server.requests.length;
      worker = home.worker({ resume: { selector: session, acceptRollback: false } });
      await until(() => server.requests.length > asked);
      expect(server.requests.at(-1)?.rawBody).toContain(read);
      expect(server.requests.at(-1)?.rawBody).toContain("ada found out");
    }
    expect(await worker.ended).toMatchObject({ code: 0, report: { ending: "completed" } });
    expect(witnessOf(home)).toBe("one\ntwo\nthree\n");
    const examined = await examine(home.engine(), home.sessions()[0] ?? "");
    expectSettledOnce(examined);
    expect(factsOf(examined, "model.requested")).toHaveLength(server.requests.length);
    expect(examined.state.row.openUnknowns).toBe(0);
    expect(list(home.inSession("spool"))).toEqual([]);
  });

  test("is unknown at once where only its supervisor died, and the worker says so", async () => {
    const home = newHome();
    const model = home.cassette([
      { calls: [{ tool: "exec", args: { command: `echo x >> ${home.witness}; sleep 1` } }] },
      { text: "Done." },
    ]);
    const worker = home.worker({ run: home.task({ model }) });
    await until(() => witnessOf(home) === "x\n");
    const [spool = ""] = list(home.inSession("spool"));
    const claim = JSON.parse(readFileSync(home.inSession("spool", spool, "claim"), "utf8")) as {
      pid: number;
    };
    process.kill(claim.pid, "SIGKILL");
    expect(await worker.ended).toMatchObject({ code: 3, report: { ending: "input_required" } });
    const { session, run, operation } = await unknownOperation(home);
    await resolveOperation(home.engine(), { session, run, operation: operation.id, outcome: "ok" });
    expect(await home.resume()).toMatchObject({ code: 0, report: { ending: "completed" } });
    expect(witnessOf(home)).toBe("x\n");
  });

  test("is resolved once: the same word again changes no byte, another one is refused, and so is any other operation", async () => {
    const home = newHome();
    const command = `echo x >> ${home.witness}; sleep 2`;
    const model = home.cassette([
      { calls: [{ tool: "read", args: { path: "none" } }] },
      { calls: [{ tool: "exec", args: { command } }] },
      { text: "Done." },
    ]);
    const worker = home.worker({ run: home.task({ model }) });
    await until(() => witnessOf(home) === "x\n");
    const live = findRun(await readSession(home.engine(), home.sessions()[0] ?? ""), undefined);
    const running = live.operations.at(-1)?.id ?? "";
    const [session = ""] = home.sessions();
    const early = { session, run: live.run, operation: running, outcome: "ok" } as const;
    await expect(resolveOperation(home.engine(), early)).rejects.toMatchObject({ code: "usage" });

    await killBoth(home, worker);
    // Nobody has looked yet: the outcome is not unknown, only not known.
    await expect(resolveOperation(home.engine(), early)).rejects.toMatchObject({ code: "usage" });
    expect(await home.resume()).toMatchObject({ code: 3 });
    const { run, operation } = await unknownOperation(home);
    const word: Resolution = {
      session,
      run,
      operation: operation.id,
      outcome: "ok",
      output: "fine",
      evidence: "I saw it",
    };

    // A process that dies while it records the word leaves nothing that the next one cannot finish.
    for (const at of [20, 60, 90, 110, 130]) {
      await home.worker({ resolve: word, die: { at, file: join(home.folder, "effect") } }).ended;
      await examine(home.engine(), session);
    }
    await resolveOperation(home.engine(), word);
    const log = home.inSession("log.jsonl");
    const before = readFileSync(log);
    await resolveOperation(home.engine(), word);
    expect(readFileSync(log).equals(before)).toBe(true);
    for (const other of [{ output: "bad" }, { outcome: "error" as const }, { evidence: "I heard it" }]) {
      const said = resolveOperation(home.engine(), { ...word, ...other });
      await expect(said).rejects.toMatchObject({ code: "already_resolved" });
    }
    const settled = live.operations[0]?.id ?? "";
    const wrong = (id: string) => resolveOperation(home.engine(), { ...word, operation: id });
    await expect(wrong(settled)).rejects.toMatchObject({ code: "usage" });
    await expect(wrong("op_nothing")).rejects.toMatchObject({ code: "not_found" });
    expect(readFileSync(log).equals(before)).toBe(true);
    expect(factsOf(await examine(home.engine(), session), "op.resolved")).toHaveLength(1);
    expect(await home.resume()).toMatchObject({ code: 0, report: { ending: "completed" } });
  });
});
