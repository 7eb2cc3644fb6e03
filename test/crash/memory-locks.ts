import type { HeldLock, Locks } from "../../src/host/index.ts";
import type { MemoryDisk } from "./memory-disk.ts";

interface Holder {
  readonly shared: boolean;
}

/** Who holds what, by inode. One for all processes of a disk; a crashed disk needs a new one. */
export class LockTable {
  readonly #holders = new Map<string, Set<Holder>>();

  /** Undefined where a conflicting lock is held; else what gives it back. */
  take(inode: string, shared: boolean): (() => void) | undefined {
    const holders = this.#holders.get(inode) ?? new Set();
    if (holders.size > 0 && !(shared && [...holders].every((holder) => holder.shared))) return undefined;
    const holder = { shared };
    this.#holders.set(inode, holders.add(holder));
    return () => holders.delete(holder);
  }
}

/** The locks of one simulated process. */
export class MemoryLocks implements Locks {
  readonly #disk: MemoryDisk;
  readonly #table: LockTable;
  readonly #broken: boolean;
  readonly #held = new Set<() => void>();

  /** `broken` locks are granted always, as on a file system that only pretends to lock. */
  constructor(disk: MemoryDisk, table: LockTable, options: { broken?: boolean } = {}) {
    this.#disk = disk;
    this.#table = table;
    this.#broken = options.broken ?? false;
  }

  tryLock(path: string, { shared = false }: { shared?: boolean } = {}): Promise<HeldLock | undefined> {
    return this.#disk.perform("lock", path, { act: () => this.#tryLock(path, shared) });
  }

  /** The system's part in the end of the process: all its locks are free. */
  die(): void {
    this.#held.forEach((release) => release());
  }

  #tryLock(path: string, shared: boolean): HeldLock | undefined {
    const disk = this.#disk;
    const { inode, unpin } = disk.pin(path, !shared);
    const give = this.#broken ? () => undefined : this.#table.take(inode, shared);
    if (give === undefined) {
      unpin();
      return undefined;
    }
    const release = (): void => {
      if (!this.#held.delete(release)) return;
      give();
      unpin();
    };
    this.#held.add(release);
    return {
      path,
      inode,
      isCurrent: async () => this.#held.has(release) && disk.inodeOf(path) === inode,
      release: () => disk.perform("unlock", path, { act: release }),
    };
  }
}
