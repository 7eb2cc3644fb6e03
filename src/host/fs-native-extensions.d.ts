// The package has no types; these are the two of its functions that we use.
declare module "fs-native-extensions" {
  /** Length 0 reaches to the end of the file, however long it becomes. False where a conflicting lock is held. */
  export function tryLock(
    descriptor: number,
    offset: number,
    length: number,
    options: { shared: boolean },
  ): boolean;
  export function unlock(descriptor: number): void;
}
