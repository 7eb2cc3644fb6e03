import type { Fact, Message, OpaqueFact, Row } from "./facts.ts";

/** The list row after a fact: a view of the facts before it, kept in the log so that a list need not read them all. */
export function evolveRow(row: Row, fact: Fact | OpaqueFact): Row {
  const known = fact as Fact;
  switch (known.kind) {
    case "message":
      return row.title === "" && known.role === "user" ? { ...row, title: titleOf(known) } : row;
    case "session.changed":
      return {
        ...row,
        ...(known.title !== undefined && { title: known.title, titleBy: "person" as const }),
        ...(known.archived !== undefined && { archived: known.archived }),
        ...(known.pinned !== undefined && { pinned: known.pinned }),
        ...(known.order !== undefined && { order: known.order }),
      };
    case "session.moved":
      return { ...row, moved: known.sealed === true };
    case "workspace.rebound":
      return { ...row, binding: known.workspace.root };
    case "vendor.bound":
      return { ...row, vendor: known.id };
    case "op.unknown":
      return { ...row, openUnknowns: row.openUnknowns + 1 };
    case "op.resolved":
      return { ...row, openUnknowns: row.openUnknowns - 1 };
    case "run.created":
      return { ...row, run: known.run, state: "queued" };
    case "run.started":
      return { ...row, state: "running" };
    case "run.suspended":
      return { ...row, state: "suspended" };
    case "run.input_required":
      return { ...row, state: "input_required" };
    case "run.ended":
      return { ...row, state: known.status };
    default:
      return row;
  }
}

const titleLengthMax = 80;

/** A title from the first message: its first line that says something, cut at a word. */
export function titleOf(message: Pick<Message, "parts">): string {
  const text = message.parts.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("\n");
  const line = text.split("\n").find((one) => one.trim() !== "") ?? "";
  // Control characters would let a task rewrite the terminal of whoever lists.
  const clean = line
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  const characters = Array.from(clean);
  if (characters.length <= titleLengthMax) return clean;
  const cut = characters.slice(0, titleLengthMax - 1).join("");
  const space = cut.lastIndexOf(" ");
  return `${space > titleLengthMax / 2 ? cut.slice(0, space) : cut}…`;
}
