import { HoldfastError } from "../model/errors.ts";
import type { EngineContext } from "./context.ts";

/** Who it is that says something. */

const nameLengthMax = 256;

/**
 * A person's name as it may be recorded: secrets masked, well-formed; the user of the operating system where none is
 * given. Rejects `usage` where it is too long.
 */
export async function recordableName(context: EngineContext, name: string | undefined): Promise<string> {
  if (name !== undefined && name.length > nameLengthMax) {
    throw new HoldfastError("usage", `the name is longer than ${nameLengthMax} characters`);
  }
  const redactor = await context.openRedactor();
  return redactor.text(name ?? context.host.processes.self.user).toWellFormed();
}
