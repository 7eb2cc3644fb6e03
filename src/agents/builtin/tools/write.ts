/** `write`: a whole file, new or in the place of the old one. */
import * as z from "zod/mini";
import type { Tool } from "../../../model/agent.ts";
import { declareArguments } from "./arguments.ts";
import { checkedWriteTool } from "./checked-write.ts";
import type { FileHost } from "./file-host.ts";
import { countLines, encodeText, plural, surrogateProblem } from "./text-content.ts";

const writeArguments = declareArguments(
  z.strictObject({
    path: z.string().check(z.describe("File to write, relative to the workspace.")),
    content: z.string().check(z.describe("The whole new content.")),
  }),
);

/** The tool `write`. */
export function writeTool(host: FileHost): Tool {
  return checkedWriteTool(host, {
    name: "write",
    description:
      "Writes a whole text file of the workspace, replacing what it held; missing directories are made. The content " +
      "is stored exactly as given, as UTF-8. Use edit to change part of a file.",
    arguments: writeArguments,
    readsBytesMax: 0,
    plan({ content }, shown, before) {
      const bytes = encodeText(content);
      if ("loneSurrogateAt" in bytes) return surrogateProblem("content", bytes.loneSurrogateAt);
      const size = `${plural(countLines(content), "line")}, ${plural(bytes.length, "byte")}`;
      const summary =
        before === undefined
          ? `Created ${shown} (${size}).`
          : `Wrote ${shown} (${size}; it had ${plural(before.stat.size, "byte")}).`;
      return { bytes, summary };
    },
  });
}
