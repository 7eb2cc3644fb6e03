import { join, resolve } from "node:path";
import type { Host } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import { isId } from "../model/ids.ts";
import type { DamagedRow, LastRow } from "./last-row.ts";
import { lastRowBytes, readLastRow } from "./last-row.ts";
import { isHeld } from "./lease.ts";
import { folderOf } from "./session-folder.ts";

/** Which sessions there are and how their logs end: all that a list needs, and nothing that writes. */
export class SessionIndex {
  readonly directory: string;
  readonly #host: Pick<Host, "disk" | "locks">;
  /** For one reading at a time; whoever comes meanwhile makes another one. */
  #spareBuffer: Buffer | undefined;

  constructor(host: Pick<Host, "disk" | "locks">, directory: string) {
    this.#host = host;
    this.directory = resolve(directory);
  }

  /** Ids of all sessions, oldest first. */
  async ids(): Promise<string[]> {
    try {
      const names = await this.#host.disk.list(join(this.directory, "sessions"));
      return names.filter((name) => isId("ses", name)).toSorted();
    } catch (error) {
      if (!isDiskError(error)) throw error;
      if (error.code === "ENOENT") return [];
      throw new HoldfastError(
        "io_error",
        `cannot read the state directory ${this.directory}: ${error.code}`,
        {
          hint: "Choose another one with --state-dir or HOLDFAST_STATE_DIR.",
          cause: error,
        },
      );
    }
  }

  /** The newest row of a session and how its log ends, read from behind. */
  async lastRow(id: string): Promise<LastRow | DamagedRow> {
    const { log } = folderOf(this.directory, id);
    const buffer = this.#spareBuffer ?? Buffer.allocUnsafe(lastRowBytes);
    this.#spareBuffer = undefined;
    try {
      return await readLastRow({ disk: this.#host.disk, own: { path: log, session: id } }, buffer);
    } finally {
      this.#spareBuffer = buffer;
    }
  }

  /** True where a process holds the session's lease. */
  async isHeld(id: string): Promise<boolean> {
    return await isHeld(this.#host, folderOf(this.directory, id));
  }
}
