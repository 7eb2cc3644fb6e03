import { basename } from "node:path";
import type { Disk } from "../../../host/index.ts";
import { isDiskError, readWhole, sha256 } from "../../../host/index.ts";
import { cassetteBytesMax } from "../../../model/cassette.ts";
import { HoldfastError } from "../../../model/errors.ts";
import type { ModelChoice } from "../../../model/facts/session.ts";
import { parseCassette } from "./cassette.ts";
import type { Environment } from "./choice.ts";
import { parseModelChoice, requireKey } from "./choice.ts";

/**
 * What `--model` names, checked before a session exists: its key is there, or its cassette can be played. `blobs` are
 * what the session must carry to be resumed elsewhere. Rejects `usage`.
 */
export async function chooseModel(
  disk: Disk,
  environment: Environment,
  model: string | undefined,
): Promise<{ choice: ModelChoice; blobs: Uint8Array[] }> {
  if (model === undefined) {
    throw new HoldfastError("usage", "no model was named, so nobody can answer", {
      hint:
        "Name one with --model: anthropic/MODEL, openai/MODEL, google/MODEL (each with its key in the environment), " +
        "openai-compatible/MODEL with OPENAI_COMPATIBLE_BASE_URL, or a recording with cassette:FILE.",
    });
  }
  const choice = parseModelChoice(model, environment);
  if (choice.provider !== "cassette") {
    requireKey(choice, environment);
    return { choice, blobs: [] };
  }
  const bytes = await readCassette(disk, choice.model);
  parseCassette(bytes, choice.model);
  const cassette = { sha256: sha256(bytes), bytes: bytes.length };
  return { choice: { ...choice, model: basename(choice.model), cassette }, blobs: [bytes] };
}

async function readCassette(disk: Disk, path: string): Promise<Uint8Array> {
  const unreadable = (why: string, cause?: unknown) =>
    new HoldfastError("usage", `the cassette ${path} ${why}`, { cause });
  try {
    if ((await disk.stat(path))?.kind === "directory") throw unreadable("is no file");
    const bytes = await readWhole(disk, path, cassetteBytesMax);
    if (bytes === undefined) throw unreadable("does not exist");
    return bytes;
  } catch (error) {
    if (isDiskError(error, "EFBIG")) throw unreadable("is over 64 MiB", error);
    if (isDiskError(error)) throw unreadable(`cannot be read: ${error.code}`, error);
    throw error;
  }
}
