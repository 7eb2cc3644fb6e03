import type { AnyFact } from "../store/build-log.ts";
import { epochRaised, idOf, message } from "../store/builders.ts";
import { EngineScene } from "./engine-scene.ts";
import { factsIn, nextLine, resealed, withLine, withLogLines } from "./lines.ts";
import type { Scene } from "./scene.ts";
import { doubtful, everyTool } from "./scenes-of-runs.ts";
import { bytesOf, linesOf, type SessionFiles, withFiles } from "./session-files.ts";

/** Ends that deaths, disks, other writers and restored backups leave. */

const log = "log.jsonl";
const queue = "queue.jsonl";

/** A session that died in its second turn. */
async function died(): Promise<SessionFiles> {
  const scene = await EngineScene.begin(everyTool);
  return (await scene.deathAfter("op.started", 5)).files();
}

/** A session whose run is over and that was let go of. */
async function released(): Promise<SessionFiles> {
  const scene = await EngineScene.begin(doubtful);
  await scene.work();
  return scene.files();
}

const changed = (from: Promise<SessionFiles>, name: string, change: (bytes: Buffer) => Uint8Array | string) =>
  from.then((files) => withFiles(files, { [name]: change(bytesOf(files, name)) }));

/** A line of a writer who was overtaken: in the place of line `seq`, continuing the one before it. */
function staleLine(lines: readonly Buffer[], seq: number, facts: readonly AnyFact[]): Buffer {
  const before = Buffer.concat(lines.slice(0, seq));
  const session = /"ses":"(\w+)"/.exec(before.toString())?.[1] ?? "";
  return Buffer.from(nextLine(session, before, { facts }));
}

const ends: readonly Scene[] = [
  {
    name: "torn-piece",
    what: "A log that ends in half a line.",
    make: () => changed(died(), log, (bytes) => bytes.subarray(0, bytes.length - 200)),
  },
  {
    name: "torn-newline",
    what: "A log whose last line lacks its newline.",
    make: () => changed(died(), log, (bytes) => bytes.subarray(0, -1)),
  },
  {
    name: "torn-garbage",
    what: "A log behind which a power cut left zeros, and bytes that are no text.",
    make: () =>
      changed(died(), log, (bytes) =>
        Buffer.concat([bytes, Buffer.alloc(64), Buffer.of(0xff, 0xc0, 0x0a, 0x7b)]),
      ),
  },
  {
    name: "torn-beginning-of-a-line",
    what: "A log behind which stands a newline alone, then the beginning of a line.",
    make: () => changed(died(), log, (bytes) => Buffer.concat([bytes, Buffer.from('\n{"v":1,"ses":"ses_')])),
  },
  {
    name: "torn-void-newline",
    what: "A log that ends in a stale writer's line without its newline.",
    make: () =>
      died().then((files) =>
        withLogLines(files, (lines) => [
          ...lines,
          staleLine(lines, lines.length - 1, [message("stale")]).subarray(0, -1),
        ]),
      ),
  },
  {
    name: "void-lines",
    what: "Lines of stale writers of two ages, in the middle and at the end.",
    make: () =>
      died().then((files) =>
        withLogLines(files, (lines) => {
          const old = staleLine(lines, 4, [message("stale")]);
          const raise = staleLine(lines, lines.length - 1, [epochRaised()]);
          const again = lines[3] ?? Buffer.alloc(0);
          return [...lines.slice(0, 9), old, ...lines.slice(9), raise, old, again];
        }),
      ),
  },
  {
    name: "void-line-then-torn",
    what: "A stale writer's line at the end, and half of another one behind it.",
    make: () =>
      died().then((files) =>
        withLogLines(files, (lines) => {
          const stale = staleLine(lines, lines.length - 1, [message("stale")]);
          return [...lines, stale, stale.subarray(0, 300)];
        }),
      ),
  },
  {
    name: "taken-over",
    what: "A holder of a higher epoch, and a line of the one before him behind it.",
    make: () =>
      died().then((files) => {
        const before = linesOf(bytesOf(files, log));
        const raised = withLine(files, log, [epochRaised()]);
        const stale = staleLine(before, before.length, [message("too late")]);
        return withLogLines(raised, (lines) => [...lines, stale]);
      }),
  },
  {
    name: "rolled-back",
    what: "A log of which a clean end is on record, without its last two lines.",
    make: () => released().then((files) => withLogLines(files, (lines) => lines.slice(0, -2))),
  },
  {
    name: "rolled-back-to-line-0",
    what: "The same, with nothing left but line 0, and a queue that knows more.",
    make: () => released().then((files) => withLogLines(files, (lines) => lines.slice(0, 1))),
  },
  {
    name: "rolled-back-and-gone-on",
    what: "A log that was rolled back and then written by a holder who did not see it.",
    make: () =>
      released().then((files) =>
        withLine(
          withLogLines(files, (lines) => lines.slice(0, -3)),
          log,
          [epochRaised()],
        ),
      ),
  },
  {
    name: "rollback-accepted",
    what: "A person accepted that the log is shorter than it was known to be; its message is blocked.",
    make: async () => {
      const scene = await EngineScene.begin(doubtful);
      await scene.work();
      const path = `/state/sessions/${scene.session}/${log}`;
      const lines = linesOf(scene.world.disk.peek(path) ?? new Uint8Array());
      scene.world.disk.plant(path, Buffer.concat(lines.slice(0, 2)));
      const next = scene.killed();
      await next.work({ acceptRollback: true });
      return next.files();
    },
  },
  {
    name: "rotted-last-line",
    what: "A byte of the last line changed after a clean end: nobody may cut it.",
    make: () => changed(released(), log, (bytes) => flipped(bytes, bytes.length - 100)),
  },
  {
    name: "rotted-middle",
    what: "A byte in the middle of the log changed.",
    make: () => changed(died(), log, (bytes) => flipped(bytes, bytes.length >> 1)),
  },
  {
    name: "rotted-line-0",
    what: "A byte of line 0 changed.",
    make: () => changed(died(), log, (bytes) => flipped(bytes, 300)),
  },
  {
    name: "missing-log",
    what: "A session without its log.",
    make: () => died().then((files) => withFiles(files, { [log]: undefined })),
  },
  {
    name: "empty-log",
    what: "A session whose log is empty.",
    make: () => died().then((files) => withFiles(files, { [log]: "" })),
  },
  {
    name: "head-torn",
    what: "A record of the log's end that is torn says nothing.",
    make: () =>
      changed(released(), "head", (bytes) => Buffer.concat([bytes.subarray(0, 100), Buffer.alloc(412)])),
  },
  {
    name: "head-missing",
    what: "A log that lost its last lines, without the record of its end: nobody can know.",
    make: () =>
      released().then((files) =>
        withFiles(
          withLogLines(files, (lines) => lines.slice(0, -2)),
          { head: undefined },
        ),
      ),
  },
];

const strange: readonly Scene[] = [
  {
    name: "newer-format",
    what: "A line of a newer format, which can be read up to and not appended to.",
    make: () =>
      died().then((files) =>
        withLogLines(files, (lines) => {
          const next = Buffer.from(
            nextLine(files.session, Buffer.concat(lines), { facts: [message("new")] }),
          );
          return [...lines, resealed(next, (text) => text.replace('{"v":1', '{"v":2'))];
        }),
      ),
  },
  {
    name: "unknown-kinds",
    what: "Facts of kinds that nobody knows, with members of any name.",
    make: () =>
      died().then((files) => {
        const opaque = JSON.parse(
          '[{"kind":"goal.set","sum":"x","prev":"y","__proto__":{"a":1},"constructor":1,"seq":7},{"kind":"thé.other\\u2028"}]',
        ) as AnyFact[];
        return withLine(withLine(files, log, opaque), log, [{ kind: "team.joined", at: [[[]]] }]);
      }),
  },
  {
    name: "equal-keys",
    what: "Facts with a member twice: the last one counts.",
    make: () =>
      died().then((files) =>
        withLogLines(files, (lines) => {
          const facts = [{ kind: "goal.set", value: "first" }];
          const next = Buffer.from(nextLine(files.session, Buffer.concat(lines), { facts }));
          return [
            ...lines,
            resealed(next, (text) => text.replace('"value":"first"', '"value":"first","value": "last"')),
          ];
        }),
      ),
  },
  {
    name: "spaces-in-facts",
    what: "Facts written with spaces and escapes.",
    make: () =>
      died().then((files) =>
        withLogLines(files, (lines) => {
          const facts = [message("spaces")];
          const next = Buffer.from(nextLine(files.session, Buffer.concat(lines), { facts }));
          return [
            ...lines,
            resealed(next, (text) => text.replace('[{"kind":', '[ {\\t"kind" :'.replace("\\t", "\t"))),
          ];
        }),
      ),
  },
  {
    name: "foreign-line",
    what: "A line of another session.",
    make: () =>
      died().then((files) =>
        withLogLines(files, (lines) => [
          ...lines,
          nextLine(idOf("ses", "another"), Buffer.concat(lines), { facts: [message("foreign")] }),
        ]),
      ),
  },
  {
    name: "message-twice",
    what: "A message that stands in the log twice, which no writer of ours does.",
    make: () =>
      died().then((files) => withLine(withLine(files, log, [message("twice")]), log, [message("twice")])),
  },
  {
    name: "wrong-counter",
    what: "A line that counts one record too many.",
    make: () => died().then((files) => withLine(files, log, [message("counted")], { rec: 99 })),
  },
  {
    name: "wrong-row-offset",
    what: "A line that points at a row where none is.",
    make: () => died().then((files) => withLine(files, log, [message("pointed")], { row: 1 })),
  },
  {
    name: "impossible-fact",
    what: "An outcome of an operation that nobody asked for.",
    make: () =>
      died().then((files) =>
        withLine(files, log, [{ kind: "op.known", operation: "op_nobody", outcome: "ok" }]),
      ),
  },
  {
    name: "epoch-not-raised",
    what: "A line of a higher epoch that does not raise it.",
    make: () => died().then((files) => withLine(files, log, [message("higher")], { epoch: 9 })),
  },
  {
    name: "rewound",
    what: "A conversation that was rewound twice, and gone on with.",
    make: () =>
      released().then((files) => {
        const last = linesOf(bytesOf(files, log)).length;
        const seqOf = (role: string) =>
          linesOf(bytesOf(files, log)).findIndex((line) =>
            factsIn(line).some((fact) => fact.kind === "message" && fact["role"] === role),
          );
        const back = (seq: number): AnyFact[] => [{ kind: "rewound", session: files.session, seq }];
        const one = withLine(files, log, back(seqOf("user")), { rev: 5, msgs: 1 });
        const undone = withLine(one, log, back(last - 1), { rev: 6, msgs: 4 });
        return withLine(undone, log, [message("on from there")]);
      }),
  },
  {
    name: "blob-missing",
    what: "A message whose image is not beside the log.",
    make: () =>
      died().then((files) => {
        const said = message("a picture");
        said.parts.push({
          type: "image",
          blob: { sha256: "ab".repeat(32), bytes: 9 },
          mediaType: "image/png",
        });
        return withLine(files, log, [said]);
      }),
  },
];

const queues: readonly Scene[] = [
  {
    name: "queue-torn",
    what: "A queue that ends in half a line.",
    make: () => changed(released(), queue, (bytes) => bytes.subarray(0, -50)),
  },
  {
    name: "queue-newline",
    what: "A queue whose last line lacks its newline.",
    make: () => changed(released(), queue, (bytes) => bytes.subarray(0, -1)),
  },
  {
    name: "queue-rotted",
    what: "A byte in the first line of the queue changed.",
    make: () => changed(released(), queue, (bytes) => flipped(bytes, 200)),
  },
  {
    name: "queue-missing",
    what: "A session without a queue.",
    make: () => released().then((files) => withFiles(files, { [queue]: undefined })),
  },
  {
    name: "queue-with-a-log-fact",
    what: "A queue with a message in it.",
    make: () => released().then((files) => withLine(files, queue, [message("lost its way")])),
  },
  {
    name: "log-with-a-queue-fact",
    what: "A log with a fact of a queue in it.",
    make: () =>
      died().then((files) => withLine(files, log, [{ kind: "delivery.released", delivery: "dlv_1" }])),
  },
  {
    name: "queue-impossible",
    what: "A queue in which a delivery is claimed that nobody admitted.",
    make: () =>
      released().then((files) =>
        withLine(files, queue, [{ kind: "delivery.claimed", delivery: "dlv_nobody", logSeq: 4 }]),
      ),
  },
  {
    name: "queue-ahead-of-its-log",
    what: "A log that was restored from a backup beside a queue that was not: an acknowledged message is gone.",
    make: () =>
      released().then((files) =>
        withFiles(
          withLogLines(files, (lines) => lines.slice(0, 2)),
          { head: undefined },
        ),
      ),
  },
];

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** What happens to files. */
export const scenesOfFiles: readonly Scene[] = [...ends, ...strange, ...queues];
