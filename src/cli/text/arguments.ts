import type { Json } from "../../model/values.ts";
import { treeLines } from "./tree.ts";

/** What a tool was asked for, in lines; a command that is all there is to say stands as it is. */
export function argumentsText(args: Json): string {
  const isCommand = typeof args === "object" && args !== null && !Array.isArray(args);
  const { command, ...rest } = isCommand ? args : {};
  if (typeof command === "string" && Object.keys(rest).length === 0) return command;
  return treeLines(args).join("\n") || "nothing";
}
