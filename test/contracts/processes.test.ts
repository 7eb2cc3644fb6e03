import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isDiskError, nodeHost, type ChildExit, type ChildProcess } from "../../src/host/index.ts";
import { bundleForNode } from "../peers/bundle.ts";

const { processes, clock } = nodeHost();
const path = process.env["PATH"] ?? "";
let root = "";

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-processes-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function start(file: string, args: string[], env: Record<string, string> = { PATH: path }): ChildProcess {
  return processes.spawn({ file, args, cwd: root, env });
}

const startShell = (script: string, env?: Record<string, string>): ChildProcess =>
  start("sh", ["-c", script], env);

/** All output, once nobody holds the pipe any more. */
async function outputOf(child: ChildProcess): Promise<string> {
  const chunks: Uint8Array[] = [];
  await new Promise<void>((ended) => child.onOutput((chunk) => chunks.push(chunk), ended));
  return Buffer.concat(chunks).toString();
}

function firstLineOf(child: ChildProcess): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    child.onOutput(
      (chunk) => {
        text += Buffer.from(chunk).toString();
        if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
      },
      () => reject(new Error(`the output ended: ${text}`)),
    );
  });
}

async function refusal(exited: Promise<ChildExit>): Promise<string | undefined> {
  const error: unknown = await exited.catch((thrown: unknown) => thrown);
  return isDiskError(error) ? error.code : undefined;
}

describe("a child", () => {
  test("writes to one pipe, whose order is the order of its writes to both streams", async () => {
    const child = startShell("for i in $(seq 500); do echo out $i; echo err $i >&2; done; exit 7");
    const expected = Array.from({ length: 500 }, (_, index) => `out ${index + 1}\nerr ${index + 1}\n`);
    expect(await outputOf(child)).toBe(expected.join(""));
    expect(await child.exited).toEqual({ code: 7 });
  });

  test("is itself the process whose pid we know, in a group and a session of its own", async () => {
    const child = start("cat", ["/proc/self/stat"]);
    const [pid, , , , group, session] = (await outputOf(child)).split(" ");
    expect([pid, group, session]).toEqual(Array(3).fill(String(child.pid)));
  });

  test("gets its arguments as they are", async () => {
    const args = ["-n", "a b", "$HOME", "`id`", "'\"\\", "", "*", "ä\n"];
    const child = start("printf", ["%s|", ...args]);
    expect(await outputOf(child)).toBe(`${args.join("|")}|`);
  });

  test("inherits nothing: no variable, no input, no descriptor", async () => {
    process.env["HOLDFAST_TEST_SECRET"] = "secret";
    const descriptor = openSync(join(root, "open"), "w");
    try {
      expect(await outputOf(start("/usr/bin/env", [], { ONLY: "this one", PWD: "/x" }))).toBe(
        `ONLY=this one\nPWD=${root}\n`,
      );
      expect(await outputOf(start("/usr/bin/env", [], {}))).toBe("");
      expect(await outputOf(start("cat", []))).toBe("");
      expect(await outputOf(start("ls", ["-l", "/proc/self/fd"]))).not.toContain(root);
      expect(await outputOf(start("readlink", ["/proc/self/fd/0"]))).toBe("/dev/null\n");
    } finally {
      delete process.env["HOLDFAST_TEST_SECRET"];
      closeSync(descriptor);
    }
  });

  test("is drained to the end, however much it writes before anybody listens", async () => {
    const child = startShell("head -c 3000000 /dev/zero");
    await clock.sleep(20);
    expect(await outputOf(child)).toHaveLength(3_000_000);
  });

  test("has exited before its output has ended where a child of its own still holds the pipe", async () => {
    const child = startShell("sleep 60 & echo started");
    let ended = false;
    const output = outputOf(child).then((text) => {
      ended = true;
      return text;
    });
    expect(await child.exited).toEqual({ code: 0 });
    expect(ended).toBe(false);
    expect(child.signalGroup("SIGKILL")).toBe(true);
    expect(await output).toBe("started\n");
  });

  test("dies with its whole group, and a group that is gone is told so", async () => {
    const child = startShell("sh -c 'echo deep; exec sleep 60' & wait");
    const output = outputOf(child);
    expect(child.signalGroup("SIGKILL")).toBe(true);
    expect(await child.exited).toEqual({ signal: "SIGKILL" });
    await output; // Ends only when the grandchild is dead too: it holds the pipe.
    for (let attempt = 0; attempt < 500 && child.signalGroup("SIGKILL"); attempt += 1) await clock.sleep(10);
    expect(child.signalGroup("SIGKILL")).toBe(false);
  });

  test("that cannot be started says why and signals nobody", async () => {
    const text = join(root, "text");
    writeFileSync(text, "no program", { mode: 0o644 });
    const starting = { file: "sh", args: ["-c", "exit"], cwd: root, env: { PATH: path } };
    const cases = [
      [{ ...starting, file: "no-such-program" }, "ENOENT"],
      [{ ...starting, file: "./none" }, "ENOENT"],
      [{ ...starting, file: text }, "EACCES"],
      [{ ...starting, file: root }, "EACCES"],
      [{ ...starting, cwd: join(root, "none") }, "ENOENT"],
      [{ ...starting, cwd: text }, "ENOTDIR"],
      [{ ...starting, args: ["a\0b"] }, "ERR_INVALID_ARG_VALUE"],
      [{ ...starting, args: ["-c", "exit", "x".repeat(200_000)] }, "E2BIG"],
    ] as const;
    for (const [request, code] of cases) {
      const child = processes.spawn(request);
      expect(await outputOf(child)).toBe("");
      expect(await refusal(child.exited)).toBe(code);
      expect(child.pid).toBe(0);
      expect(child.signalGroup("SIGKILL")).toBe(false);
      child.detachOutput();
    }
  });

  test("whose failed start nobody asks about ends no process", async () => {
    start("no-such-program", []);
    await clock.sleep(5);
  });
});

describe("other processes", () => {
  test("are found by one exact variable, children of children too", async () => {
    const mark = randomUUID();
    const child = startShell("sleep 60 & echo started; wait", { PATH: path, MARK: mark });
    const longer = startShell("echo started; exec sleep 60", { PATH: path, MARK: `${mark}-longer` });
    try {
      await Promise.all([firstLineOf(child), firstLineOf(longer)]);
      const found = await processes.findByEnvironment("MARK", mark);
      expect(found).toHaveLength(2);
      expect(found.map((other) => other.pid)).toContain(child.pid);
      expect(found.map((other) => other.command)).toContain("sleep 60");
    } finally {
      child.signalGroup("SIGKILL");
      longer.signalGroup("SIGKILL");
    }
  });

  test("are alive or not; numbers that mean groups to the system are never signaled", async () => {
    const child = startShell("exec sleep 60");
    expect(processes.isAlive(child.pid)).toBe(true);
    expect(processes.signal(child.pid, "SIGTERM")).toBe(true);
    expect(await child.exited).toEqual({ signal: "SIGTERM" });
    expect(processes.isAlive(child.pid)).toBe(false);
    expect(processes.signal(child.pid, "SIGTERM")).toBe(false);
    for (const pid of [0, -1, -child.pid, Number.NaN, 1.5]) {
      expect(processes.isAlive(pid)).toBe(false);
      expect(processes.signal(pid, "SIGTERM")).toBe(false);
    }
  });
});

describe("a process that has ended", () => {
  test("leaves a detached one running, with its errors in a private file", async () => {
    const program = await bundleForNode("test/peers/process-peer.ts");
    const [mark, errors] = [randomUUID(), join(root, "errors")];
    const pid = Number(execFileSync(process.execPath, [program, "detached", mark, errors]).toString());
    try {
      expect(processes.isAlive(pid)).toBe(true);
      for (let attempt = 0; attempt < 500 && statSync(errors).size === 0; attempt += 1) await clock.sleep(10);
      expect(readFileSync(errors, "utf8")).toBe("kept\n");
      expect(statSync(errors).mode & 0o777).toBe(0o600);
      const [, , , , group, session] = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
      expect([group, session]).toEqual([String(pid), String(pid)]);
    } finally {
      processes.signal(pid, "SIGKILL");
    }
  });

  test("was not kept from ending by a child whose output it let go of", async () => {
    const program = await bundleForNode("test/peers/process-peer.ts");
    const pid = Number(execFileSync(process.execPath, [program, "reading", randomUUID()]).toString());
    expect(pid).toBeGreaterThan(0);
    processes.signal(pid, "SIGKILL");
  });

  test("throws where a detached program cannot be started", () => {
    const starting = { file: "no-such-program", args: [], cwd: root, env: { PATH: path } };
    expect(() => processes.spawnDetached(starting)).toThrow(/no-such-program: ENOENT/);
    const errorFile = join(root, "none", "errors");
    expect(() => processes.spawnDetached({ ...starting, file: "sh", errorFile })).toThrow(/ENOENT/);
  });
});

test("this process knows itself", () => {
  const { self } = processes;
  expect(self).toMatchObject({ pid: process.pid, host: hostname() });
  expect(processes.self).toBe(self);
  expect(self.user).not.toBe("");
  expect(self.bootId).toBe(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  // Field 22, counted behind the name of the command: it may hold blanks.
  const fields = readFileSync("/proc/self/stat", "utf8").replace(/^.*\) /, "");
  expect(self.startTime).toBe(fields.split(" ")[19]);
});
