import { cancelRun, send, StopSwitch } from "../../src/engine/index.ts";
import { encodeHead } from "../../src/store/head-file.ts";
import { readEnvelope } from "../../src/store/line.ts";
import type { Commit } from "../../src/model/commit.ts";
import type { Fact } from "../../src/model/facts.ts";
import type { AnyFact } from "../store/build-log.ts";
import { epochRaised, message } from "../store/builders.ts";
import { changesDisk } from "../crash/memory-disk.ts";
import { EngineScene, type Beginning, type Working } from "./engine-scene.ts";
import { nextLine, withLine, withLogLines } from "./lines.ts";
import type { Scene } from "./scene.ts";
import { doubtful, everyTool } from "./scenes-of-runs.ts";
import { bytesOf, linesOf, type SessionFiles, withFiles } from "./session-files.ts";

/** Logs that faults of earlier versions left, or were misread by: one for each fault that was fixed. */

const log = "log.jsonl";
const queue = "queue.jsonl";
const done = { text: "Done." };

async function died(): Promise<SessionFiles> {
  return (await (await EngineScene.begin(everyTool)).deathAfter("op.known", 4)).files();
}

async function released(): Promise<SessionFiles> {
  const scene = await EngineScene.begin(doubtful);
  await scene.work();
  return scene.files();
}

/** The session with a last line that lacks its newline. */
function withPiece(files: SessionFiles, facts: readonly AnyFact[], lies: Partial<Commit> = {}): SessionFiles {
  const whole = withLine(files, log, facts, lies);
  return withFiles(whole, { [log]: bytesOf(whole, log).subarray(0, -1) });
}

const ofReading: readonly Scene[] = [
  {
    name: "fault-rotted-newline",
    what: "The newline between the last two lines rotted: a whole line stands right behind it, and nothing is cut.",
    make: () =>
      died().then((files) =>
        withLogLines(files, (lines) => {
          const [last = Buffer.alloc(0), before = Buffer.alloc(0)] = lines.toReversed();
          return [...lines.slice(0, -2), before.subarray(0, -1), Buffer.of(0x0b), last];
        }),
      ),
  },
  {
    name: "fault-uncounted-last-line",
    what: "A last line without its newline that counts wrongly: it was once completed, and closed the log for ever.",
    make: () => died().then((files) => withPiece(files, [message("piece")], { rec: 1 })),
  },
  {
    name: "fault-impossible-last-line",
    what: "A last line without its newline whose facts cannot be true.",
    make: () =>
      died().then((files) => withPiece(files, [{ kind: "op.known", operation: "op_nobody", outcome: "ok" }])),
  },
  {
    name: "fault-uncounted-queue",
    what: "A line of a queue that counts records.",
    make: () =>
      released().then((files) =>
        withLine(files, queue, [{ kind: "request.made", request: "req_1", verb: "x", args: {}, by: "a" }], {
          rec: 1,
        }),
      ),
  },
  {
    name: "fault-queue-begins-as-a-log",
    what: "A queue whose first line holds a fact of a log.",
    make: () =>
      died().then((files) => {
        const line = nextLine(files.session, new Uint8Array(), { facts: [{ kind: "lease.released" }] });
        return withFiles(files, { [queue]: line });
      }),
  },
  {
    name: "fault-line-again",
    what: "The last line and the one before it stand twice, as copies that a reader from behind meets first.",
    make: () => died().then((files) => withLogLines(files, (lines) => [...lines, ...lines.slice(-2)])),
  },
  {
    name: "fault-two-of-one-epoch",
    what: "Two holders raised the same epoch: the second one is void, and so is what it wrote.",
    make: () =>
      died().then((files) => {
        const one = withLine(files, log, [{ ...epochRaised(), nonce: "one" }]);
        const other = withLine(files, log, [{ ...epochRaised(), nonce: "other" }]);
        const further = withLine(one, log, [message("of the first one")]);
        return withLogLines(further, (lines) => [...lines, ...linesOf(bytesOf(other, log)).slice(-1)]);
      }),
  },
  {
    name: "fault-note-of-another-boot",
    what: "The record of a clean end with a note of an earlier boot that the queue's end is unsure: nobody is refused.",
    make: () =>
      released().then((files) => {
        const last = linesOf(bytesOf(files, log)).at(-1) ?? Buffer.alloc(0);
        const { seq = 0, sum = "", epoch = 0 } = readEnvelope(last) ?? {};
        const place = {
          v: 1,
          ses: files.session,
          seq,
          sum,
          bytes: bytesOf(files, log).length,
          epoch,
        } as const;
        const unsure = [{ file: "queue", size: 100, boot: "an earlier boot", mount: "1" }] as const;
        return withFiles(files, { head: encodeHead({ ...place, unsure }) });
      }),
  },
];

async function after(beginning: Beginning, options?: Working): Promise<SessionFiles> {
  const scene = await EngineScene.begin(beginning);
  await scene.work(options);
  return scene.files();
}

const longAnswer: Beginning = {
  turns: [{ reasoning: "Let me think.", text: "Häuser und Fische 🐟 und 日本 und mehr.", perTokenMs: 1 }],
};

/** What becomes of a death in an answer when what was kept of it is this. */
async function cutAnswer(change: (live: Buffer) => Uint8Array): Promise<SessionFiles> {
  const scene = await EngineScene.begin(longAnswer);
  const deaths = await scene.deaths(({ verb, path }) => verb === "write" && path.endsWith("/live.jsonl"));
  const death = deaths.at(-1);
  if (death === undefined) throw new Error("the answer was not kept as it came");
  const path = `/state/sessions/${death.session}/live.jsonl`;
  death.world.disk.plant(path, change(Buffer.from(death.world.disk.peek(path) ?? [])));
  const next = death.killed();
  await next.work();
  return next.files();
}

const ofRuns: readonly Scene[] = [
  {
    name: "fault-torn-cut-answer",
    what: "What was kept of a cut answer ended within a character: what was whole of it is the interrupted message.",
    make: () => cutAnswer((live) => live.subarray(0, live.lastIndexOf(0xf0) + 2)),
  },
  {
    name: "fault-cut-answer-of-another-call",
    what: "What was kept was of another call: nothing of it is taken.",
    make: () => cutAnswer((live) => Buffer.from(live.toString().replace(/"seq":\d+/, '"seq":1'))),
  },
  {
    name: "fault-task-given-again",
    what: "A task whose process died right after it was admitted, and that was given again: it waits once.",
    make: async () => {
      const scene = await EngineScene.begin({ turns: [done, done] });
      await scene.work();
      let isAdmitted = false;
      const deaths = await scene.deaths(
        (effect) => {
          if (effect.verb === "sync" && effect.path.endsWith(queue)) isAdmitted = true;
          return isAdmitted && changesDisk(effect);
        },
        { task: "And then?" },
      );
      const [, death] = deaths;
      if (death === undefined) throw new Error("it was not admitted");
      await death.work({ task: "And then?" });
      return death.files();
    },
  },
  {
    name: "fault-time-of-a-dead-attempt",
    what: "A run that died after five seconds and was canceled from outside: the five seconds count.",
    make: async () => {
      const scene = await EngineScene.begin(everyTool);
      const onFact = (fact: Fact): void => {
        if (fact.kind === "model.requested") scene.world.clock.advance(2500);
      };
      const death = await scene.deathAfter("op.started", 5, { onFact });
      await cancelRun(death.world.engine(), { session: death.session, by: "ada" });
      return death.files();
    },
  },
  {
    name: "fault-time-over-after-a-failed-call",
    what: "A run whose time was over while its provider was waited for: it ended by its budget.",
    make: () =>
      after({
        turns: Array.from({ length: 4 }, () => ({ error: { status: 503, message: "later" } })),
        policy: { maxWallClockMs: 300 },
      }),
  },
  {
    name: "fault-permission-taken-back",
    what: "What a person had allowed, and a policy permitted no more before it started, was denied.",
    make: async () => {
      const scene = await EngineScene.begin({ ...everyTool, policy: { approvals: { delete: "ask" } } });
      const answer = { decision: "allow", remember: true } as const;
      const asked: Working = { approvals: { kind: "prompt", ask: async () => answer } };
      const death = await scene.deathAfter("approval.decided", 1, asked);
      await death.work({ policy: { deniedCapabilities: ["delete"] }, acceptPolicy: true });
      return death.files();
    },
  },
  {
    name: "fault-good-bye-refused",
    what: "A disk that took no good-bye after a run had completed: the run stays completed.",
    make: async () => {
      const scene = await EngineScene.begin({ turns: [done] });
      let isOver = false;
      scene.world.disk.fault = (effect) => (isOver && changesDisk(effect) ? { code: "ENOSPC" } : undefined);
      const onFact = (fact: Fact): void => {
        if (fact.kind === "run.ended") isOver = true;
      };
      await scene.work({ onFact });
      scene.world.disk.fault = undefined;
      return scene.killed().files();
    },
  },
  {
    name: "fault-delivery-without-its-text",
    what: "A message whose text is not beside the log any more was blocked, instead of failing each resume.",
    make: async () => {
      const scene = await EngineScene.begin({ turns: [done, done] });
      await send(scene.world.engine(), { selector: scene.session, text: "t".repeat(33_000) });
      const { disk } = scene.world;
      const blobs = disk
        .files()
        .filter((path) => path.includes("/blobs/") && disk.peek(path)?.length === 33_000);
      for (const path of blobs) await disk.remove(path);
      await scene.work();
      return scene.files();
    },
  },
  {
    name: "fault-resumed-after-a-signal",
    what: "A run that a signal suspended while its tools ran, and that was gone on with.",
    make: async () => {
      const scene = await EngineScene.begin(everyTool);
      const stops = new StopSwitch();
      const onFact = (fact: Fact): void => {
        if (fact.kind === "op.started") stops.request({ kind: "suspend", reason: "signal" });
      };
      await scene.work({ stops, onFact });
      await scene.work();
      return scene.files();
    },
  },
  {
    name: "fault-killed-repair",
    what: "A torn log whose recovery died after it had cut, before it said so.",
    make: async () => {
      const death = await (await EngineScene.begin(everyTool)).deathAfter("op.settled");
      const path = `/state/sessions/${death.session}/${log}`;
      death.world.disk.plant(path, Buffer.from(death.world.disk.peek(path) ?? []).subarray(0, -60));
      const deaths = await death
        .killed()
        .deaths(({ verb, path: at }) => verb === "write" && at.endsWith(log));
      const [first] = deaths;
      if (first === undefined) throw new Error("nothing was written");
      return first.files();
    },
  },
];

/** One for each fault that was fixed. */
export const scenesOfFaults: readonly Scene[] = [...ofReading, ...ofRuns];
