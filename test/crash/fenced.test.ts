import { describe, expect, test } from "vitest";
import { isHoldfastError } from "../../src/model/errors.ts";
import type { Actor } from "../store/actor.ts";
import { idOf } from "../store/builders.ts";
import type { Effect } from "./memory-effect.ts";
import { stateDirectory, World } from "./world.ts";

/** A session with a holder who believes that nobody else writes its log. */
async function held(): Promise<{ world: World; holder: Actor; folder: string; log: string }> {
  const world = new World();
  const holder = world.actor("holder");
  const session = await holder.create();
  await holder.hold();
  await holder.say("one");
  await holder.say("two");
  const folder = `${stateDirectory}/sessions/${session}`;
  return { world, holder, folder, log: `${folder}/log.jsonl` };
}

function bytesOf(world: World, path: string): Buffer {
  return Buffer.from(world.disk.peek(path) ?? "");
}

/** Puts another file with the same content in the place of one. */
async function replaceFile(world: World, path: string): Promise<void> {
  world.disk.plant(`${path}.other`, bytesOf(world, path));
  await world.disk.rename(`${path}.other`, path);
}

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  return await attempt.then(
    () => "none",
    (error: unknown) => (isHoldfastError(error) ? error.code : `untyped ${String(error)}`),
  );
}

/** What somebody else writes who takes the session as the world stands, where locks fail. */
async function linesOfNextHolder(world: World, log: string, session: string): Promise<Buffer> {
  const other = world.killed();
  const next = other.actor("next");
  await next.hold(session);
  await next.say("of the next one");
  return bytesOf(other, log).subarray(bytesOf(world, log).length);
}

describe("a holder writes nothing more, and is told so, where before a line", () => {
  const before: readonly [string, (place: Awaited<ReturnType<typeof held>>) => Promise<void>][] = [
    ["the log became shorter", async ({ world, log }) => cutLastLine(world, log)],
    ["the log was replaced", async ({ world, log }) => await replaceFile(world, log)],
    ["the lock was replaced", async ({ world, folder }) => await replaceFile(world, `${folder}/lease`)],
    [
      "somebody left a piece of a line",
      async ({ world, log }) =>
        world.disk.plant(log, Buffer.concat([bytesOf(world, log), Buffer.from('{"v":1,"s')])),
    ],
    [
      "another one has raised the epoch",
      async ({ world, log, holder }) => {
        const lines = await linesOfNextHolder(world, log, holder.session);
        world.disk.plant(log, Buffer.concat([bytesOf(world, log), lines]));
      },
    ],
  ];

  test.each(before)("%s", async (_name, change) => {
    const place = await held();
    await change(place);
    const there = bytesOf(place.world, place.log);
    const done = place.world.disk.effects.length;
    expect(await codeOf(place.holder.say("three"))).toBe("fenced");
    expect(await codeOf(place.holder.say("four"))).toBe("fenced");
    expect(bytesOf(place.world, place.log).equals(there)).toBe(true);
    // Nor a file that had its name before.
    const written = place.world.disk.effects.slice(done).filter(({ verb }) => verb === "write");
    expect(written).toEqual([]);
  });
});

function cutLastLine(world: World, log: string): void {
  const bytes = bytesOf(world, log);
  world.disk.plant(log, bytes.subarray(0, bytes.lastIndexOf(0x0a, bytes.length - 2) + 1));
}

/** Does something to the log right after a line was written, before it is synced. */
function afterTheWrite(world: World, log: string, change: () => void | Promise<void>): void {
  world.disk.gate = ({ verb, path }: Effect) => {
    if (verb !== "sync" || path !== log) return undefined;
    world.disk.gate = undefined;
    return Promise.resolve(change());
  };
}

describe("a line is not acknowledged, and its holder is one no more, where after it was written", () => {
  const after: readonly [string, (world: World, log: string, holder: Actor) => void | Promise<void>][] = [
    ["the log was replaced by one without it", (world, log) => replaceByOneWithout(world, log)],
    ["another line of its length stands in its place", (world, log) => changeLastText(world, log)],
    ["it is gone", (world, log) => cutLastLine(world, log)],
  ];

  test.each(after)("%s", async (_name, change) => {
    const { world, log, holder } = await held();
    afterTheWrite(world, log, () => change(world, log, holder));
    const code = await codeOf(holder.say("three"));
    expect(code).not.toBe("none");
    expect(code).not.toContain("untyped");
    expect(await codeOf(holder.say("four"))).toBe(code);
  });

  test("somebody else's line came before it", async () => {
    const { world, log, holder } = await held();
    const lines = await linesOfNextHolder(world, log, holder.session);
    const start = bytesOf(world, log);
    afterTheWrite(world, log, () => {
      const ours = bytesOf(world, log).subarray(start.length);
      world.disk.plant(log, Buffer.concat([start, lines, ours]));
    });
    expect(await codeOf(holder.say("three"))).toBe("fenced");
    expect(await codeOf(holder.say("four"))).toBe("fenced");
    // What it wrote is void, and closes nothing.
    await world.killed().actor("after").hold(holder.session);
  });
});

async function replaceByOneWithout(world: World, log: string): Promise<void> {
  await replaceFile(world, log);
  cutLastLine(world, log);
}

/** The last line with another text and, since it is checked, with another sum: so it does not verify any more. */
function changeLastText(world: World, log: string): void {
  const id = idOf("msg", "three");
  world.disk.plant(log, bytesOf(world, log).toString().replace(id, idOf("msg", "thirty")));
}
