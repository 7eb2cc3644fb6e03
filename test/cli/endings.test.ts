import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Place, sessionIn } from "./program.ts";

/**
 * Every ending of a run by everything that may be done next: the exit code, and what it adds to log and queue. There is
 * exactly one right way on from each, and no pair of which nobody knows what it does.
 */

const places: Place[] = [];
afterAll(() => {
  for (const place of places) place.remove();
});

const write = { calls: [{ tool: "write", args: { path: "a.txt", content: "a\n" } }] };
const sleep = { calls: [{ tool: "exec", args: { command: "echo here; sleep 300" } }] };
const done = { text: "Done." };
const more = [done, { text: "More." }, { text: "Even more." }];

/** A way to have a session end so; resolves when it has. */
type Ending = (place: Place) => Promise<void>;

const run = (place: Place, turns: readonly unknown[], ...flags: string[]): string[] => [
  "run",
  "--task",
  "First",
  "--model",
  place.cassette(...turns),
  "--allow-shell",
  ...flags,
];

async function signalled(place: Place, signal: NodeJS.Signals, turns: readonly unknown[]): Promise<void> {
  const running = place.start(run(place, turns, "--cancel-grace", "100ms"));
  await running.seen(/here\\n/);
  running.child.kill(signal);
  await running.ended;
}

async function killedAtApproval(place: Place): Promise<void> {
  const policy = join(place.folder, "policy.json");
  writeFileSync(policy, JSON.stringify({ approvals: { write: "ask" } }));
  const running = place.start(run(place, [write, ...more], "--policy", policy, "--approvals", "wait"));
  await running.seen(/approval\.asked/);
  running.child.kill("SIGKILL");
  await running.ended;
}

const endings: Record<string, Ending> = {
  completed: async (place) => void (await place.call(run(place, more))),
  "completed, one waits": async (place) => {
    await place.call(run(place, more));
    await place.call(["send", sessionOf(place), "Waiting"]);
  },
  failed: async (place) => void (await place.call(run(place, [write]))),
  canceled: (place) => signalled(place, "SIGINT", [sleep, ...more]),
  "canceled, one waits": async (place) => {
    await signalled(place, "SIGINT", [sleep, ...more]);
    await place.call(["send", sessionOf(place), "Waiting"]);
  },
  "suspended by a signal": (place) => signalled(place, "SIGTERM", [sleep, ...more]),
  "suspended by its provider": async (place) =>
    void (await place.call(run(place, [{ error: { status: 401, message: "no" } }, ...more]))),
  "interrupted in an answer": async (place) => {
    const long = { text: "one two three four five six seven eight nine ten", perTokenMs: 200 };
    const running = place.start(run(place, [long, ...more]));
    await running.seen(/live\.text/);
    running.child.kill("SIGKILL");
    await running.ended;
  },
  "interrupted while it waits for approval": killedAtApproval,
  input_required: async (place) => {
    const { session } = await place.killedInCommand();
    await place.call(["resume", session]);
  },
  abandoned: async (place) => {
    const { session } = await place.killedInCommand();
    await place.call(["resume", session]);
    await place.call(["run", "abandon", session, runOf(place)]);
  },
  damaged: async (place) => {
    await place.call(run(place, more));
    const path = place.log(sessionOf(place));
    writeFileSync(path, readFileSync(path, "utf8").replace('"run.started"', '"run.startes"'));
  },
};

interface Names {
  readonly place: Place;
  readonly session: string;
  readonly run: string;
  readonly operation: string;
}

const commands: Record<string, (names: Names) => string[]> = {
  resume: ({ session }) => ["resume", session],
  "resume --task": ({ session }) => ["resume", session, "--task", "Next"],
  send: ({ session }) => ["send", session, "Sent"],
  resolve: ({ session, run: id, operation }) => [
    "run",
    "resolve",
    session,
    id,
    operation,
    "--not-executed",
    "--by",
    "me",
  ],
  approve: ({ session, run: id, operation }) => ["run", "approve", session, id, operation, "--by", "me"],
  cancel: ({ session }) => ["run", "cancel", session],
  abandon: ({ session, run: id }) => ["run", "abandon", session, id],
  "run show": ({ session }) => ["run", "show", session],
  "queue list": ({ session }) => ["queue", "list", session],
  record: ({ session, place }) => ["session", "record", session, "--output", join(place.folder, "out.yaml")],
};

/** What says how the files are kept, and nothing of what happened. */
const unsaid = new Set(["epoch.raised", "lease.released", "row", "system.changed"]);

describe("from every ending there is one way on", () => {
  test("each ending by each next command", async () => {
    const blocks = await Promise.all(
      Object.entries(endings).map(async ([name, end]) => {
        const place = new Place();
        places.push(place);
        await end(place);
        const lines: string[] = [];
        for (const [command, words] of Object.entries(commands)) {
          lines.push(`  ${command.padEnd(13)} ${await cell(place, words)}`.trimEnd());
        }
        return `${name}\n${lines.join("\n")}`;
      }),
    );
    expect(`\n${blocks.join("\n")}\n`).toMatchInlineSnapshot(`
      "
      completed
        resume        0
        resume --task 0 message run.created run.started model.requested message model.answered run.ended | queue: delivery.admitted delivery.claimed delivery.acknowledged
        send          0  | queue: delivery.admitted
        resolve       8
        approve       8
        cancel        2
        abandon       2
        run show      0
        queue list    0
        record        0
      completed, one waits
        resume        0 message run.created run.started model.requested message model.answered run.ended | queue: delivery.claimed delivery.acknowledged
        resume --task 0 message run.created run.started model.requested message model.answered run.ended message run.created run.started model.requested message model.answered run.ended | queue: delivery.admitted delivery.claimed delivery.acknowledged delivery.claimed delivery.acknowledged
        send          0  | queue: delivery.admitted
        resolve       8
        approve       8
        cancel        2
        abandon       2
        run show      0
        queue list    0
        record        0
      failed
        resume        0
        resume --task 1 message run.created run.started model.requested model.failed run.ended | queue: delivery.admitted delivery.claimed delivery.acknowledged
        send          0  | queue: delivery.admitted
        resolve       2
        approve       2
        cancel        2
        abandon       2
        run show      0
        queue list    0
        record        0
      canceled
        resume        0
        resume --task 0 message run.created run.started model.requested message model.answered run.ended | queue: delivery.admitted delivery.claimed delivery.acknowledged
        send          0  | queue: delivery.admitted
        resolve       2
        approve       2
        cancel        0
        abandon       2
        run show      0
        queue list    0
        record        0
      canceled, one waits
        resume        0 message run.created run.started model.requested message model.answered run.ended | queue: delivery.claimed delivery.acknowledged
        resume --task 0 message run.created run.started model.requested message model.answered run.ended message run.created run.started model.requested message model.answered run.ended | queue: delivery.admitted delivery.claimed delivery.acknowledged delivery.claimed delivery.acknowledged
        send          0  | queue: delivery.admitted
        resolve       2
        approve       2
        cancel        0
        abandon       2
        run show      0
        queue list    0
        record        0
      suspended by a signal
        resume        0 run.started message op.settled model.requested message model.answered run.ended
        resume --task 2
        send          0  | queue: delivery.admitted
        resolve       2
        approve       2
        cancel        0 message op.settled run.ended
        abandon       0 message op.settled run.ended
        run show      0
        queue list    0
        record        0
      suspended by its provider
        resume        0 run.started model.requested message model.answered run.ended
        resume --task 2
        send          0  | queue: delivery.admitted
        resolve       8
        approve       8
        cancel        0 run.ended
        abandon       0 run.ended
        run show      0
        queue list    0
        record        0
      interrupted in an answer
        resume        0 message run.started model.requested message model.answered run.ended
        resume --task 2
        send          0  | queue: delivery.admitted
        resolve       8
        approve       8
        cancel        0 message run.ended
        abandon       0 message run.ended
        run show      0
        queue list    0
        record        0
      interrupted while it waits for approval
        resume        0 run.started approval.decided op.known message op.settled model.requested message model.answered run.ended
        resume --task 2
        send          0  | queue: delivery.admitted
        resolve       2
        approve       0 approval.decided
        cancel        0 op.known message op.settled run.ended
        abandon       0 op.known message op.settled run.ended
        run show      0
        queue list    0
        record        0
      input_required
        resume        3 run.input_required
        resume --task 2
        send          0  | queue: delivery.admitted
        resolve       0 op.resolved
        approve       2
        cancel        3
        abandon       0 run.ended
        run show      0
        queue list    0
        record        0
      abandoned
        resume        0
        resume --task 0 message run.created run.started model.requested message model.answered run.ended | queue: delivery.admitted delivery.claimed delivery.acknowledged
        send          0  | queue: delivery.admitted
        resolve       2
        approve       2
        cancel        2
        abandon       0
        run show      0
        queue list    0
        record        0
      damaged
        resume        7
        resume --task 7
        send          7
        resolve       7
        approve       7
        cancel        7
        abandon       7
        run show      0
        queue list    0
        record        7
      "
    `);
  }, 240_000);
});

/** Does it on a copy of the place; what came of it, in one line. */
async function cell(place: Place, words: (names: Names) => string[]): Promise<string> {
  const kept = join(place.folder, "kept");
  cpSync(place.state, kept, { recursive: true, preserveTimestamps: true });
  const session = sessionOf(place);
  const before = factsOf(place, session);
  const names = { place, session, run: runOf(place), operation: idOf(place, /op_[0-9a-z]{26}/g) };
  const ended = await place.call(words(names));
  const after = factsOf(place, session);
  // Put back as it was, in place: a copied state directory is another store.
  putBack(kept, place.state);
  rmSync(kept, { recursive: true });
  rmSync(join(place.folder, "out.yaml"), { force: true });
  const added = (["log", "queue"] as const).map((file) =>
    after[file]
      .slice(before[file].length)
      .filter((kind) => !unsaid.has(kind))
      .join(" "),
  );
  const [log = "", queue = ""] = added;
  return `${ended.code} ${log}${queue === "" ? "" : ` | queue: ${queue}`}`;
}

function putBack(kept: string, state: string): void {
  for (const name of readdirSync(state)) {
    if (name !== "state.json") rmSync(join(state, name), { recursive: true });
  }
  for (const name of readdirSync(kept)) {
    if (name !== "state.json") cpSync(join(kept, name), join(state, name), { recursive: true });
  }
}

function sessionOf(place: Place): string {
  return sessionIn(readdirSync(join(place.state, "sessions")).join(" "));
}

/** The last run that the log names; one that is nobody's where there is none. */
function runOf(place: Place): string {
  return idOf(place, /run_[0-9a-z]{26}/g);
}

function idOf(place: Place, pattern: RegExp): string {
  const ids = readFileSync(place.log(sessionOf(place)), "utf8").match(pattern);
  return ids?.at(-1) ?? `${pattern.source.split("_")[0]}_${"0".repeat(26)}`;
}

function factsOf(place: Place, session: string): { log: string[]; queue: string[] } {
  const folder = join(place.state, "sessions", session);
  const kinds = (file: string) =>
    statSync(join(folder, file), { throwIfNoEntry: false }) === undefined
      ? []
      : readFileSync(join(folder, file), "utf8")
          .split("\n")
          .flatMap((line) => [...line.matchAll(/\{"kind":"([a-z._]+)"/g)].map(([, kind = ""]) => kind));
  return { log: kinds("log.jsonl"), queue: kinds("queue.jsonl") };
}
