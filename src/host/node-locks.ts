import * as fs from "node:fs";
import { DiskError } from "./disk.ts";
import type { HeldLock, Locks } from "./locks.ts";
import { noLocks } from "./locks.ts";
import { codeOf } from "./node-disk.ts";
import { isSystemError } from "./system-error.ts";

type LockFunctions = typeof import("fs-native-extensions");

/**
 * The locks of this machine: of an open file description on Linux, flock on macOS. Each attempt opens the file anew:
 * a lock taken twice through one descriptor would convert, not conflict, so this process would not exclude itself.
 */
export function nodeLocks(): Locks {
  let functions: Promise<LockFunctions> | undefined;
  return {
    async tryLock(path, { shared = false } = {}) {
      functions ??= loadFunctions(path);
      const { tryLock, unlock } = await functions.catch((error: unknown) => {
        // What is missing now may be there for the next attempt.
        functions = undefined;
        throw error;
      });
      const descriptor = openLockFile(path, shared);
      let held: HeldLock | undefined;
      try {
        if (!tryLock(descriptor, 0, 0, { shared })) return undefined;
        // Somebody may have put another file there between our open and our lock; then we hold a lock on nothing.
        if (isSameFile(path, fs.fstatSync(descriptor, { bigint: true }))) {
          held = holdLock(path, descriptor, unlock);
        } else {
          unlock(descriptor);
        }
        return held;
      } catch (error) {
        throw new DiskError(codeOf(error), "lock", path, error);
      } finally {
        if (held === undefined) fs.closeSync(descriptor);
      }
    },
  };
}

/** Loaded at the first lock only: most commands take none, and the addon costs more than the rest of a short one. */
async function loadFunctions(path: string): Promise<LockFunctions> {
  try {
    return await import("fs-native-extensions");
  } catch (error) {
    if (isSystemError(error)) throw new DiskError(error.code, "load the locks for", path, error);
    // The package has no binary for this system, or one that does not load here.
    throw new DiskError(noLocks, `lock (${process.platform}-${process.arch})`, path, error);
  }
}

function openLockFile(path: string, shared: boolean): number {
  const { O_CREAT, O_RDONLY, O_RDWR } = fs.constants;
  try {
    return fs.openSync(path, shared ? O_RDONLY : O_RDWR | O_CREAT, 0o600);
  } catch (error) {
    throw new DiskError(codeOf(error), "open", path, error);
  }
}

function holdLock(path: string, descriptor: number, unlock: (descriptor: number) => void): HeldLock {
  const locked = fs.fstatSync(descriptor, { bigint: true });
  let held = true;
  return {
    path,
    inode: String(locked.ino),
    isCurrent: async () => held && isSameFile(path, locked),
    async release() {
      if (!held) return;
      held = false;
      try {
        // Closing alone is too late where a child is between its fork and its exec: it still has the description.
        unlock(descriptor);
      } finally {
        fs.closeSync(descriptor);
      }
    },
  };
}

function isSameFile(path: string, locked: fs.BigIntStats): boolean {
  const found = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  return found !== undefined && found.ino === locked.ino && found.dev === locked.dev;
}
