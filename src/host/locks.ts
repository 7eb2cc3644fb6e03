/**
 * Kernel locks on permanent lock files: released by the death of the holder, never by a timeout, not inherited by
 * children. A lock file is never unlinked; whoever gets a lock compares its inode with the path's.
 */

/** The code of the DiskError where this system has no locks for us: nothing can be held, ever. */
export const noLocks = "NO_LOCKS";

/** A lock that is held until {@link HeldLock.release} or the end of the process. */
export interface HeldLock {
  readonly path: string;
  /** The inode that was locked. */
  readonly inode: string;
  /** True while the path still names the inode that was locked. */
  isCurrent(): Promise<boolean>;
  release(): Promise<void>;
}

/** The operating system's locks. */
export interface Locks {
  /**
   * Tries once. Resolves to undefined where another process, or this one, holds a conflicting lock, or where the path
   * no longer names the locked inode. `shared` opens read-only and never creates; exclusive creates the file when absent.
   * Rejects with a DiskError where the file cannot be opened (a shared lock on an absent file:
   * ENOENT), and with {@link noLocks} where there are no locks at all, whatever the file.
   */
  tryLock(path: string, options?: { shared?: boolean }): Promise<HeldLock | undefined>;
}
