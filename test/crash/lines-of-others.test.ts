import { expect, test } from "vitest";
import { stateDirectory, World } from "./world.ts";

/** What a sender writes who saw the queue as it stands in `seen`. */
async function lineOf(seen: World, path: string, session: string): Promise<Uint8Array> {
  const before = seen.disk.peek(path)?.length ?? 0;
  await seen.actor("sender").admit("of somebody dead", session);
  return (seen.disk.peek(path) ?? new Uint8Array()).subarray(before);
}

test.each([
  ["a line", false],
  ["a stale line", true],
])(
  "%s of somebody who died before his sync is on disk before anything is written behind it",
  async (_, isStale) => {
    const world = new World();
    const holder = world.actor("holder");
    const session = await holder.create();
    const path = `${stateDirectory}/sessions/${session}/queue.jsonl`;
    await holder.hold();
    await holder.admit("one");
    const seen = world.killed();
    if (isStale) await holder.admit("two");
    const line = await lineOf(seen, path, session);
    const file = await world.disk.open(path, "append");
    await file.write(line);
    await file.close();
    let written = 0;
    world.disk.gate = ({ verb, path: changed }) => {
      if (verb !== "write" || changed !== path) return undefined;
      written++;
      expect(Buffer.from(world.disk.peekDurable(path) ?? "").includes(Buffer.from(line))).toBe(true);
      return undefined;
    };
    await holder.admit("behind it");
    expect(written).toBe(1);
  },
);
