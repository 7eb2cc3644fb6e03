import {
  mkdirSync,
  readFileSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
  existsSync,
  readdirSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { connectSupervisor, supervisorAddress } from "../../src/agents/builtin/exec/connection.ts";
import { bundleForNode } from "../peers/bundle.ts";
import {
  execute,
  isAlive,
  makeCall,
  makeScene,
  prepare,
  runsIn,
  supervisorOf,
  supervisorPeer,
  until,
  type Scene,
} from "./exec-kit.ts";

let peer: string;
let scene: Scene;

beforeAll(async () => {
  peer = await supervisorPeer();
});
beforeEach(() => {
  scene = makeScene(peer);
});
afterEach(() => scene.end());

describe("what a command wrote", () => {
  test("stdout and stderr come in the order in which they were written", async () => {
    const result = await execute(scene, "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done");
    const lines = [1, 2, 3, 4, 5].flatMap((i) => [`out ${i}`, `err ${i}`]);
    expect(result.output).toBe(`${lines.join("\n")}\n`);
    expect(result.shown).toBe(result.output);
    expect(result.outcome).toBe("ok");
  });

  test("silence is told, for a model takes no empty text", async () => {
    expect((await execute(scene, "true")).output).toBe("[no output]");
  });

  test("of a long output the model reads head and tail in whole lines, and the whole is kept", async () => {
    const result = await execute(scene, "seq 1 100000");
    expect(result.output).toMatch(/^1\n2\n3\n/);
    expect(result.output).toMatch(/\n99999\n100000\n$/);
    expect(result.output).toMatch(/\d\n\[\d+ bytes of output left out\]\n\d/);
    expect(Buffer.byteLength(result.output)).toBeLessThan(33 * 1024);
    const whole = Array.from({ length: 100_000 }, (_, i) => `${i + 1}\n`).join("");
    expect(Buffer.from(result.full ?? []).toString()).toBe(whole);
    expect(result.shown).toBe(whole);
    expect(result.details["outputBytes"]).toBe(whole.length);
  });

  test("50 MB are kept on disk, and of more than 16 MiB the ends", async () => {
    const result = await execute(scene, "head -c 50000000 /dev/zero | tr '\\0' x");
    expect(result.details).toMatchObject({ outputBytes: 50_000_000, dropped: 0 });
    expect(result.full?.byteLength).toBeGreaterThan(16_000_000);
    expect(result.full?.byteLength).toBeLessThan(17_000_000);
    expect(result.shown).toHaveLength(50_000_000);
  });

  test("beyond the spool's limit a command runs on, and what is dropped is counted", async () => {
    const command = "head -c 3000000 /dev/zero | tr '\\0' x; echo end >> witness";
    const result = await execute(scene, command, { supervisor: { outputBytesMax: 100_001 } });
    expect(result.details).toMatchObject({ outputBytes: 100_001, dropped: 2_899_999 });
    expect(result.output).toContain("[2899999 bytes of output were not kept]");
    expect(result.outcome).toBe("ok");
    expect(readFileSync(join(scene.workspace, "witness"), "utf8")).toBe("end\n");
  });

  test("bytes that are no UTF-8 are shown as such, and characters across chunks stay whole", async () => {
    const command = "printf '\\377a'; printf '\\303'; sleep 0.1; printf '\\251\\n'";
    expect((await execute(scene, command)).output).toBe("\ufffdaé\n");
  });

  test("a secret never reaches the disk, not even in pieces or encoded", async () => {
    const secret = "hunter2hunter2secret";
    const call = makeCall(scene.place(), {
      command: `printf 'a hunter2'; sleep 0.1; printf 'hunter2sec'; sleep 0.1; printf 'ret b '; printf %s ${secret} | base64`,
    });
    const tool = scene.tool({ secrets: [secret] });
    const result = await tool.perform(call, await prepare(tool, call));
    expect(result.output).toMatch(/^a \[redacted\] b \[redacted\]/);
    for (const name of readdirSync(call.place.spool)) {
      expect(readFileSync(join(call.place.spool, name), "utf8")).not.toMatch(/hunter2|aHVudGVy/);
    }
    expect(call.shown.text).not.toContain("hunter2");
  });
});

describe("how a command ended", () => {
  test("an exit code is an error with that code", async () => {
    const result = await execute(scene, "echo hello; exit 7");
    expect(result.outcome).toBe("error");
    expect(result.output).toBe("hello\n[exit code 7]");
    expect(result.details).toMatchObject({ exitCode: 7, timedOut: false, survivors: [] });
    expect(result.endedAt).toBeGreaterThanOrEqual(result.startedAt ?? Infinity);
  });

  test("a signal is an error with its name", async () => {
    const result = await execute(scene, "kill -SEGV $$");
    expect(result.outcome).toBe("error");
    expect(result.details).toMatchObject({ signal: "SIGSEGV" });
  });

  test("a command that ignores the request to stop is killed when its time is over", async () => {
    const command = "trap '' TERM; echo up; while :; do sleep 0.05; done";
    const result = await execute(scene, { command, timeoutMs: 200 });
    expect(result.outcome).toBe("error");
    expect(result.details).toMatchObject({ signal: "SIGKILL", timedOut: true, survivors: [] });
    expect(result.output).toMatch(/^up\n\[timed out after \d+ ms, ended by SIGKILL\]$/);
  });

  test("the run's deadline holds where the timeout is later", async () => {
    const tool = scene.tool();
    const call = { ...makeCall(scene.place(), { command: "sleep 60" }), deadlineAt: Date.now() + 300 };
    const result = await tool.perform(call, await prepare(tool, call));
    expect(result.details).toMatchObject({ timedOut: true });
  });

  test("a cancel stops the whole group and records its real end", async () => {
    const tool = scene.tool();
    const call = makeCall(scene.place(), {
      command: "(trap '' TERM; sleep 61) & trap 'echo bye; exit 3' TERM; echo up; wait",
    });
    const performing = tool.perform(call, await prepare(tool, call));
    await until(() => call.shown.text.includes("up"));
    call.abort.abort();
    const result = await performing;
    expect(result.outcome).toBe("canceled");
    expect(result.output).toMatch(/^up\nbye\n\[canceled after \d+ ms, exit code 3\]$/);
    expect(result.details).toMatchObject({ exitCode: 3, survivors: [] });
  });

  test("a cancel before the start starts nothing", async () => {
    const tool = scene.tool();
    const call = makeCall(scene.place(), { command: "echo run >> witness" });
    const evidence = await prepare(tool, call);
    call.abort.abort();
    expect((await tool.perform(call, evidence)).outcome).toBe("canceled");
    expect(existsSync(join(scene.workspace, "witness"))).toBe(false);
  });

  test("a cancel at any moment ends in a true answer", async () => {
    const tool = scene.tool();
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const witness = join(scene.folder, `witness-${index}`);
        const call = makeCall(scene.place(), { command: `echo run >> ${witness}; sleep 65` });
        const performing = tool.perform(call, await prepare(tool, call));
        await sleep(index * 12);
        call.abort.abort();
        const { outcome, details } = await performing;
        const wasStarted = details !== undefined && !("notStarted" in (details as object));
        if (!wasStarted) expect(runsIn(witness)).toBe(0);
        return outcome;
      }),
    );
    expect(new Set(outcomes)).toEqual(new Set(["canceled"]));
  });

  test("a daemon that holds the output delays nothing, is listed, and lives on", async () => {
    const result = await execute(scene, "setsid sleep 62 & echo started");
    expect(result.outcome).toBe("ok");
    const [survivor] = result.details["survivors"] as { pid: number; command: string }[];
    expect(survivor?.command).toBe("sleep 62");
    expect(result.output).toMatch(/^started\n\[still running: \d+ sleep 62\]$/);
    expect(isAlive(survivor?.pid ?? 0)).toBe(true);
    process.kill(survivor?.pid ?? 0);
  });

  test("a daemon that writes later is not killed by a closed pipe while the supervisor lives", async () => {
    const command = "(sleep 0.6; echo late; echo done >> witness) & echo started";
    await execute(scene, command, { supervisor: { drainMs: 50, lingerMs: 2000 } });
    await until(() => existsSync(join(scene.workspace, "witness")));
  });

  test("a directory that is gone by the start is an error that says so, and is known", async () => {
    const tool = scene.tool();
    mkdirSync(join(scene.workspace, "sub"));
    const call = makeCall(scene.place(), { command: "echo run", cwd: "sub" });
    const evidence = await prepare(tool, call);
    const moved = { ...evidence, cwd: join(scene.workspace, "gone") } as typeof evidence;
    expect((await tool.perform(call, moved)).outcome).toBe("not_executed");
  });
});

describe("what a command may see", () => {
  test("it has no input and no terminal, and knows where it belongs", async () => {
    const command = "cat; tty; echo $HOLDFAST_SESSION $HOLDFAST_RUN $HOLDFAST_OPERATION";
    const result = await execute(scene, command);
    expect(result.output).toMatch(/^not a tty\nses_\w+ run_\w+ op_\w+\n$/);
  });

  test("its environment holds no secret, and neither do the supervisor's arguments and environment", async () => {
    const environment = {
      PATH: process.env["PATH"],
      LANG: "C.UTF-8",
      NPM_TOKEN: "npm-token-value",
      MY_PASS: "pass-value",
      OPENAI_API_KEY: "sk-provider-value",
    };
    const tool = scene.tool({ environment, passEnv: ["MY_PASS", "OPENAI_API_KEY"], secrets: ["pass-value"] });
    const call = makeCall(scene.place(), { command: "env; sleep 63" });
    const performing = tool.perform(call, await prepare(tool, call));
    const supervisor = await supervisorOf(call.place);
    await until(() => call.shown.text.includes("LANG=C.UTF-8"));
    const seen = ["environ", "cmdline"].map((name) => readFileSync(`/proc/${supervisor}/${name}`, "utf8"));
    expect(seen.join()).not.toMatch(/pass-value|npm-token|sk-provider|sleep 63/);
    call.abort.abort();
    const result = await performing;
    expect(result.output).not.toMatch(/npm-token|sk-provider|pass-value/);
    expect(result.output).toContain("MY_PASS=[redacted]");
  });

  test("it starts in the directory asked for, and only inside the workspace", async () => {
    mkdirSync(join(scene.workspace, "sub/dir"), { recursive: true });
    symlinkSync("sub/dir", join(scene.workspace, "inner"));
    symlinkSync(scene.folder, join(scene.workspace, "outer"));
    writeFileSync(join(scene.workspace, "file"), "");
    expect((await execute(scene, { command: "pwd -P", cwd: "inner" })).output).toBe(
      `${scene.workspace}/sub/dir\n`,
    );
    for (const cwd of ["outer", "..", "outer/workspace/..", "/tmp", "absent", "file"]) {
      const prepared = await scene.tool().prepare(makeCall(scene.place(), { command: "pwd", cwd }));
      expect(prepared).toMatchObject({ ready: false, result: { outcome: "error" } });
    }
  });

  test("a directory that became a link out of the workspace after the approval is refused", async () => {
    mkdirSync(join(scene.workspace, "sub"));
    const tool = scene.tool();
    const call = makeCall(scene.place(), { command: "echo run >> /proc/self/cwd/witness", cwd: "sub" });
    const evidence = await prepare(tool, call);
    rmdirSync(join(scene.workspace, "sub"));
    symlinkSync(scene.folder, join(scene.workspace, "sub"));
    expect((await tool.perform(call, evidence)).outcome).toBe("not_executed");
    expect(existsSync(join(scene.folder, "witness"))).toBe(false);
  });

  test.each([
    [{}, /command/],
    [{ command: " " }, /command: is empty/],
    [{ command: "a\0b" }, /zero byte/],
    [{ command: "x".repeat(200_000) }, /128 KiB/],
    [{ command: "ls", timeoutMs: -1 }, /timeoutMs/],
    [{ command: "ls", timeout: 5 }, /timeout/],
    ["ls", /arguments/],
  ])("arguments that do not fit are told: %#", async (args, message) => {
    const prepared = await scene.tool().prepare(makeCall(scene.place(), args));
    expect(prepared.ready).toBe(false);
    expect(prepared.ready ? "" : prepared.result.output).toMatch(message);
  });
});

describe("the supervisor", () => {
  test("is one for a session, also where many commands start at once", async () => {
    const tool = scene.tool();
    const calls = Array.from({ length: 8 }, () =>
      makeCall(scene.place(), { command: "echo $HOLDFAST_OPERATION; sleep 0.3" }),
    );
    const results = await Promise.all(
      calls.map(async (call) => tool.perform(call, await prepare(tool, call))),
    );
    expect(results.map(({ output }) => output)).toEqual(calls.map(({ place }) => `${place.operation}\n`));
    expect(new Set(await Promise.all(calls.map(({ place }) => supervisorOf(place)))).size).toBe(1);
  });

  test("is reused, and ends by itself when nobody needs it", async () => {
    const tool = scene.tool();
    const pids: number[] = [];
    for (let round = 0; round < 2; round++) {
      const call = makeCall(scene.place(), { command: "true" });
      await tool.perform(call, await prepare(tool, call));
      pids.push(await supervisorOf(call.place));
    }
    expect(pids[0]).toBe(pids[1]);
    await until(() => !isAlive(pids[0] ?? 0));
    expect(readdirSync(join(scene.runtime, "holdfast")).filter((name) => !name.includes("."))).toEqual([]);
  });

  test("told to end, stops its commands and records their ends", async () => {
    const tool = scene.tool();
    const call = makeCall(scene.place(), { command: "echo up; sleep 64" });
    const performing = tool.perform(call, await prepare(tool, call));
    await until(() => call.shown.text.includes("up"));
    process.kill(await supervisorOf(call.place), "SIGTERM");
    const result = await performing;
    expect(result.outcome).toBe("error");
    expect(result.details).toMatchObject({ signal: "SIGTERM", stopped: "shutdown" });
  });

  test("as shipped runs commands, and ends at once when it is told to", async () => {
    const supervisorProgram = { file: process.execPath, args: [await bundleForNode("src/supervisor.ts")] };
    const tool = scene.tool({ supervisorProgram });
    const call = makeCall(scene.place(), { command: "echo shipped" });
    expect((await tool.perform(call, await prepare(tool, call))).output).toBe("shipped\n");
    process.kill(await supervisorOf(call.place), "SIGTERM");
    await scene.supervisorsEnd();
  });

  test("that cannot be started starts nothing, and the command is known not to have run", async () => {
    const supervisorProgram = { file: process.execPath, args: ["-e", "process.exit(1)"] };
    const result = await execute(scene, "echo run >> witness", { supervisorProgram });
    expect(result.outcome).toBe("not_executed");
    expect(result.output).toMatch(/does not answer/);
    expect(existsSync(join(scene.workspace, "witness"))).toBe(false);
  });

  test("of another session at the same socket is not believed", async () => {
    const { sockets } = scene.host;
    const place = scene.place();
    const address = await supervisorAddress(scene.host, place);
    const listener = await sockets.listen(address.socket, (connection) => {
      connection.onMessage(
        (message) =>
          connection.send({ ...(message as object), type: "welcome", session: "ses_other", supervisor: "x" }),
        () => undefined,
      );
    });
    expect(await connectSupervisor(scene.host, address)).toBeUndefined();
    await listener.close();
  });
});

test("the clean-up leaves nothing of an operation, whatever its state, and can be repeated", async () => {
  const tool = scene.tool();
  const performed = makeCall(scene.place(), { command: "true" });
  await tool.perform(performed, await prepare(tool, performed));
  const prepared = makeCall(scene.place(), { command: "true" });
  await prepare(tool, prepared);
  for (const { place } of [performed, prepared, makeCall(scene.place(), {}), performed]) {
    await tool.cleanUp(place, undefined, undefined);
  }
  expect(readdirSync(join(scene.folder, "session/spool"))).toEqual([]);
});
