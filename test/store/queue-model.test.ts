import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isHoldfastError } from "../../src/model/errors.ts";
import type { Effect } from "../crash/memory-disk.ts";
import { World } from "../crash/world.ts";
import { type Actor, textsOf } from "./actor.ts";
import { type Name, ReferenceQueue, type SeenLine } from "./reference-queue.ts";

/** What happens to a process in the middle of an admission, at its n-th effect on the queue's file. */
type Mishap = "dies" | "write is short" | "sync fails";

type Command =
  | { readonly do: "admit" | "take" | "release" | "kill"; readonly by: Name }
  | { readonly do: "mishap"; readonly by: Name; readonly mishap: Mishap; readonly at: number }
  | { readonly do: "admit both" }
  | { readonly do: "power cut"; readonly survives: number };

const by = fc.constantFrom<Name>("a", "b");
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("admit" as const), by }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("take" as const), by }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("release" as const), by }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("kill" as const), by }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("mishap" as const),
      by,
      mishap: fc.constantFrom<Mishap>("dies", "write is short", "sync fails"),
      at: fc.nat(2),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "admit both" as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("power cut" as const), survives: fc.nat(3) }) },
);

/** The real thing in memory, and the reference beside it. */
class Pair {
  readonly reference = new ReferenceQueue();
  readonly session: string;
  #world: World;
  #actors: Record<Name, Actor>;
  #count = 0;

  private constructor(world: World, session: string) {
    this.#world = world;
    this.session = session;
    this.#actors = { a: world.actor("a"), b: world.actor("b") };
  }

  static async open(): Promise<Pair> {
    const world = new World();
    const session = await world.actor("before").create();
    world.disk.settle();
    return new Pair(world.killed(), session);
  }

  async run(command: Command): Promise<void> {
    switch (command.do) {
      case "admit":
        return await this.#admit(command.by);
      case "take":
        return await this.#take(command.by);
      case "release":
        if (this.reference.holder === command.by) await this.#actors[command.by].release();
        return this.reference.leave(command.by);
      case "kill":
        return this.#kill(command.by);
      case "mishap":
        return await this.#mishap(command.by, command);
      case "admit both":
        return await this.#admitBoth();
      case "power cut":
        return this.#powerCut(command.survives);
    }
  }

  async #admit(name: Name): Promise<void> {
    const text = this.#newText(name);
    await this.#actors[name].admit(text, this.session);
    this.reference.acknowledge(text, await this.seen());
  }

  async #take(name: Name): Promise<void> {
    const expected = this.reference.holder === undefined ? "none" : "busy";
    expect(await codeOf(this.#actors[name].hold(this.session))).toBe(expected);
    if (expected === "none") this.reference.take(name);
  }

  #kill(name: Name): void {
    this.#actors[name].die();
    this.#actors[name] = this.#world.actor(name);
    this.reference.leave(name);
  }

  async #mishap(name: Name, { mishap, at }: { mishap: Mishap; at: number }): Promise<void> {
    const text = this.#newText(name);
    let count = 0;
    const isIt = ({ verb, path, process }: Effect): boolean =>
      process === name &&
      path.endsWith("queue.jsonl") &&
      (verb === "write" || verb === "sync") &&
      count++ === at;
    const died = new Promise<string>((resolve) => {
      if (mishap !== "dies") return;
      this.#world.disk.gate = (effect) => {
        if (!isIt(effect)) return undefined;
        resolve("died");
        return new Promise(() => undefined);
      };
    });
    if (mishap !== "dies") {
      this.#world.disk.fault = (effect) => {
        if (!isIt(effect)) return undefined;
        if (effect.verb === "sync") return mishap === "sync fails" ? { code: "EIO" } : undefined;
        return mishap === "write is short" ? { short: (effect.bytes ?? 0) >> 1 } : undefined;
      };
    }
    const code = await Promise.race([codeOf(this.#actors[name].admit(text, this.session)), died]);
    this.#world.disk.gate = this.#world.disk.fault = undefined;
    if (code === "none") return this.reference.acknowledge(text, await this.seen());
    expect(["died", "io_error", "disk_full", "durability_unknown"]).toContain(code);
    if (code === "died") this.#kill(name);
    // A line of somebody dead that could not be synced is the one thing that only another boot settles.
    if (code === "durability_unknown") this.#powerCut(0);
  }

  async #admitBoth(): Promise<void> {
    const texts: Record<Name, string> = { a: this.#newText("a"), b: this.#newText("b") };
    const admit = (name: Name) => this.#actors[name].admit(texts[name], this.session);
    const places = (await Promise.all([admit("a"), admit("b")])).map(({ commit }) => commit.seq);
    const seen = await this.seen();
    const isInOrder = (places[0] ?? 0) < (places[1] ?? 0);
    if (!isInOrder) this.reference.swapLast();
    for (const name of isInOrder ? (["a", "b"] as const) : (["b", "a"] as const)) {
      this.reference.acknowledge(texts[name], seen);
    }
  }

  #powerCut(survives: number): void {
    const world = this.#world.crashed((change, index) => {
      if (survives === 3) return change.kind === "write" ? "garbage" : "kept";
      return survives === 2 || (survives === 1 && index % 2 === 0) ? "kept" : "dropped";
    });
    this.#world = world;
    this.#actors = { a: world.actor("a"), b: world.actor("b") };
    this.reference.powerCut();
  }

  #newText(name: Name): string {
    const text = `delivery ${this.#count++}`;
    this.reference.attempt(name, text);
    return text;
  }

  /** The queue as any reader sees it, without a lock. */
  async seen(): Promise<SeenLine[]> {
    const lines: SeenLine[] = [];
    await this.#world.actor("reader").store.readQueue(this.session, ({ facts, epoch }) => {
      const raises = facts[0]?.kind === "epoch.raised";
      lines.push(...textsOf(facts).map((text) => ({ text, epoch, raises })));
    });
    return lines;
  }
}

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  return await attempt.then(
    () => "none",
    (error: unknown) => {
      if (isHoldfastError(error)) return error.code;
      throw error;
    },
  );
}

describe("a queue that two processes use, die on and fail on", () => {
  test("is always the list that a reference of a hundred lines says it is", async () => {
    let steps = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 30, size: "max" }), async (commands) => {
        const pair = await Pair.open();
        for (const one of commands) {
          await pair.run(one);
          const seen = await pair.seen();
          pair.reference.decide(seen);
          expect(seen).toEqual(pair.reference.lines);
          steps++;
        }
      }),
      { numRuns: Number(process.env["HOLDFAST_RUNS"] ?? 300) },
    );
    console.log(`${steps} steps compared`);
  });
});
