import fc from "fast-check";
import type { AnyFact } from "./build-log.ts";
import { LogBuilder } from "./build-log.ts";
import { epochRaised, idOf, message, modelRequested, row } from "./builders.ts";

/** Legal random histories: what writers, stale writers and forks may leave behind. */

/** One thing that happens to a log. `pick` chooses among the lines there are. */
type Step =
  | { readonly do: "message"; readonly text: string; readonly role: "user" | "assistant" | "tool" }
  | { readonly do: "operation" | "row" | "raise" | "request" | "parts" }
  | { readonly do: "unknown"; readonly value: unknown }
  | { readonly do: "rewind" | "stale" | "fork"; readonly pick: number };

const awkward = ['"sum":"x"', ',"prev":"', "\u2028\u2029", "a\r\nb", "\ud83d\ude00", "\u0000", '"}\n', "é"];
const text = fc.oneof(fc.string({ unit: "binary", maxLength: 30 }), fc.constantFrom(...awkward));
const pick = fc.nat(1_000_000);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("message" as const),
      text,
      role: fc.constantFrom("user", "assistant", "tool"),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom("operation", "row", "raise", "request", "parts") }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("unknown" as const), value: fc.jsonValue() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("stale" as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("rewind", "fork"), pick }) },
);

/** A history of up to `maxLength` steps, built. */
export function history(maxLength: number): fc.Arbitrary<LogBuilder> {
  return fc.array(step, { maxLength }).map((steps) => {
    const names = { next: 0 };
    let builder = new LogBuilder(idOf("ses", `${++names.next}`));
    for (const one of steps) builder = apply(builder, one, names);
    return builder;
  });
}

function apply(builder: LogBuilder, step: Step, names: { next: number }): LogBuilder {
  const number = ++names.next;
  switch (step.do) {
    case "message":
      builder.add([{ ...message(step.text, `${number}`), role: step.role }]);
      return builder;
    case "rewind": {
      const target = builder.commits[step.pick % builder.commits.length];
      builder.add([{ kind: "rewound", session: target?.ses ?? "", seq: target?.seq ?? 0 }]);
      return builder;
    }
    case "stale":
      addStale(builder, step.pick, number);
      return builder;
    case "fork": {
      const part = step.pick % (builder.parents.length + 1);
      const parent = builder.parents[part];
      const seqMax = parent?.base.seq ?? builder.accepted.length - 1;
      const branch = builder.fork(idOf("ses", `${number}`), step.pick % (seqMax + 1), part);
      // The ancestor goes on, in the file that the branch links.
      (parent?.builder ?? builder).add([row("later")]);
      return branch;
    }
    default:
      builder.add(factsOf(step, number));
      return builder;
  }
}

function addStale(builder: LogBuilder, pick: number, number: number): void {
  const seq = pick % builder.accepted.length;
  // Stale writers are mostly a little late, and sometimes very.
  const recent = pick % 3 === 0 ? seq : Math.max(0, builder.accepted.length - 1 - (pick % 4));
  const facts = [[message("stale", `${number}`)], [epochRaised()], [row("stale")]][pick % 3] ?? [];
  builder.addStale(recent, facts);
}

function factsOf(step: Step, number: number): AnyFact[] {
  const operation = idOf("op", `${number}`);
  switch (step.do) {
    case "operation":
      return [
        { kind: "op.asked", operation, run: idOf("run", "1"), turn: 1, tool: "read", effect: "pure" },
        { kind: "op.settled", operation },
      ];
    case "row":
      return [{ kind: "session.changed", title: `t${number}` }, row(`t${number}`)];
    case "raise":
      return number % 2 === 0 ? [epochRaised()] : [epochRaised(), { kind: "lease.released" }];
    case "request":
      return [modelRequested(idOf("run", "1"), number)];
    case "unknown":
      return [{ kind: "goal.set", value: step.value, sum: "0".repeat(32), prev: "x" }];
    default:
      return [
        {
          kind: "message",
          id: idOf("msg", `${number}`),
          role: "user",
          parts: [
            { type: "context", source: "rules", title: "t", hidden: false, reversible: true, text: "c" },
            { type: "notice", source: "n", text: "n" },
            { type: "tool_result", operation, outcome: "ok", output: "o" },
          ],
        },
        row(`p${number}`),
      ];
  }
}
