import { expect, test } from "vitest";
import { stateDirectory, World } from "../crash/world.ts";

async function newSession(): Promise<{ world: World; session: string; folder: string }> {
  const world = new World();
  const session = await world.actor("maker").create();
  return { world, session, folder: `${stateDirectory}/sessions/${session}` };
}

test("of two who want a session one has it, and the other one is told who that is", async () => {
  const { world, session } = await newSession();
  await world.actor("one").hold(session);
  const other = world.actor("other").hold(session);
  await expect(other).rejects.toThrow(/is being run by process \d+/);
});

test("who looks whether a session is held is in nobody's way, and touches nothing but what is there for it", async () => {
  const { world, session, folder } = await newSession();
  const { locks } = world.actor("prober").host;
  const looking = await locks.tryLock(`${folder}/alive`, { shared: true });
  const wanting = await locks.tryLock(`${folder}/lease`);
  const before = world.disk.effects.length;
  expect(await world.actor("other").store.isHeld(session)).toBe(false);
  const touched = world.disk.effects.slice(before).map(({ path }) => path);
  expect(new Set(touched)).toEqual(new Set([`${folder}/alive`]));
  await looking?.release();
  await wanting?.release();
  await world.actor("holder").hold(session);
  expect(await world.actor("other").store.isHeld(session)).toBe(true);
});

test("nothing of a session that was deleted is taken, admitted to or mended", async () => {
  const { world, session, folder } = await newSession();
  await world.actor("sender").admit("one", session);
  const torn = Buffer.concat([
    world.disk.peek(`${folder}/queue.jsonl`) ?? new Uint8Array(),
    Buffer.from("torn"),
  ]);
  world.disk.plant(`${folder}/queue.jsonl`, torn);
  world.disk.plant(`${stateDirectory}/tombstones/${session}.json`, "{}");
  await expect(world.actor("sender").admit("two", session)).rejects.toMatchObject({ code: "deleted" });
  await expect(world.actor("holder").hold(session)).rejects.toMatchObject({ code: "deleted" });
  expect(Buffer.from(world.disk.peek(`${folder}/queue.jsonl`) ?? "").equals(torn)).toBe(true);
});
