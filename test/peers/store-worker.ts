/**
 * A process that works on a store: the steps that it is started with, or those that it is told, one JSON value a line.
 * Each line of its output is `{begins: step}`, `{done: step, value}`, `{refused: step, code}`, at once, so that what was
 * said before a SIGKILL was said.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { nodeHost } from "../../src/host/index.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import { Actor, Oracle } from "../store/actor.ts";
import { changingHost } from "./changing-host.ts";
import { Changes, type Mishap } from "./mishap.ts";

/** What it does; each but `open` and `expect` takes the session of the last `open`, or `session`. */
export type StoreStep =
  /** Goes on with the one session that is there, or makes it; its value is the session's id. */
  | { readonly do: "open"; readonly directory?: string; readonly session?: string }
  | { readonly do: "hold" }
  | { readonly do: "say"; readonly text: string; readonly blobBytes?: number }
  | { readonly do: "admit"; readonly text: string }
  | { readonly do: "release" | "abandon" }
  | { readonly do: "repair" }
  /** The mishap that befalls it, counted from the next change on. */
  | { readonly do: "expect"; readonly mishap?: Mishap }
  /** Its value is the count of changes since the last `expect`. */
  | { readonly do: "count" };

export interface StoreWorkerOptions {
  readonly directory: string;
  readonly mishap?: Mishap;
  readonly steps?: readonly StoreStep[];
  /** Does the steps again and again, with a number behind each text. */
  readonly rounds?: number;
}

const options = JSON.parse(process.argv[2] ?? "{}") as StoreWorkerOptions;
const changes = new Changes(options.mishap);
const host = changingHost(nodeHost(), changes.before);
const newActor = (directory: string): Actor => new Actor(host, { directory, oracle: new Oracle() });
let actor = newActor(options.directory);

function say(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

async function open({ directory, session }: StoreStep & { do: "open" }): Promise<string> {
  if (directory !== undefined) actor = newActor(directory);
  const found = session ?? (await actor.store.ids())[0];
  if (found === undefined) return actor.create();
  actor.session = found;
  return found;
}

/** Steps that only a holder does. */
const needsHold: readonly StoreStep["do"][] = ["say", "release"];

async function act(step: StoreStep): Promise<unknown> {
  switch (step.do) {
    case "open":
      return open(step);
    case "hold":
      return (await actor.hold()).epoch;
    case "say": {
      const blob = step.blobBytes === undefined ? undefined : new Uint8Array(step.blobBytes).fill(7);
      return (await actor.say(step.text, blob)).commit.seq;
    }
    case "admit":
      return (await actor.admit(step.text)).commit.seq;
    case "release":
      return actor.release();
    case "abandon":
      return actor.abandon();
    case "repair":
      return (await actor.repair(actor.session)).length;
    case "expect":
      return changes.expect(step.mishap);
    case "count":
      return changes.count;
  }
}

async function perform(step: StoreStep): Promise<void> {
  if (needsHold.includes(step.do) && !actor.isHolder) {
    say({ skipped: step });
    return;
  }
  say({ begins: step });
  try {
    const value = await act(step);
    say({ done: step, value });
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    say({ refused: step, code: error.code, message: error.message });
  }
}

async function obey(): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    await perform(JSON.parse(line) as StoreStep);
  }
}

async function follow(steps: readonly StoreStep[], rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const step of steps) {
      await perform(rounds > 1 && "text" in step ? { ...step, text: `${step.text} ${round}` } : step);
    }
  }
  say({ changes: changes.count });
}

const { steps, rounds = 1 } = options;
// Not awaited here: as a script of the older kind it starts sooner.
void (steps === undefined ? obey() : follow(steps, rounds));
