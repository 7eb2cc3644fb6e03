import type { NamedFile } from "../../engine/index.ts";
import { definitionBytesMax } from "../../engine/index.ts";
import type { Call } from "../call.ts";
import { readNamedFile } from "../named-file.ts";

const definitionFile = {
  what: "the definition",
  bytesMax: definitionBytesMax,
  limit: `a definition is at most ${definitionBytesMax / 1024} KiB`,
};

/** The file of a definition that the command line names. */
export async function definitionFileOf({ outside }: Call, name: string): Promise<NamedFile> {
  return { name, bytes: await readNamedFile(outside, name, definitionFile) };
}
