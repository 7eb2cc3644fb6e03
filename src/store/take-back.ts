import type { Disk } from "../host/index.ts";

/**
 * What happens to bytes whose write or sync failed. They were acknowledged to nobody, but after a failed sync the page
 * cache shows them while the disk may lack them, for good: no later sync writes them, and reading them proves nothing.
 *
 *     note that they are unsure → cut them through a new descriptor, and sync → take the note back
 *                                 X: they stay unsure, and nobody appends behind them
 */

/** Where it is noted durably that the bytes at a file's end are unsure. */
export interface UnsureBytes {
  /** Notes that the bytes from `size` on are unsure. Never rejects for a failing disk: this process knows it then. */
  note(size: number): Promise<void>;
  /** The bytes are gone: takes the note back, now or in {@link UnsureBytes.settle}. Never rejects for a failing disk. */
  gone(): Promise<void>;
  /** Must come before each write. Rejects with a DiskError while a note stands whose bytes are gone. */
  settle(): Promise<void>;
}

/** The bytes that are to go, and what must still be true for it. */
export interface FailedWrite {
  readonly disk: Disk;
  readonly path: string;
  /** Size of the file before them. */
  readonly size: number;
  /** What was written of ours, to the end of the file. */
  readonly bytes: Uint8Array;
  readonly guard: { readonly path: string; readonly inode: string };
}

/** `gone`: provably undone. `foreign`: something else stands there. `unsure`: nobody may append. */
export type TakenBack =
  | { readonly state: "gone" }
  | { readonly state: "foreign" }
  | { readonly state: "unsure"; readonly cause: unknown };

/** Cuts what was noted as unsure; the caller has noted it. Resolves to what became of it. */
export async function takeBack({ disk, path, size, bytes, guard }: FailedWrite): Promise<TakenBack> {
  try {
    return { state: (await disk.cutTail({ path, size, bytes, guard })) ? "gone" : "foreign" };
  } catch (cause) {
    return { state: "unsure", cause };
  }
}
