import type { HeldLock, Host } from "../host/index.ts";
import { isDiskError, sha256 } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { ChainHead } from "./chain.ts";
import type { HeadRecord, UnsureNote } from "./head-file.ts";
import { readHead, writeHead } from "./head-file.ts";
import { zeroSum } from "./line.ts";
import type { SessionFolder } from "./session-folder.ts";
import type { UnsureBytes } from "./take-back.ts";

const lockForMs = 500;
const pauseMs = 2;
/** A boot's or a mount's name as it stands in `head`, which has room for no more. */
const placeCharactersMax = 40;

/** What this process knows of a write of its own that failed. */
interface RememberedWrite {
  readonly note: UnsureNote;
  /** The file that it was written to, where that is known; a repair puts another one in its place. */
  readonly inode: string | undefined;
  /** True when the bytes are gone, so that the note must go as well. */
  readonly isGone: boolean;
}

/**
 * Keeps a session's `head`: where the log ended, and which bytes are unsure after a failed write. The log's holder and
 * the queue's appenders change it under different locks, so each change is made under a lock of its own, on `head` itself
 * (empty where the lock made it, which says nothing): on a full disk both fail at once, and one must not bring back the
 * note that the other has just taken away.
 */
export class HeadKeeper {
  readonly #host: Host;
  readonly #folder: SessionFolder;
  /** A disk that fails may not take the note either: then at least this process must not forget. */
  readonly #failed = new Map<UnsureNote["file"], RememberedWrite>();

  constructor(host: Host, folder: SessionFolder) {
    this.#host = host;
    this.#folder = folder;
  }

  /** What `head` says; undefined where it says nothing. */
  read(): Promise<HeadRecord | undefined> {
    return readHead(this.#host.disk, this.#folder.head, this.#folder.id);
  }

  /** The note that bytes of this file are unsure, where it is of this boot and this mount. */
  async unsureNote(
    record: HeadRecord | undefined,
    file: UnsureNote["file"],
  ): Promise<UnsureNote | undefined> {
    const failed = this.#failed.get(file);
    if (failed !== undefined) {
      if (failed.isGone) return undefined;
      if (failed.inode === undefined || (await this.#inodeOf(file)) === failed.inode) return failed.note;
      this.#failed.delete(file);
    }
    const note = record?.unsure?.find((one) => one.file === file);
    if (note === undefined) return undefined;
    const { boot, mount } = await this.#here();
    return note.boot === boot && note.mount === mount ? note : undefined;
  }

  /** Rejects `durability_unknown` where such a note stands. */
  async refuseUnsure(record: HeadRecord | undefined, file: UnsureNote["file"]): Promise<void> {
    const note = await this.unsureNote(record, file);
    if (note === undefined) return;
    const { id } = this.#folder;
    throw new HoldfastError(
      "durability_unknown",
      `a write to the ${file} of session ${id} failed at byte ${note.size}, and what is on disk is unknown`,
      { hint: `Write it anew from what is readable: holdfast session repair ${id}` },
    );
  }

  /** Where the writers of one file note that bytes are unsure. */
  unsureBytes(file: UnsureNote["file"]): UnsureBytes {
    return {
      note: (size) => this.#note(file, size),
      gone: () => this.#gone(file),
      settle: () => this.#settle(file),
    };
  }

  /** Records a clean end of the log. Rejects with a DiskError, by which nothing but evidence is lost. */
  async recordEnd(head: ChainHead, bytes: number): Promise<void> {
    const { seq, sum, epoch } = head;
    await this.#change((found) => {
      // The log's own note is settled by whoever could append to it.
      const unsure = (found?.unsure ?? []).filter((note) => note.file === "queue");
      return { v: 1, ses: this.#folder.id, seq, sum, bytes, epoch, unsure };
    });
  }

  async #note(file: UnsureNote["file"], size: number): Promise<void> {
    const failed: RememberedWrite = { note: this.#noteOf(file, size), inode: undefined, isGone: false };
    this.#failed.set(file, failed);
    await quietly(async () => {
      const note = { ...failed.note, ...(await this.#here()) };
      this.#failed.set(file, { ...failed, note, inode: await this.#inodeOf(file) });
      await this.#change((found = this.#nothing()) => ({ ...found, unsure: [...others(found, file), note] }));
    });
  }

  /** Also for a note of another process, whose bytes a repair has put in safety. */
  async #gone(file: UnsureNote["file"]): Promise<void> {
    const failed = this.#failed.get(file) ?? { note: this.#noteOf(file, 0), inode: undefined };
    this.#failed.set(file, { ...failed, isGone: true });
    await quietly(() => this.#settle(file));
  }

  async #settle(file: UnsureNote["file"]): Promise<void> {
    if (this.#failed.get(file)?.isGone !== true) return;
    await this.#change((found) =>
      found === undefined || others(found, file).length === (found.unsure ?? []).length
        ? undefined
        : { ...found, unsure: others(found, file) },
    );
    this.#failed.delete(file);
  }

  #noteOf(file: UnsureNote["file"], size: number): UnsureNote {
    return { file, size, boot: short(this.#host.processes.self.bootId), mount: "" };
  }

  async #inodeOf(file: UnsureNote["file"]): Promise<string | undefined> {
    return (await this.#host.disk.stat(this.#folder[file]))?.inode;
  }

  async #change(change: (found: HeadRecord | undefined) => HeadRecord | undefined): Promise<void> {
    const lock = await this.#lock();
    try {
      const record = change(await this.read());
      if (record !== undefined) await writeHead(this.#host.disk, this.#folder.head, record);
    } finally {
      await lock?.release();
    }
  }

  /** Undefined where it cannot be had: a note that may be lost is better than none. */
  async #lock(): Promise<HeldLock | undefined> {
    const { locks, clock } = this.#host;
    const until = clock.monotonicMs() + lockForMs;
    for (;;) {
      try {
        const lock = await locks.tryLock(this.#folder.head);
        if (lock !== undefined) return lock;
      } catch (error) {
        if (!isDiskError(error)) throw error;
        return undefined;
      }
      if (clock.monotonicMs() >= until) return undefined;
      await clock.sleep(pauseMs);
    }
  }

  /** Where nothing is known of the log. */
  #nothing(): HeadRecord {
    return { v: 1, ses: this.#folder.id, seq: -1, sum: zeroSum, bytes: 0, epoch: 0 };
  }

  async #here(): Promise<{ boot: string; mount: string }> {
    const { mountId } = await this.#host.disk.fileSystem(this.#folder.root);
    return { boot: short(this.#host.processes.self.bootId), mount: short(mountId) };
  }
}

function others(record: HeadRecord, file: UnsureNote["file"]): UnsureNote[] {
  return (record.unsure ?? []).filter((one) => one.file !== file);
}

/** The disk fails already; what could not be written is remembered, and tried again before the next write. */
async function quietly(effects: () => Promise<void>): Promise<void> {
  try {
    await effects();
  } catch (error) {
    if (!isDiskError(error)) throw error;
  }
}

function short(name: string): string {
  return name.length <= placeCharactersMax ? name : sha256(name).slice(0, placeCharactersMax);
}
