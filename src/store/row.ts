import type { Row } from "../model/facts.ts";

/** Checks by hand what the schema of `row` says, so that a list of many sessions does without the schema library. */

type Kind = "string" | "number" | "boolean" | "count";

const required: Readonly<Record<string, Kind>> = {
  title: "string",
  archived: "boolean",
  pinned: "boolean",
  agent: "string",
  binding: "string",
  state: "string",
  openUnknowns: "count",
};

const optional: Readonly<Record<string, Kind>> = {
  order: "number",
  model: "string",
  run: "string",
  parent: "string",
  vendor: "string",
  moved: "boolean",
};

/** True where the value is a legal `row` fact: exactly where its schema says so. */
export function isRow(value: unknown): value is Row {
  if (typeof value !== "object" || value === null) return false;
  const row = value as Readonly<Record<string, unknown>>;
  if (row["kind"] !== "row" || (row["titleBy"] !== "auto" && row["titleBy"] !== "person")) return false;
  return (
    Object.entries(required).every(([name, kind]) => isOfKind(row[name], kind)) &&
    Object.entries(optional).every(([name, kind]) => row[name] === undefined || isOfKind(row[name], kind))
  );
}

function isOfKind(value: unknown, kind: Kind): boolean {
  if (kind === "count") return Number.isSafeInteger(value) && (value as number) >= 0;
  return kind === "number" ? Number.isFinite(value) : typeof value === kind;
}
