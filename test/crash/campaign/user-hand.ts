import { posix } from "node:path";
import type { MemoryDisk } from "../memory-disk.ts";

/** A user at the same files, by an editor and by other programs. */
export class UserHand {
  readonly #disk: MemoryDisk;

  constructor(disk: MemoryDisk) {
    this.#disk = disk.view("user");
  }

  /** Saves a file as editors do: a new one beside it, then renamed over it. Durable when it resolves. */
  async save(path: string, text: string): Promise<void> {
    const beside = `${path}~`;
    if ((await this.#disk.statLink(beside)) !== undefined) await this.#disk.remove(beside);
    const file = await this.#disk.open(beside, "create");
    await file.write(new TextEncoder().encode(text), 0);
    await file.sync();
    await file.close();
    await this.#disk.rename(beside, path);
    await this.#disk.syncDirectory(posix.dirname(path));
  }

  /** Writes into the file that is there. Durable when it resolves. */
  async writeInto(path: string, text: string): Promise<void> {
    const file = await this.#disk.open(path, "update");
    await file.truncate(0);
    await file.write(new TextEncoder().encode(text), 0);
    await file.sync();
    await file.close();
  }

  /** Removes all files that are not among these, as `git clean` does, hidden ones included. */
  async clean(kept: readonly string[]): Promise<void> {
    for (const path of this.#disk.files()) {
      if (path.startsWith("/project/") && !kept.includes(path)) await this.#disk.remove(path);
    }
    await this.#disk.syncDirectory("/project");
  }
}
