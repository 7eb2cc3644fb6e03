import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { widthOf } from "../../src/cli/text/width.ts";
import { documentIn, Place, sessionIn } from "./program.ts";
import { columns } from "./terminal.ts";

const place = new Place();
afterAll(() => place.remove());

const sentence = "This is a sentence that goes on for a while and says the same in many words. ";
// A word that is wider, as a path may be, stays whole.
const tooWide = (text: string) =>
  text.split("\n").filter((line) => widthOf(line) > columns && line.trim().includes(" "));

describe("text for people", () => {
  test("is no wider than 80 columns where no terminal says how wide it is", async () => {
    const path = `${"deep/".repeat(20)}file.txt`;
    const model = place.cassette(
      {
        reasoning: sentence.repeat(3),
        text: sentence.repeat(5),
        calls: [
          { tool: "exec", args: { command: `: ${sentence.repeat(2)}; echo ${sentence.repeat(2)}; exit 3` } },
          { tool: "write", args: { path, content: "x" } },
          { tool: "no such tool", args: { query: sentence.repeat(3) } },
        ],
      },
      { error: { status: 500, message: sentence.repeat(2), retryAfterMs: 1 } },
      { text: `${sentence.repeat(3)}\n\n- one\n- two` },
    );
    const task = sentence.repeat(4);
    const flags = ["--format", "text", "--task", task, "--title", task];
    const run = await place.call(["run", ...flags, "--model", model, "--allow-shell"]);
    const session = sessionIn(run.stdout);
    expect([run.code, tooWide(run.stdout)]).toEqual([0, []]);
    for (const args of [
      ["session", "list"],
      ["session", "show", session],
      ["run", "show", session],
      ["run", "list", session],
    ]) {
      const { code, stdout } = await place.call(args);
      expect([args, code, tooWide(stdout)]).toEqual([args, 0, []]);
    }
    // What is to be copied stays whole, and so does a message.
    const drift = await place.call(["resume", session, "--format", "text", "--pass-env", "A"]);
    expect(drift.stderr.split("\n").slice(1)).toEqual([
      "  Without policy flags the recorded policy holds:",
      `    holdfast resume ${session}`,
      "",
    ]);
    const none = await place.call(["run", "--format", "text", "--task", "x"]);
    expect(tooWide(none.stderr)).toEqual([]);
  });

  test("shows what stands in a blob; --json names the blob", async () => {
    const long = `the beginning ${"filler ".repeat(6000)}\nthe second line\n`;
    const command = `echo seen; : ${"x".repeat(40_000)}`;
    const model = place.cassette(
      {
        calls: [
          { tool: "exec", args: { command } },
          { tool: "read", args: { path: "long.txt" } },
        ],
      },
      { text: long },
    );
    const run = await place.call(["run", "--task", long, "--model", model, "--allow-shell"]);
    const session = sessionIn(run.stdout);
    const shown = await place.call(["session", "show", session]);
    expect(shown.stdout.match(/ {2}the beginning filler filler/g)?.length).toBe(2);
    expect(shown.stdout).toContain("→ exec echo seen; : xxx");
    expect(shown.stdout).toMatch(/… \d+ more lines; all of it with --json/);
    const whole = await place.call(["run", "show", session]);
    expect(whole.stdout).toContain("echo seen");
    const { data } = documentIn((await place.call(["session", "show", session, "--json"])).stdout);
    const { blob } = data.messages[0].parts[0];
    expect(blob).toEqual({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: long.length });
    // A blob that is gone is missed where it was, and nowhere else.
    const folder = join(place.state, "sessions", session, "blobs");
    expect(readdirSync(folder)).toContain(blob.sha256);
    rmSync(join(folder, blob.sha256));
    const damaged = await place.call(["session", "show", session]);
    expect(damaged.code).toBe(0);
    expect(damaged.stdout.replaceAll(/\s+/g, " ")).toContain("of text, which cannot be read: blob");
    expect(damaged.stdout).toContain("→ exec echo seen");
  });
});
