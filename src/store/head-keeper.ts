import type { Host } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { ChainHead } from "./chain.ts";
import type { HeadRecord, UnsureNote } from "./head-file.ts";
import { readHead, writeHead } from "./head-file.ts";
import { zeroSum } from "./line.ts";
import type { SessionFolder } from "./session-folder.ts";

/** Keeps a session's `head`: where the log ended, and which bytes are unsure after a failed write. */
export class HeadKeeper {
  readonly #host: Host;
  readonly #folder: SessionFolder;

  constructor(host: Host, folder: SessionFolder) {
    this.#host = host;
    this.#folder = folder;
  }

  /** What `head` says; undefined where it says nothing. */
  read(): Promise<HeadRecord | undefined> {
    return readHead(this.#host.disk, this.#folder.head, this.#folder.id);
  }

  /** Rejects `durability_unknown` where an unsure note of this boot and this mount stands. */
  async refuseUnsure(record: HeadRecord | undefined, file: UnsureNote["file"]): Promise<void> {
    const note = record?.unsure?.find((one) => one.file === file);
    if (note === undefined) return;
    const { boot, mount } = await this.#here();
    if (note.boot !== boot || note.mount !== mount) return;
    const { id } = this.#folder;
    throw new HoldfastError(
      "durability_unknown",
      `a write to the ${file} of session ${id} failed at byte ${note.size}, and what is on disk is unknown`,
      { hint: `Write it anew from what is readable: holdfast session repair ${id}` },
    );
  }

  /** Notes that the bytes of a file from `size` on are unsure, or takes the note back. */
  async note(file: UnsureNote["file"], size: number | undefined): Promise<void> {
    try {
      const found = (await this.read()) ?? this.#unknown();
      const others = (found.unsure ?? []).filter((one) => one.file !== file);
      const own = size === undefined ? [] : [{ file, size, ...(await this.#here()) }];
      await writeHead(this.#host.disk, this.#folder.head, { ...found, unsure: [...others, ...own] });
    } catch (error) {
      // The disk fails already; the writer that asked for the note ends whether or not it could be written.
      if (!isDiskError(error)) throw error;
    }
  }

  /** Records a clean end; keeps the queue's note, if it is of this boot and mount. */
  async recordEnd(head: ChainHead, bytes: number): Promise<void> {
    const { boot, mount } = await this.#here();
    const kept = (await this.read())?.unsure?.filter(
      (note) => note.file === "queue" && note.boot === boot && note.mount === mount,
    );
    const { seq, sum, epoch } = head;
    const record: HeadRecord = {
      v: 1,
      ses: this.#folder.id,
      seq,
      sum,
      bytes,
      epoch,
      ...(kept && { unsure: kept }),
    };
    await writeHead(this.#host.disk, this.#folder.head, record);
  }

  /** Where nothing is known of the log: a position that every log has. */
  #unknown(): HeadRecord {
    return { v: 1, ses: this.#folder.id, seq: -1, sum: zeroSum, bytes: 0, epoch: 0 };
  }

  async #here(): Promise<{ boot: string; mount: string }> {
    const { mountId } = await this.#host.disk.fileSystem(this.#folder.root);
    return { boot: this.#host.processes.self.bootId, mount: mountId };
  }
}
