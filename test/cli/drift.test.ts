import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runHint, runInShell } from "./hints.ts";
import { documentIn, linesOf, Place, sessionIn } from "./program.ts";

const place = new Place();
afterAll(() => place.remove());

const file = place.file.bind(place);
const definition = `apiVersion: holdfast/v1
kind: Agent
metadata: { name: fixer }
spec:
  objective: Make the failing test pass.
  instructions: [Read the test first.]
  capabilities: { required: [read, write], optional: [exec, grep] }
  execution: { modelRole: execution, maxTurns: 40 }
  output: { format: text }
`;
const good = file("agent.yaml", definition);
const failing = { error: { status: 401, message: "no" } };

/** A suspended session; resolves to its id. */
async function suspended(...flags: string[]): Promise<string> {
  const model = place.cassette(failing, { text: "Done." }, { text: "Done again." });
  const ended = await place.call(["run", "--task", "Do it", "--model", model, ...flags]);
  expect(ended.code).toBe(10);
  return sessionIn(ended.stdout);
}

function filesOf(session: string): string[] {
  const folder = join(place.state, "sessions", session);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && one.name !== "lease")
    .map((one) => `${one.name} ${readFileSync(join(one.parentPath, one.name), "latin1")}`)
    .toSorted();
}

describe("a resume", () => {
  test("refuses another policy with the difference, and its hint accepts it as it stands", async () => {
    const policy = file("it's a policy.json", JSON.stringify({ maxTurns: 3 }));
    const session = await suspended("--allow-shell");
    const before = filesOf(session);
    const flags = ["--policy", policy, "--pass-env", "PATH"];
    const drifted = await place.call(["resume", session, ...flags, "--json"]);
    const { error } = documentIn(drifted.stdout);
    expect([drifted.code, error?.code]).toEqual([6, "policy_drift"]);
    expect(error?.message.split("\n").slice(1)).toEqual([
      "  allowShell: true is recorded, false was given",
      '  passEnv: [] is recorded, ["PATH"] was given',
      "  maxTurns: nothing is recorded, 3 was given",
    ]);
    expect(filesOf(session)).toEqual(before);
    const [accept = "", without = ""] = error?.hint?.split("\n") ?? [];
    expect(accept).toMatch(
      /^Accept the one that was given with: holdfast resume \S+ --accept-policy --policy '/,
    );
    expect(without).toContain(`holdfast resume ${session}`);
    const accepted = await runInShell(place, accept.slice(accept.indexOf("holdfast ")));
    expect(accepted.code).toBe(0);
    expect(linesOf(accepted.stdout).map((line) => line.type)).toContain("policy.accepted");
    // Nothing differs any more, so nothing is recorded again.
    const again = await place.call(["resume", session, "--task", "More", ...flags, "--accept-policy"]);
    expect(again.code).toBe(0);
    expect(linesOf(again.stdout).map((line) => line.type)).not.toContain("policy.accepted");
  });

  test("offers to accept with every flag that was given, a task of many words too", async () => {
    const session = await place.completed();
    const task = "Don't run 'holdfast resume ses_x'; say \"$HOME\"";
    const drifted = await place.call([
      "--state-dir",
      place.state,
      "resume",
      session.slice(0, 20),
      "--task",
      task,
      "--allow-mcp",
    ]);
    expect(drifted.code).toBe(6);
    const accept = drifted.stderr.split("\n").find((line) => line.includes("--accept-policy")) ?? "";
    const command = accept.slice(accept.indexOf("holdfast "));
    expect(command).toContain(
      `holdfast --state-dir ${place.state} resume ${session.slice(0, 20)} --accept-policy --task `,
    );
    const { stdout } = await runInShell(
      place,
      `set -- ${command.slice("holdfast ".length)}; printf '%s\\n' "$@"`,
    );
    expect(stdout.split("\n")).toContain(task);
  });

  test("refuses another definition with the difference, whatever is accepted, and its hint goes on without it", async () => {
    const session = await suspended("--spec", good);
    const before = filesOf(session);
    const other = file("other.yaml", definition.replace("maxTurns: 40", "maxTurns: 41"));
    for (const more of [[], ["--accept-policy", "--allow-shell"]]) {
      const drifted = await place.call(["resume", session, "--spec", other, "--json", ...more]);
      const { error } = documentIn(drifted.stdout);
      expect([drifted.code, error?.code]).toEqual([6, "definition_drift"]);
      expect(error?.message).toContain("\n  spec.execution.maxTurns: 40 is recorded, 41 was given");
      expect(filesOf(session)).toEqual(before);
      if (more.length > 0) expect((await runHint(place, error?.hint ?? "")).code).toBe(0);
    }
    expect((await place.call(["--resume", session, "--task", "More", "--spec", good])).code).toBe(0);
  });

  test("accepts nothing where no policy is given, and where there is no session yet", async () => {
    const session = await suspended();
    const before = filesOf(session);
    const nothing = await place.call(["resume", session, "--accept-policy", "--json"]);
    expect([nothing.code, documentIn(nothing.stdout).error?.code]).toEqual([2, "usage"]);
    expect(documentIn(nothing.stdout).error?.hint).toMatch(/--policy FILE, --allow-shell/);
    expect(filesOf(session)).toEqual(before);
    const early = await place.call(["run", "--task", "x", "--accept-policy", "--allow-shell", "--json"]);
    expect([early.code, documentIn(early.stdout).error?.code]).toEqual([2, "usage"]);
    const short = await place.call(["--resume", session, "--accept-policy", "--allow-shell"]);
    expect(short.code).toBe(0);
  });

  test("refuses to accept a policy that denies what the agent requires", async () => {
    const session = await suspended("--spec", good);
    const before = filesOf(session);
    const policy = file("no-read.json", JSON.stringify({ allowedCapabilities: ["write"] }));
    const ended = await place.call(["resume", session, "--policy", policy, "--accept-policy", "--json"]);
    expect([ended.code, documentIn(ended.stdout).error?.code]).toEqual([2, "usage"]);
    expect(documentIn(ended.stdout).error?.message).toContain(
      "read: name it in the policy's allowedCapabilities",
    );
    expect(filesOf(session)).toEqual(before);
  });

  test("explains both before they are tried, with the command that works", async () => {
    const session = await suspended("--spec", good);
    const before = filesOf(session);
    const other = file("explained.yaml", definition.replace("maxTurns: 40", "maxTurns: 41"));
    const explain = async (...flags: string[]) => {
      const ended = await place.call(["resume", session, "--explain", "--json", ...flags]);
      const { data, error } = documentIn(ended.stdout);
      return { code: ended.code, data, error };
    };
    const drifted = await explain("--allow-shell", "--spec", good);
    expect([drifted.code, drifted.data.code, drifted.error?.code]).toEqual([
      6,
      "policy_drift",
      "policy_drift",
    ]);
    const accepting = `holdfast resume ${session} --accept-policy --spec ${good} --allow-shell`;
    expect(drifted.error?.hint).toContain(accepting);
    expect(drifted.data.next).toBe(`holdfast resume ${session}`);
    const accepted = await explain("--allow-shell", "--spec", good, "--accept-policy");
    expect([accepted.code, accepted.data.eligible, accepted.data.next]).toEqual([0, true, accepting]);
    const another = await explain("--spec", other);
    expect([another.code, another.data.blockers]).toEqual([6, ["definition_drift"]]);
    expect(filesOf(session)).toEqual(before);
    expect((await runInShell(place, accepting)).code).toBe(0);
  });
});
