import type { Json } from "../../model/values.ts";
import { oneLine } from "./clean.ts";

/** The lines of a JSON value for people: a member a line, what is inside indented below it. */
export function treeLines(value: Json): string[] {
  if (typeof value !== "object" || value === null) return scalarLines(value);
  if (Array.isArray(value)) return value.flatMap((item) => marked("- ", treeLines(item)));
  return Object.entries(value).flatMap(([name, item]) => memberLines(oneLine(name), item));
}

function memberLines(name: string, item: Json): string[] {
  const lines = treeLines(item);
  const isShort = (typeof item !== "object" || item === null) && lines.length === 1;
  if (isShort) return [`${name}: ${lines[0] ?? ""}`];
  return lines.length === 0 ? [`${name}: none`] : [`${name}:`, ...lines.map((line) => `  ${line}`)];
}

function scalarLines(value: string | number | boolean | null): string[] {
  if (typeof value !== "string") return [String(value)];
  return value === "" ? [`""`] : value.trimEnd().split("\n");
}

/** The mark before the first line, as much room before the others. */
function marked(mark: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => (index === 0 ? mark : " ".repeat(mark.length)) + line);
}
