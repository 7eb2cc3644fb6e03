import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gatherEvidence, proveOperations } from "../../src/cli/demo/evidence.ts";
import { nodeHost } from "../../src/host/index.ts";
import type { Commit } from "../../src/model/commit.ts";
import type { RunView } from "../../src/model/views.ts";
import { openEngine } from "../../src/open.ts";

// The demo starts the program as people do, so it takes the built one.
const program = resolve("dist/main.cjs");

const folder = mkdtempSync(join(tmpdir(), "holdfast-demo-test-"));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Started {
  readonly ended: Promise<Ended>;
  /** Resolves with the first match in what it wrote so far. */
  seen(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: "SIGINT"): void;
}

/** Starts the program in a place of its own. */
function start(name: string, args: readonly string[]): Started {
  const place = join(folder, name);
  mkdirSync(join(place, "tmp"), { recursive: true });
  const env = { ...process.env, TMPDIR: join(place, "tmp"), HOLDFAST_STATE_DIR: join(place, "state") };
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  const listeners = new Set<() => void>();
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += String(chunk);
    for (const listener of listeners) listener();
  });
  child.stderr.on("data", (chunk: Buffer) => (stderr += String(chunk)));
  return {
    ended: new Promise((done) => child.on("close", (code) => done({ code, stdout, stderr }))),
    seen: (pattern) =>
      new Promise((found) => {
        const look = () => {
          const match = pattern.exec(stdout);
          if (match !== null) found(match);
        };
        listeners.add(look);
        look();
      }),
    kill: (signal) => child.kill(signal),
  };
}

interface Document {
  readonly ok: boolean;
  readonly kind: string;
  readonly data: {
    readonly session: string;
    readonly workspace: string;
    readonly witness: { readonly path: string; readonly lines: readonly { readonly operation: string }[] };
    readonly attempts: readonly { readonly killed: boolean }[];
    readonly effects: number;
    readonly checks: readonly { readonly claim: string; readonly holds: boolean; readonly found: string }[];
  };
}

let asJson: Ended;
let asText: Ended;

beforeAll(async () => {
  if (!existsSync(program)) throw new Error("there is no program to test; build it with: npm run build");
  [asJson, asText] = await Promise.all([
    start("json", ["demo", "--json"]).ended,
    start("text", ["demo"]).ended,
  ]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the demo", () => {
  test("kills its worker again and again, and every claim holds", () => {
    const document = JSON.parse(asJson.stdout) as Document;
    expect(document.data.checks.filter(({ holds }) => !holds)).toEqual([]);
    expect(document).toMatchObject({ ok: true, kind: "demo", data: { effects: 7 } });
    expect(document.data.attempts.filter(({ killed }) => killed).length).toBeGreaterThanOrEqual(3);
    expect(new Set(document.data.witness.lines.map(({ operation }) => operation)).size).toBe(3);
    expect(asJson).toMatchObject({ code: 0, stderr: "" });
  });

  test("leaves a session that can be opened, and the workspace that it speaks of", async () => {
    const { session, workspace } = (JSON.parse(asJson.stdout) as Document).data;
    const shown = await start("json", ["session", "show", session, "--json"]).ended;
    const { data } = JSON.parse(shown.stdout) as { data: { id: string; runs: { status: string }[] } };
    expect(data.id).toBe(session);
    expect(data.runs.map(({ status }) => status)).toEqual(["completed"]);
    expect(existsSync(join(workspace, "dist/slug.mjs"))).toBe(true);
  });

  test("tells people what happened in lines of 80 columns, the last one a command that works", async () => {
    expect(asText.code, asText.stdout + asText.stderr).toBe(0);
    const lines = asText.stdout.trimEnd().split("\n");
    const ownPaths = (line: string) => line.includes(folder);
    expect(lines.filter((line) => line.length > 80 && !ownPaths(line))).toEqual([]);
    expect(asText.stdout).not.toContain("\u001b[");
    expect(asText.stdout).toContain("7 effects, ");
    const words = (lines.at(-1) ?? "").trim().split(" ");
    expect(words[0]).toBe("holdfast");
    const shown = await start("text", words.slice(1)).ended;
    expect(shown.code, shown.stderr).toBe(0);
  });

  test("would notice a command that ran twice, and a change that was made twice", async () => {
    const { session, workspace, witness } = (JSON.parse(asJson.stdout) as Document).data;
    const host = nodeHost();
    const stateDirectory = join(folder, "json", "state");
    const supervisorProgram = { file: process.execPath, args: [resolve("dist/supervisor.cjs")] };
    const options = { singleWriter: false, environment: {}, version: "test", supervisorProgram };
    const context = openEngine({ host, stateDirectory, ...options });
    const stage = { folder, workspace, witness: witness.path, cassette: "" };
    const failing = async () => {
      const { checks } = await gatherEvidence({ context, disk: host.disk, stage }, session, []);
      return checks.filter(({ holds }) => !holds).map(({ claim }) => claim.split(" ").slice(0, 2).join(" "));
    };
    // Without attempts nobody was killed; all else holds.
    expect(await failing()).toEqual(["the worker"]);
    appendFileSync(witness.path, `released ${witness.lines[2]?.operation}\n`);
    expect(await failing()).toEqual(["the worker", "the witness"]);
    appendFileSync(join(workspace, "README.md"), "src/slug.mjs makes them.\n");
    expect(await failing()).toEqual(["the worker", "the witness", "the files"]);
  });

  test("tells of a proof what the log says, whichever tool it was, and guesses none", () => {
    const proofOf = (tool: string, outcome: string, details: unknown): string | undefined => {
      const id = "op_1";
      const commits = [
        { epoch: 1, at: 1, facts: [{ kind: "op.started", operation: id }] },
        { epoch: 2, at: 5, facts: [{ kind: "epoch.raised" }] },
        { epoch: 2, at: 6, facts: [{ kind: "op.known", operation: id, outcome, endedAt: 3, details }] },
      ] as unknown as Commit[];
      const operation = { id, tool, args: {}, effect: "checked", state: "settled", outcome };
      const [proven] = proveOperations(commits, { operations: [operation] } as unknown as RunView);
      expect(proven?.deaths).toBe(1);
      return proven?.proof;
    };
    for (const tool of ["exec", "write", "delete", "another"]) {
      expect(proofOf(tool, "ok", { exitCode: 0 })).toBeUndefined();
      expect(proofOf(tool, "ok", undefined)).toBeUndefined();
      expect(proofOf(tool, "error", { proof: "status" })).toMatch(/^ADOPTED: it had ended .* supervisor/);
      expect(proofOf(tool, "ok", { proven_by: "trash" })).toBe("EXECUTED: what it removed is in the trash");
      expect(proofOf(tool, "not_executed", { claim: { kind: "void" } })).toMatch(
        /^NOT EXECUTED: .*never claimed/,
      );
      expect(proofOf(tool, "ok", { proven_by: "something new" })).toBe("EXECUTED: something new");
    }
  });

  test("says why where no session can be made", async () => {
    writeFileSync(join(folder, "file"), "no directory\n");
    const ended = await start("refused", ["demo", "--state-dir", join(folder, "file"), "--json"]).ended;
    const { ok, error } = JSON.parse(ended.stdout) as { ok: boolean; error: { message: string } };
    expect(ok).toBe(false);
    expect(error.message).toContain(join(folder, "file"));
    expect(ended.code).toBe(1);
  });

  test("leaves no worker behind when it is interrupted", async () => {
    const demo = start("interrupted", ["demo"]);
    const [, pid] = await demo.seen(/Attempt 3 .* process (\d+)/);
    demo.kill("SIGINT");
    expect((await demo.ended).code).toBe(11);
    const worker = Number(pid);
    const isAlive = () => {
      try {
        return process.kill(worker, 0);
      } catch {
        return false;
      }
    };
    await expect.poll(isAlive, { timeout: 20_000 }).toBe(false);
  });
});
