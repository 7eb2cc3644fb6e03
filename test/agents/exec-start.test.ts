import { expect, test } from "vitest";
import type { StartClaim } from "../../src/agents/builtin/exec/claim.ts";
import { makeSpool } from "../../src/agents/builtin/exec/spool.ts";
import { followToEnd } from "../../src/agents/builtin/exec/follow.ts";
import type { Start } from "../../src/agents/builtin/exec/messages.ts";
import { takeStart } from "../../src/agents/builtin/exec/start.ts";
import { readStatus, type Status, writeStatus } from "../../src/agents/builtin/exec/status.ts";
import type { ToolRun } from "../../src/model/agent.ts";
import { World } from "../crash/world.ts";

const folder = "/session/spool/op_1";
const start = { operation: "op_1", nonce: "nonce" };

function requestOf(): Start {
  return { type: "start", ...start, spool: folder, command: "true", cwd: "/", env: {}, secrets: [] };
}

function claimOf(supervisor: string): StartClaim {
  const who = { pid: 1, startTime: "1", bootId: "boot", socket: "/socket", supervisor };
  return { kind: "start", v: 1, ...start, ...who };
}

const ended: Status = {
  v: 1,
  ...start,
  end: { kind: "exited", code: 0 },
  startedAt: 1,
  endedAt: 2,
  durationMs: 1,
  outputBytes: 0,
  outputSha256: "",
  dropped: 0,
  survivors: [],
  survivorsUnlisted: 0,
};

test("a start that is asked for again when its command has ended leaves the end on record", async () => {
  const world = new World();
  const { host } = world.actor("supervisor");
  world.disk.plant("/session/log", "");
  await makeSpool(host.disk, folder);
  const taken = await takeStart(host, requestOf(), claimOf("first"));
  if (!taken.taken) throw new Error(taken.message);
  await writeStatus(taken.status, ended);
  await taken.status.close();
  await taken.output.close();
  await taken.alive.release();
  expect(await takeStart(host, requestOf(), claimOf("second"))).toMatchObject({ taken: false });
  expect(await readStatus(host.disk, folder, start)).toMatchObject({ state: "ended" });
});

test("a supervisor that ends in the very moment in which it is looked for is not taken for one that left no end", async () => {
  const world = new World();
  const supervisor = world.actor("supervisor").host;
  world.disk.plant("/session/log", "");
  await makeSpool(supervisor.disk, folder);
  const taken = await takeStart(supervisor, requestOf(), claimOf("first"));
  if (!taken.taken) throw new Error(taken.message);
  let looks = 0;
  world.disk.gate = ({ process, path, verb }) => {
    const isLook = process === "worker" && (path.endsWith("/alive") || path.endsWith("/status"));
    if (!isLook || (verb !== "lock" && verb !== "open") || ++looks !== 2) return undefined;
    world.disk.gate = undefined;
    return writeStatus(taken.status, ended).then(() => taken.alive.release());
  };
  const place = { session: "ses_1", run: "run_1", workspace: "/", operation: start.operation };
  const run: ToolRun = {
    place: { ...place, spool: folder, trash: "/trash", supervisor: "ses_1" },
    args: {},
    signal: new AbortController().signal,
    graceMs: 0,
    live: () => undefined,
  };
  const { host } = world.actor("worker");
  expect(await followToEnd({ host, run, nonce: start.nonce })).toMatchObject({ state: "ended" });
  expect(looks).toBe(2);
});
