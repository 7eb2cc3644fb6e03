import type { Fact, Message, OpaqueFact, Row } from "./facts.ts";

/** The list row after a fact: a view of the facts before it, kept in the log so that a list need not read them all. */
export function evolveRow(row: Row, fact: Fact | OpaqueFact): Row {
  const known = fact as Fact;
  switch (known.kind) {
    case "message":
      return awaitsTitle(row) && known.role === "user" ? { ...row, title: titleOf(known) } : row;
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

/** What a person gave stays, also where it is no title at all. */
function awaitsTitle(row: Row): boolean {
  return row.title === "" && row.titleBy === "auto";
}

const titleLengthMax = 80;

/** A title from a message: its first line that shows something, cut at a word; "" where none does. */
export function titleOf(message: Pick<Message, "parts">): string {
  for (const part of message.parts) {
    if (part.type !== "text") continue;
    for (const line of (part.text ?? "").split("\n")) {
      const title = cleanLine(line);
      if (title !== "") return cutAtWord(title);
    }
  }
  return "";
}

/**
 * A line without what would let a task rewrite, turn around or hide in the terminal of whoever lists. Joiners stay: they
 * make one sign of several, and shape words.
 */
function cleanLine(line: string): string {
  const clean = line
    .replaceAll(/(?![\u200c\u200d])\p{Cf}/gu, "")
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim();
  return /[^\s\u200c\u200d]/u.test(clean) ? clean : "";
}

function cutAtWord(title: string): string {
  const characters = Array.from(title);
  if (characters.length <= titleLengthMax) return title;
  const head = characters.slice(0, titleLengthMax).join("");
  const space = head.lastIndexOf(" ");
  const words =
    space > titleLengthMax / 2 ? head.slice(0, space) : characters.slice(0, titleLengthMax - 1).join("");
  return `${words.replace(/[\u200c\u200d]+$/u, "")}…`;
}
