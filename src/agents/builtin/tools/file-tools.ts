import type { Tool } from "../../../model/agent.ts";
import { deleteTool } from "./delete.ts";
import { editTool } from "./edit.ts";
import type { FileHost } from "./file-host.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { readTool } from "./read.ts";
import { writeTool } from "./write.ts";

/** The tools that read and change files of the workspace: read, glob, grep, write, edit, delete. */
export function fileTools(host: FileHost): Tool[] {
  return [readTool(host), globTool(host), grepTool(host), writeTool(host), editTool(host), deleteTool(host)];
}
