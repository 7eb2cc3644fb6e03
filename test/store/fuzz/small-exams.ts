import { isDeepStrictEqual } from "node:util";
import { readClaim } from "../../../src/agents/builtin/exec/claim.ts";
import { readStatus, type FoundStatus } from "../../../src/agents/builtin/exec/status.ts";
import { parseCassette } from "../../../src/agents/builtin/models/cassette.ts";
import { sha256 } from "../../../src/host/index.ts";
import { exitCodeOf } from "../../../src/model/errors.ts";
import { LiveFile } from "../../../src/store/live-file.ts";
import { storeOn } from "../../corpus/opened.ts";
import { plant, type SessionFiles, stateDirectory, withFiles } from "../../corpus/session-files.ts";
import { promised } from "../../crash/campaign/finding.ts";
import { MemoryDisk } from "../../crash/memory-disk.ts";
import { changedOrRefused, ended, reading } from "./looked-at.ts";

/** What must hold of the files beside the log: they are evidence, or can be done without. */

/**
 * A record of the log's end that is torn or changed says nothing, so nobody is refused for it. `isRecord`: it is that of
 * another log of the session, byte for byte, and is believed.
 */
export async function examineHead(files: SessionFiles, isRecord: boolean): Promise<void> {
  const disk = plant(files);
  const store = storeOn(disk);
  const { error } = await reading(disk, "reading as a holder", () =>
    store.readAsHolder(files.session, () => undefined),
  );
  if (isRecord && error !== undefined && exitCodeOf(error) === 7) return;
  promised(error === undefined, "wrong doubt", () => `a head that says nothing: ${String(error)}`);
  const options = {
    version: "0.1.0",
    acceptRollback: false,
    visit: () => undefined,
    visitQueue: () => undefined,
  };
  const held = await ended("holding", store.hold(files.session, options));
  promised(held.error === undefined, "stuck", () => `a head that says nothing: ${String(held.error)}`);
  await held.value?.release(() => true);
}

/** Whose store it is can be read, or is refused; the sessions beside it can be read all the same. */
export async function examineState(files: SessionFiles, bytes: Buffer, store: string): Promise<void> {
  const disk = plant(files);
  disk.plant(`${stateDirectory}/state.json`, bytes);
  const opened = storeOn(disk);
  const { value } = await changedOrRefused("identity", opened.identity());
  promised(
    value === undefined || value.store === store || isOther(bytes),
    "other",
    () => "it is another store",
  );
  const read = await reading(disk, "reading", () =>
    storeOn(disk).readStrictly(files.session, () => undefined),
  );
  promised(read.error === undefined, "stuck", () => `a session beside it: ${String(read.error)}`);
  await changedOrRefused("adopting", opened.adopt());
}

/** True where the changed file still is one, of another store: its bytes carry no sum. */
function isOther(bytes: Buffer): boolean {
  try {
    return typeof JSON.parse(bytes.toString()) === "object";
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Pieces of an answer are pieces, or there are none. */
export async function examineLive(bytes: Buffer, seq: number): Promise<void> {
  const disk = new MemoryDisk();
  disk.plant("/live.jsonl", bytes);
  const { value, error } = await reading(disk, "live pieces", () =>
    new LiveFile(disk, "/live.jsonl").read(seq),
  );
  promised(error === undefined, "stuck", () => `what was kept of an answer: ${String(error)}`);
  const isOfForm = value?.every(
    ({ part, text }) => (part === "text" || part === "reasoning") && typeof text === "string",
  );
  promised(isOfForm === true, "other", () => "a piece that is none");
}

/** The record of a command's end is believed whole or not at all. */
export async function examineStatus(
  bytes: Buffer,
  start: { operation: string; nonce: string },
  known: FoundStatus,
): Promise<void> {
  const disk = new MemoryDisk();
  disk.plant("/spool/status", bytes);
  const { value, error } = await reading(disk, "status", () => readStatus(disk, "/spool", start));
  promised(error === undefined, "untyped", () => `a status: ${String(error)}`);
  const isSame = value?.state !== "ended" || isDeepStrictEqual(value, known);
  promised(isSame, "false success", () => "the record of a command's end says something else");
}

/** A claim is one, or cannot be read. */
export async function examineClaim(bytes: Buffer): Promise<void> {
  const disk = new MemoryDisk();
  disk.plant("/spool/claim", bytes);
  const { value, error } = await reading(disk, "claim", () => readClaim(disk, "/spool"));
  promised(error === undefined, "untyped", () => `a claim: ${String(error)}`);
  promised(value?.state !== "absent", "wrong doubt", () => "a claim that is there is absent");
}

/** A cassette is one, or is refused as a whole. */
export async function examineCassette(bytes: Buffer): Promise<void> {
  const parse = async () => parseCassette(bytes, "cassette.json");
  const { error } = await ended("a cassette", parse());
  promised(error === undefined || error.code === "usage", "untyped", () => String(error));
}

/** A payload is what its name says, or damage. */
export async function examineBlob(files: SessionFiles, sha: string, bytes: Buffer): Promise<void> {
  const disk = plant(withFiles(files, { [`blobs/${sha}`]: bytes }));
  const blobs = storeOn(disk).blobs(files.session);
  const found = await reading(disk, "payload", () => blobs.get({ sha256: sha, bytes: bytes.length }));
  const isWhole = sha256(bytes) === sha;
  promised((found.error === undefined) === isWhole, "false success", () => "a payload that is another one");
  promised(isWhole || found.error?.code === "log_damaged", "untyped", () => String(found.error));
  // Whoever has the whole bytes puts them in its place.
  const original = Buffer.from(files.files.get(`blobs/${sha}`) ?? []);
  await changedOrRefused("putting a payload", blobs.put(original));
  const again = await ended("payload", blobs.get({ sha256: sha, bytes: original.length }));
  promised(again.error === undefined, "stuck", () => "a payload that was put again is not there");
}
