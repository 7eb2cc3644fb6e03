/** `edit`: exact text in a file replaced by other text; byte order mark and line ends stay as they are. */
import * as z from "zod/mini";
import type { Tool } from "../../../model/agent.ts";
import { declareArguments } from "./arguments.ts";
import { changeExcerpt } from "./change-excerpt.ts";
import { checkedWriteTool, type ContentProblem, type PlannedContent } from "./checked-write.ts";
import type { FileHost } from "./file-host.ts";
import { endsInCrlfOnly, findSimilar, replaceText, type Replaced } from "./replacement.ts";
import { decodeText, encodeText, plural, surrogateProblem } from "./text-content.ts";

const fileBytesMax = 32 * 1024 * 1024;

const editArguments = declareArguments(
  z.strictObject({
    path: z.string().check(z.describe("File to change, relative to the workspace.")),
    old: z.string().check(z.describe("Exact text to replace, without the line numbers that read shows.")),
    new: z.string().check(z.describe("Text to put in its place.")),
    all: z.optional(z.boolean().check(z.describe("Replace every occurrence. Default: there must be one."))),
  }),
);

interface EditArguments {
  path: string;
  old: string;
  new: string;
  all?: boolean | undefined;
}

/** The tool `edit`. */
export function editTool(host: FileHost): Tool {
  return checkedWriteTool(host, {
    name: "edit",
    description:
      "Replaces exact text in a file of the workspace. `old` must stand there exactly once, white space included, " +
      "unless `all` is true. Line ends and byte order mark stay as they are.",
    arguments: editArguments,
    readsBytesMax: fileBytesMax,
    plan(args, shown, before) {
      if (before === undefined) {
        return problem("missing", `${shown} does not exist. Use write to create it.`);
      }
      if (before.bytes === undefined) {
        return problem("too_large", `${shown} is too large to edit (${before.stat.size} bytes).`);
      }
      const text = decodeText(before.bytes);
      if (text === undefined) {
        return problem("binary", `${shown} is not UTF-8 text and cannot be edited.`);
      }
      return planEdit(args, shown, text);
    },
  });
}

function planEdit(args: EditArguments, shown: string, text: string): PlannedContent | ContentProblem {
  if (args.old === "") return problem("bad_arguments", "old is empty. Give the text to replace.");
  if (args.old === args.new)
    return problem("bad_arguments", "old and new are equal; there is nothing to do.");
  const replaced = replaceText(text, { old: args.old, new: args.new, all: args.all ?? false });
  if (replaced.text === undefined) return mismatch(args, shown, text, replaced);
  const bytes = encodeText(replaced.text);
  if ("loneSurrogateAt" in bytes) {
    const inNew = encodeText(args.new);
    return surrogateProblem("new", "loneSurrogateAt" in inNew ? inNew.loneSurrogateAt : 0);
  }
  const excerpt = changeExcerpt(text, replaced.text);
  return {
    bytes,
    summary: `Edited ${shown} (${plural(replaced.count, "replacement")}).\n${excerpt}`.trimEnd(),
  };
}

function mismatch(
  args: EditArguments,
  shown: string,
  text: string,
  replaced: Replaced & { text: undefined },
): ContentProblem {
  if (replaced.count > 0) {
    const lines = `${replaced.lines.join(", ")}${replaced.count > replaced.lines.length ? ", …" : ""}`;
    return problem(
      "several_matches",
      `old stands ${replaced.count} times in ${shown}, at lines ${lines}. Give more of the text around it, or set all.`,
    );
  }
  return problem("no_match", `old does not stand in ${shown}. ${hintFor(args, text)}`);
}

function hintFor(args: EditArguments, text: string): string {
  if (/^\s*\d+\t/.test(args.old)) return "Leave out the line numbers and tabs that read shows.";
  const similar = findSimilar(text, args.old);
  if (similar === undefined) return "Read the file again and copy the text exactly.";
  const endings =
    text.includes("\r\n") && !endsInCrlfOnly(text) ? ", or in line ends: some are CRLF, some LF" : "";
  return `Text that differs only in white space${endings} begins at line ${similar}; copy it exactly.`;
}

function problem(reason: string, text: string): ContentProblem {
  return { problem: text, reason };
}
