import { expect, test } from "vitest";
import { changesDisk } from "../crash/memory-disk.ts";
import { World } from "../crash/world.ts";
import { sha256 } from "../../src/host/index.ts";

const bytes = new Uint8Array(1000).fill(7);
const reference = { sha256: sha256(bytes), bytes: bytes.length };

/** The machine before each change that storing the blob makes, and after the last one. */
async function momentsOf(start: World, session: string): Promise<World[]> {
  const moments: World[] = [];
  start.disk.gate = (effect) => {
    if (changesDisk(effect)) moments.push(start.killed());
    return undefined;
  };
  await start.actor("first").store.blobs(session).put(bytes);
  start.disk.gate = undefined;
  return [...moments, start.killed()];
}

test("a blob that was stored is on disk and whole, whatever somebody left who died while storing the same", async () => {
  const world = new World();
  const session = await world.actor("maker").create();
  world.disk.settle();
  const moments = await momentsOf(world, session);
  expect(moments.length).toBeGreaterThan(5);
  const states = moments.flatMap((moment) => [
    moment.killed(),
    moment.crashed(),
    // Its name came to the disk, and its bytes did not.
    moment.crashed((change) => (change.kind === "write" ? "dropped" : "kept")),
    moment.crashed((change) => (change.kind === "write" ? "garbage" : "kept")),
  ]);
  for (const state of states) {
    expect(await state.actor("second").store.blobs(session).put(bytes)).toEqual(reference);
    const after = state.crashed();
    expect(await after.actor("reader").store.blobs(session).get(reference)).toEqual(bytes);
  }
});

test("a blob that somebody else put there is made durable, and written anew where its bytes are others", async () => {
  for (const found of [bytes, new Uint8Array(1000).fill(8)]) {
    const world = new World();
    const actor = world.actor("maker");
    const session = await actor.create([new Uint8Array(3)]);
    const [other = ""] = world.disk.files().filter((name) => name.includes("/blobs/"));
    const path = other.slice(0, other.lastIndexOf("/") + 1) + reference.sha256;
    const file = await world.disk.open(path, "create");
    await file.write(found, 0);
    await file.close();
    await actor.store.blobs(session).put(bytes);
    expect(await world.crashed().actor("reader").store.blobs(session).get(reference)).toEqual(bytes);
  }
});

test("a blob with other bytes under its name is damage, and so is one that is missing", async () => {
  const world = new World();
  const actor = world.actor("maker");
  const session = await actor.create([bytes]);
  const [path = ""] = world.disk.files().filter((name) => name.endsWith(reference.sha256));
  world.disk.plant(path, new Uint8Array(1000).fill(8));
  const get = () => world.actor("reader").store.blobs(session).get(reference);
  await expect(get()).rejects.toMatchObject({ code: "log_damaged" });
  await world.disk.remove(path);
  await expect(get()).rejects.toMatchObject({ code: "log_damaged" });
});
