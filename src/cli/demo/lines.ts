import type { Commit } from "../../model/commit.ts";
import { isFact } from "../../model/commit.ts";
import type { Part } from "../../model/facts.ts";
import { shortId } from "./evidence.ts";

/** A line of the log in one line for people: its number, the kinds of its facts, and what matters of them. */
export interface ShownLine {
  readonly seq: number;
  readonly kinds: string;
  readonly detail: string;
}

type Fact = Commit["facts"][number];

// What every line of a run carries along and what says nothing in a demo.
const silentKinds = new Set(["row", "model.answered", "run.created", "op.asked", "system.changed"]);

/** Shows the lines of one epoch; `tools` names the tool of each operation. */
export function showLines(commits: readonly Commit[]): ShownLine[] {
  const tools = toolsOf(commits);
  return commits.map(({ seq, facts }) => {
    const told = facts.filter(({ kind }) => !silentKinds.has(kind));
    const shown = told.length > 0 ? told : facts.slice(0, 1);
    return {
      seq,
      kinds: kindsOf(shown),
      detail: shown.map((fact) => detailOf(fact, tools)).find(Boolean) ?? "",
    };
  });
}

/** Kinds in their order, equal ones counted: `message, op.settled ×2`. */
function kindsOf(facts: readonly Fact[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of facts) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => (count === 1 ? kind : `${kind} ×${count}`)).join(", ");
}

function toolsOf(commits: readonly Commit[]): Map<string, string> {
  const tools = new Map<string, string>();
  for (const fact of commits.flatMap((commit) => commit.facts)) {
    if (isFact(fact, "op.asked") || isFact(fact, "op.started")) tools.set(fact.operation, fact.tool);
  }
  return tools;
}

function detailOf(fact: Fact, tools: ReadonlyMap<string, string>): string {
  const named = (operation: string) => `${tools.get(operation) ?? "operation"} ${shortId(operation)}`;
  if (isFact(fact, "epoch.raised")) return `process ${fact.pid} took the session`;
  if (isFact(fact, "run.started")) return `attempt ${fact.attempt}`;
  if (isFact(fact, "model.requested")) return `turn ${fact.turn}`;
  if (isFact(fact, "message")) return `${fact.role}: ${fact.parts.map(wordsOf).join(" ")}`;
  if (isFact(fact, "op.started")) return named(fact.operation);
  if (isFact(fact, "op.known")) return `${named(fact.operation)}: ${fact.outcome}`;
  if (isFact(fact, "run.ended")) return fact.status;
  return "";
}

function wordsOf(part: Part): string {
  if (part.type === "tool_call") return `[${part.tool}]`;
  if (part.type === "tool_result") return `[${part.outcome}]`;
  return part.type === "text" ? (part.text ?? "") : "";
}
