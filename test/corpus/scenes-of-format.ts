import { sha256 } from "../../src/host/index.ts";
import type { Fact, FactKind } from "../../src/model/facts.ts";
import { examples } from "../model/fact-examples.ts";
import { type AnyFact, LogBuilder } from "../store/build-log.ts";
import { epochRaised, idOf, message, modelRequested, row } from "../store/builders.ts";
import { EngineScene } from "./engine-scene.ts";
import { withLine } from "./lines.ts";
import type { Scene } from "./scene.ts";
import { bytesOf, type SessionFiles, withFiles } from "./session-files.ts";

/** All that the format can say: every kind of fact, every kind of part, branches, and texts that invite mistakes. */

const payload = JSON.stringify({ path: "a" });
const blob = { sha256: sha256(payload), bytes: payload.length };

/** A fact of a kind with each of its members, whose payloads are there. */
function of(kind: FactKind, members: Readonly<Record<string, unknown>> = {}): AnyFact {
  const text = JSON.stringify({ ...examples[kind], ...members });
  return JSON.parse(text, (_, value: unknown) => (isBlob(value) ? blob : value)) as AnyFact;
}

function isBlob(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).join() === "sha256,bytes";
}

const classes = ["pure", "checked", "supervised", "keyed", "opaque"] as const;
const operations = classes.map((effect, index) => ({ effect, operation: `op_${index + 1}` }));

/** One thing for each operation. */
const each = (make: (one: (typeof operations)[number], index: number) => AnyFact): AnyFact[] =>
  operations.map((one, index) => make(one, index));

const evidences: Record<(typeof classes)[number], unknown> = {
  pure: { class: "pure" },
  checked: examples["op.started"].evidence,
  supervised: { class: "supervised", cwd: "/project/shop", timeoutMs: 60_000, nonce: "n" },
  keyed: { class: "keyed", key: "op_4" },
  opaque: { class: "opaque" },
};

const spoken = examples.message.parts.filter(({ type }) => !["tool_call", "tool_result"].includes(type));
const calls = each(({ operation }) => ({
  type: "tool_call",
  kind: "",
  operation,
  tool: "write",
  args: { path: "a" },
}));
const results = each(({ operation }) => ({
  type: "tool_result",
  kind: "",
  operation,
  outcome: "ok",
  output: "1\ta",
}));
const withoutKind = (parts: readonly AnyFact[]): unknown[] =>
  parts.map((part) => Object.fromEntries(Object.entries(part).filter(([name]) => name !== "kind")));

const { parent: _parent, bases: _bases, ...rootCreated } = examples["session.created"];

/** Lines of a log that hold every kind of fact, in an order that can be. */
const logLines: readonly (readonly AnyFact[])[] = [
  [rootCreated, of("row", { run: undefined, state: "idle", openUnknowns: 0 })],
  [of("epoch.raised"), of("repaired"), of("rollback.accepted"), of("session.moved"), of("row")],
  [
    of("message", { role: "user", parts: spoken, turn: undefined, interrupted: undefined }),
    of("run.created"),
  ],
  [of("run.started"), of("policy.accepted"), of("workspace.rebound"), of("session.changed"), of("row")],
  [of("system.changed"), of("model.requested")],
  [of("model.failed")],
  [of("model.requested")],
  [
    of("message", {
      id: "msg_2",
      parts: [...spoken, ...withoutKind(calls)],
      delivery: undefined,
      interrupted: undefined,
    }),
    of("model.answered"),
    ...each((one) => of("op.asked", { ...one, replaces: undefined })),
    of("approval.asked", { operation: "op_3" }),
  ],
  [of("approval.decided", { operation: "op_3", decision: "allow" }), of("approval.rule")],
  each((one) => of("op.started", { ...one, evidence: evidences[one.effect] })),
  operations.slice(0, 4).map(({ operation }) => of("op.known", { operation })),
  [of("op.unknown", { operation: "op_5" }), of("run.input_required", { operations: ["op_5"] }), of("row")],
  [of("op.resolved", { operation: "op_5" }), of("row", { openUnknowns: 0 })],
  [of("epoch.raised"), of("lease.released")],
  [of("epoch.raised")],
  [of("run.started", { attempt: 2 }), of("row", { state: "running", openUnknowns: 0 })],
  [
    of("message", { id: "msg_3", role: "tool", parts: withoutKind(results), interrupted: undefined }),
    ...each(({ operation }) => of("op.settled", { operation })),
  ],
  [of("compacted"), of("checkpoint"), of("vendor.bound"), of("vendor.started"), of("vendor.failed")],
  [of("imported"), of("handed.off"), of("run.suspended"), of("row", { state: "suspended", openUnknowns: 0 })],
  [of("epoch.raised"), of("run.started", { attempt: 3 })],
  [of("message", { id: "msg_4", parts: spoken.slice(0, 2), delivery: undefined, interrupted: true })],
  [of("model.requested", { turn: 2 })],
  [
    of("message", { id: "msg_5", parts: spoken.slice(0, 1), delivery: undefined, interrupted: undefined }),
    of("model.answered", { turn: 2 }),
    of("run.ended", {
      status: "completed",
      reason: undefined,
      message: undefined,
      by: undefined,
      turns: 2,
    }),
    of("row", { state: "completed", openUnknowns: 0 }),
  ],
  [of("lease.released")],
];

const two = { delivery: "dlv_2", idempotencyKey: "key 2" };
const queueLines: readonly (readonly AnyFact[])[] = [
  [of("delivery.admitted"), of("delivery.admitted", two)],
  [of("delivery.edited"), of("delivery.moved"), of("delivery.armed"), of("delivery.attempted")],
  [of("delivery.disarmed"), of("delivery.resolved")],
  [of("epoch.raised"), of("repaired"), of("delivery.claimed")],
  [of("delivery.released")],
  [of("delivery.claimed")],
  [of("delivery.acknowledged")],
  [of("delivery.blocked", two)],
  [of("delivery.unblocked", two)],
  [of("delivery.removed", two)],
  [of("request.made")],
  [of("request.answered")],
];

function everyKind(): SessionFiles {
  let files: SessionFiles = { session: idOf("ses", "every kind"), files: new Map() };
  files = withFiles(files, { [`blobs/${blob.sha256}`]: payload });
  for (const facts of logLines) files = withLine(files, "log.jsonl", facts);
  const back = of("rewound", { session: files.session, seq: 2 });
  files = withLine(files, "log.jsonl", [back], {
    rev: logLines.flat().filter(isMessage).length + 1,
    msgs: 1,
  });
  for (const facts of queueLines) files = withLine(files, "queue.jsonl", facts);
  return files;
}

const isMessage = ({ kind }: AnyFact): boolean => kind === "message";

/** The kinds of facts that stand in the files. */
export function kindsOf(files: SessionFiles): Set<string> {
  const kinds = new Set<string>();
  for (const name of ["log.jsonl", "queue.jsonl"]) {
    for (const line of bytesOf(files, name).toString().split("\n")) {
      if (line !== "") (JSON.parse(line) as { facts: Fact[] }).facts.forEach(({ kind }) => kinds.add(kind));
    }
  }
  return kinds;
}

function ancestor(): LogBuilder {
  const builder = new LogBuilder(idOf("ses", "ancestor"));
  const [run, question] = [idOf("run", "1"), message("a first question")];
  builder.add([epochRaised()]);
  builder.add([question, { kind: "run.created", run, message: question.id }, row("a first question")]);
  builder.add([{ kind: "run.started", run, attempt: 1 }]);
  builder.add([modelRequested(run)]);
  const ended = { status: "completed", text: "an answer", usage: {}, turns: 1, elapsedMs: 7 };
  builder.add([
    { ...message("an answer"), role: "assistant" },
    { kind: "model.answered", run, turn: 1, durationMs: 7, stopReason: "stop" },
    { kind: "run.ended", run, ...ended },
  ]);
  builder.addStale(4, [message("stale")]);
  builder.add([message("a second question")]);
  return builder;
}

function branchFiles(branch: LogBuilder): SessionFiles {
  const bases = branch.parents.map(({ builder }, index) => [`base/${index}.jsonl`, builder.bytes] as const);
  return withFiles(
    { session: branch.session, files: new Map() },
    { "log.jsonl": branch.bytes, ...Object.fromEntries(bases) },
  );
}

function branch(): LogBuilder {
  const parent = ancestor();
  const child = parent.fork(idOf("ses", "branch"), 5);
  parent.add([message("later, in the ancestor")]);
  child.add([epochRaised()]);
  child.add([message("on a way of its own")]);
  return child;
}

const awkward = [
  '","sum":"00000000000000000000000000000000"}\n',
  ',"prev":"',
  "\u2028\u2029\ufeff",
  "\u0000\r\n",
  "é🐟",
];

const format: readonly Scene[] = [
  {
    name: "every-kind",
    what: "Format 1: every kind of fact, with each of its members.",
    make: async () => everyKind(),
  },
  {
    name: "branch",
    what: "A branch, whose ancestor went on after it left.",
    make: async () => branchFiles(branch()),
  },
  {
    name: "branch-of-a-branch",
    what: "A branch that left another one, within what that had inherited.",
    make: async () => {
      const grandchild = branch().fork(idOf("ses", "grandchild"), 2, 0);
      grandchild.add([message("the third way")]);
      grandchild.add([{ kind: "rewound", session: idOf("ses", "ancestor"), seq: 2 }]);
      return branchFiles(grandchild);
    },
  },
  {
    name: "branch-short-base",
    what: "A branch whose base is shorter than its cut.",
    make: async () => {
      const files = branchFiles(branch());
      return withFiles(files, { "base/0.jsonl": bytesOf(files, "base/0.jsonl").subarray(0, 900) });
    },
  },
  {
    name: "branch-missing-base",
    what: "A branch whose base is not there.",
    make: async () => withFiles(branchFiles(branch()), { "base/0.jsonl": undefined }),
  },
  {
    name: "awkward-texts",
    what: "Messages whose texts look like the end of a line, and the like.",
    make: async () => {
      let files = branchFiles(ancestor());
      for (const text of awkward) files = withLine(files, "log.jsonl", [message(text)]);
      return files;
    },
  },
];

/** A session of a model that says this. */
async function said(turns: readonly unknown[], more: object = {}): Promise<SessionFiles> {
  const scene = await EngineScene.begin({ turns, ...more });
  await scene.work();
  return scene.files();
}

const call = (argsText: string) => ({ tool: "read", argsText });
const done = { text: "Done." };

const ingested: readonly Scene[] = [
  {
    name: "raw-arguments",
    what: "Arguments that JSON readers would change: big numbers, orders of keys, keys twice, __proto__, no JSON at all.",
    make: () =>
      said([
        {
          calls: [
            call('{"path": "a.txt", "limit": 12345678901234567890}'),
            call('{"b":1,"1":2,"path":"a.txt"}'),
            call('{"path":"b","path":"a.txt"}'),
            call('{"__proto__":{"path":"a.txt"},"path":"a.txt"}'),
            call('{"path":'),
            call("[1]"),
          ],
        },
        done,
      ]),
  },
  {
    name: "broken-characters",
    what: "Halves of characters in a task, an answer and in arguments.",
    make: () =>
      said(
        [
          {
            text: "half \ud83d of it",
            calls: [{ tool: "write", args: { path: "h.txt", content: "\udc00" } }],
          },
          done,
        ],
        {
          task: "half \ud83d a task",
        },
      ),
  },
  {
    name: "long-payloads",
    what: "A task, an answer, arguments and a result that are too long to stand in a line.",
    make: () =>
      said(
        [
          {
            text: "w".repeat(33_000),
            calls: [{ tool: "write", args: { path: "w.txt", content: "c".repeat(33_000) } }],
          },
          { calls: [{ tool: "read", args: { path: "long.txt" } }] },
          done,
        ],
        { task: "t".repeat(33_000), files: { "long.txt": `${"l".repeat(300)}\n`.repeat(120) } },
      ),
  },
  {
    name: "deep-arguments",
    what: "Arguments that are nested deeper than a line takes.",
    make: () => said([{ calls: [call(`{"path":"a.txt","x":${"[".repeat(300)}${"]".repeat(300)}}`)] }, done]),
  },
  {
    name: "secrets",
    what: "A key that the model repeats is masked wherever it stands.",
    make: () =>
      said(
        [
          {
            text: "The key is sk-this-is-a-secret-key.",
            calls: [{ tool: "write", args: { path: "k.txt", content: "sk-this-is-a-secret-key" } }],
          },
          done,
        ],
        { environment: { ANTHROPIC_API_KEY: "sk-this-is-a-secret-key" } },
      ),
  },
];

/** What the format says. */
export const scenesOfFormat: readonly Scene[] = [...format, ...ingested];
