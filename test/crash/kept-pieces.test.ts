import { expect, test } from "vitest";
import { changesDisk } from "./memory-disk.ts";
import { stateDirectory, World } from "./world.ts";

/** What a torn line leaves behind the last one. */
const piece = Buffer.from('{"v":1,"ses":"torn in the middle');

function bytesOf(world: World, path: string): Buffer {
  return Buffer.from(world.disk.peek(path) ?? "");
}

/** True where the piece is still at the end of the file, or is kept with what says where it stood. */
function isThere(world: World, path: string): boolean {
  if (bytesOf(world, path).subarray(-piece.length).equals(piece)) return true;
  const kept = world.disk.files().filter((name) => name.includes("/recovery/") && name.endsWith(".bin"));
  return kept.some((name) => bytesOf(world, name).equals(piece));
}

test.each(["log", "queue"] as const)(
  "a piece at the end of the %s is there or kept, whenever whoever mends it dies or the power is cut",
  async (file) => {
    const world = new World();
    const actor = world.actor("before");
    const session = await actor.create();
    await actor.hold();
    await actor.say("one");
    await actor.admit("waiting");
    actor.die();
    const path = `${stateDirectory}/sessions/${session}/${file}.jsonl`;
    world.disk.plant(path, Buffer.concat([bytesOf(world, path), piece]));
    world.disk.settle();
    const mended = world.killed();
    let moments = 0;
    mended.disk.gate = (effect) => {
      if (!changesDisk(effect)) return undefined;
      moments++;
      expect(isThere(mended.killed(), path), `killed before effect ${effect.index}`).toBe(true);
      expect(isThere(mended.crashed(), path), `power cut before effect ${effect.index}`).toBe(true);
      return undefined;
    };
    const holder = mended.actor("holder");
    await holder.hold(session);
    await holder.admit("and on");
    mended.disk.gate = undefined;
    expect(moments).toBeGreaterThan(10);
    expect(bytesOf(mended, path).includes(piece)).toBe(false);
    expect(isThere(mended.crashed(), path)).toBe(true);
  },
);
