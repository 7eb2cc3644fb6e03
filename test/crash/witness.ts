import type { MemoryDisk } from "./memory-disk.ts";

/** A file outside of the workspace that tells how often something really happened, whatever the product says of it. */
export class Witness {
  static readonly path = "/witness/log";
  readonly #disk: MemoryDisk;

  constructor(disk: MemoryDisk) {
    this.#disk = disk;
  }

  /** Makes the file, durable and empty. */
  set(): void {
    this.#disk.plant(Witness.path, "");
  }

  /** How many whole lines are that word. After a power cut those that were not synced may be gone. */
  count(word: string): number {
    const bytes = this.#disk.peek(Witness.path) ?? new Uint8Array();
    const lines = new TextDecoder().decode(bytes).split("\n").slice(0, -1);
    return lines.filter((line) => line === word).length;
  }
}
