import { expect, test } from "vitest";
import type { StartClaim } from "../../src/agents/builtin/exec/claim.ts";
import { makeSpool } from "../../src/agents/builtin/exec/spool.ts";
import type { Start } from "../../src/agents/builtin/exec/messages.ts";
import { takeStart } from "../../src/agents/builtin/exec/start.ts";
import { readStatus, writeStatus } from "../../src/agents/builtin/exec/status.ts";
import { World } from "../crash/world.ts";

const folder = "/session/spool/op_1";
const start = { operation: "op_1", nonce: "nonce" };

test("a start that is asked for again when its command has ended leaves the end on record", async () => {
  const world = new World();
  const { host } = world.actor("supervisor");
  world.disk.plant("/session/log", "");
  await makeSpool(host.disk, folder);
  const request: Start = {
    type: "start",
    ...start,
    spool: folder,
    command: "true",
    cwd: "/",
    env: {},
    secrets: [],
  };
  const claim = (supervisor: string): StartClaim => ({
    kind: "start",
    v: 1,
    ...start,
    pid: 1,
    startTime: "1",
    bootId: "boot",
    socket: "/socket",
    supervisor,
  });
  const taken = await takeStart(host, request, claim("first"));
  if (!taken.taken) throw new Error(taken.message);
  await writeStatus(taken.status, {
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
  });
  await taken.status.close();
  await taken.output.close();
  await taken.alive.release();
  expect(await takeStart(host, request, claim("second"))).toMatchObject({ taken: false });
  expect(await readStatus(host.disk, folder, start)).toMatchObject({ state: "ended" });
});
