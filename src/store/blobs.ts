import { dirname, join } from "node:path";
import type { Disk, DiskFile, Ids } from "../host/index.ts";
import {
  createDurably,
  isDiskError,
  makeDirectoryDurably,
  randomHex,
  readWhole,
  sha256,
} from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { BlobRef } from "../model/values.ts";
import { onStorage } from "./write-errors.ts";

/** Payloads over this many bytes of JSON text stand beside the log. */
export const inlineBytesMax = 32 * 1024;

/** Largest payload that is read back whole. */
const blobBytesMax = 256 * 1024 * 1024;

/** Blobs of one session: written under its own folder, found there or in the folders of its ancestors. */
export class Blobs {
  readonly #disk: Disk;
  readonly #ids: Ids;
  readonly #own: string;
  readonly #inherited: readonly string[];
  /** True when the folder's own name is durable. */
  #hasFolder = false;

  constructor(options: { disk: Disk; ids: Ids; own: string; inherited?: readonly string[] }) {
    this.#disk = options.disk;
    this.#ids = options.ids;
    this.#own = options.own;
    this.#inherited = options.inherited ?? [];
  }

  /**
   * Makes the bytes durable, name included, and resolves to their reference. Must come before the line that names it.
   * Rejects with a storage error.
   */
  async put(bytes: Uint8Array): Promise<BlobRef> {
    const reference = { sha256: sha256(bytes), bytes: bytes.length };
    const path = join(this.#own, reference.sha256);
    await onStorage(path, () => this.#putAt(path, reference, bytes));
    return reference;
  }

  async #putAt(path: string, reference: BlobRef, bytes: Uint8Array): Promise<void> {
    if (!this.#hasFolder) await makeDirectoryDurably(this.#disk, this.#own, dirname(this.#own));
    this.#hasFolder = true;
    if (await this.#isWhole(path, reference)) return await this.#syncExisting(path);
    const random = randomHex(this.#ids, 8);
    const temporary = join(this.#own, `.${reference.sha256.slice(0, 16)}-${random}`);
    await createDurably(this.#disk, temporary, bytes);
    await this.#disk.rename(temporary, path);
    await this.#disk.syncDirectory(this.#own);
  }

  /** The bytes, checked against the reference. Rejects `log_damaged` where they are missing or others. */
  async get(reference: BlobRef): Promise<Uint8Array> {
    for (const folder of [this.#own, ...this.#inherited]) {
      const path = join(folder, reference.sha256);
      const bytes = await onStorage(path, () => readWhole(this.#disk, path, blobBytesMax));
      if (bytes === undefined) continue;
      if (sha256(bytes) === reference.sha256) return bytes;
      throw new HoldfastError(
        "log_damaged",
        `blob ${reference.sha256} in ${dirname(this.#own)} holds other bytes`,
      );
    }
    throw new HoldfastError("log_damaged", `blob ${reference.sha256} of ${dirname(this.#own)} is missing`);
  }

  /** True where the file holds exactly these bytes: after a crash a name may stand for bytes that never came. */
  async #isWhole(path: string, reference: BlobRef): Promise<boolean> {
    const stat = await this.#disk.stat(path);
    if (stat === undefined || stat.size !== reference.bytes) return false;
    const bytes = await readWhole(this.#disk, path, blobBytesMax);
    return bytes !== undefined && sha256(bytes) === reference.sha256;
  }

  async #syncExisting(path: string): Promise<void> {
    let file: DiskFile;
    try {
      file = await this.#disk.open(path, "update");
    } catch (error) {
      if (isDiskError(error, "EACCES", "EPERM", "EROFS")) file = await this.#disk.open(path, "read");
      else throw error;
    }
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    await this.#disk.syncDirectory(this.#own);
  }
}
