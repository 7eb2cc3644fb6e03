import { expect, test } from "vitest";
import { stateDirectory, World } from "../crash/world.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import type { Fact } from "../../src/model/facts.ts";
import { admitted, created, epochRaised, idOf, message, row } from "./builders.ts";

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  return await attempt.then(
    () => "none",
    (error: unknown) => (isHoldfastError(error) ? error.code : `untyped ${String(error)}`),
  );
}

const refused: readonly [string, readonly Fact[]][] = [
  ["nothing", []],
  ["two messages", [message("one more"), message("and another")]],
  ["a message behind something else", [row("a row"), message("one more")]],
  ["a beginning of a session", [created, row("a row")]],
  ["a fact of a queue", [admitted("one more")]],
  ["an epoch that is its own", [epochRaised()]],
  ["a message that is no message", [{ ...message("one more"), role: "nobody" } as unknown as Fact]],
  ["a rewind to a line that is not there", [{ kind: "rewound", session: idOf("ses", "none"), seq: 1 }]],
  ["a text of more than a line takes", [message("x".repeat(1_100_000))]],
];

test.each(refused)("a line that holds %s is not written, and the next one is", async (_name, facts) => {
  const world = new World();
  const actor = world.actor("holder");
  const session = await actor.create();
  await actor.hold();
  await actor.say("one");
  const log = `${stateDirectory}/sessions/${session}/log.jsonl`;
  const before = world.disk.peek(log);
  expect(await codeOf(actor.held.append(facts))).not.toBe("none");
  expect(world.disk.peek(log)).toEqual(before);
  const isOver = (await codeOf(actor.say("two"))) === "fenced";
  expect(isOver).toBe(facts[0]?.kind === "epoch.raised");
  await world.killed().actor("next").hold(session);
});
