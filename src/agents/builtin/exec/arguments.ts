import { isAbsolute, relative, resolve, sep } from "node:path";
import * as z from "zod/mini";
import { isDiskError, type Disk } from "../../../host/index.ts";
import type { Json } from "../../../model/values.ts";

/** What a model may ask of `exec`, and what is made of it. */

/** Where no timeout is asked for: long enough for a build, short enough for a command that waits for ever. */
export const defaultTimeoutMs = 30 * 60 * 1000;
const timeoutMsMax = 24 * 60 * 60 * 1000;
/** Linux takes no longer argument, its closing zero included. */
const commandBytesMax = 128 * 1024 - 1;

const command = z.string().check(
  z.refine((text) => text.trim() !== "", "is empty"),
  z.refine((text) => !text.includes("\0"), "holds a zero byte"),
  z.refine((text) => new TextEncoder().encode(text).byteLength <= commandBytesMax, "is over 128 KiB"),
);

/** The arguments; unknown ones are refused, so that a slip of the model is told and not swallowed. */
export const ExecArguments = z.strictObject({
  command,
  timeoutMs: z.optional(z.int().check(z.gte(1), z.lte(timeoutMsMax))),
  cwd: z.optional(z.string()),
});
export type ExecArguments = z.infer<typeof ExecArguments>;

/** JSON Schema of {@link ExecArguments} for the model. */
export const execParameters: Json = {
  type: "object",
  additionalProperties: false,
  required: ["command"],
  properties: {
    command: { type: "string", description: "The command line for /bin/sh -c." },
    timeoutMs: {
      type: "integer",
      minimum: 1,
      maximum: timeoutMsMax,
      description: `Milliseconds until the command is stopped. Default ${defaultTimeoutMs} (30 minutes).`,
    },
    cwd: {
      type: "string",
      description: "Directory to run in, inside the workspace, relative to its root. Default: the root.",
    },
  },
};

/** The arguments, or a sentence that says what is wrong with them. */
export function parseArguments(args: Json): ExecArguments | string {
  const parsed = ExecArguments.safeParse(args);
  if (parsed.success) return parsed.data;
  return `The arguments do not fit. ${parsed.error.issues.map(describeIssue).join("; ")}.`;
}

/** The schema library brings no sentences of its own in this form. */
function describeIssue(issue: z.core.$ZodIssue): string {
  const where = issue.path.length === 0 ? "arguments" : issue.path.join(".");
  if (issue.code === "unrecognized_keys") return `unknown: ${issue.keys.join(", ")}`;
  if (issue.code === "invalid_type") return `${where}: must be ${issue.expected}`;
  if (issue.code === "too_small") return `${where}: must be at least ${issue.minimum}`;
  if (issue.code === "too_big") return `${where}: must be at most ${issue.maximum}`;
  return `${where}: ${issue.message}`;
}

/** The canonical directory, or a sentence that says why the command may not run there. */
export async function resolveDirectory(
  disk: Disk,
  workspace: string,
  cwd: string,
): Promise<{ path: string } | string> {
  try {
    const path = await disk.realPath(resolve(workspace, cwd));
    if (!isInside(workspace, path)) return `The directory ${cwd} is outside of the workspace.`;
    const stat = await disk.stat(path);
    return stat?.kind === "directory" ? { path } : `${cwd} is no directory.`;
  } catch (error) {
    if (isDiskError(error)) return `The directory ${cwd} cannot be used: ${error.code}.`;
    throw error;
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
