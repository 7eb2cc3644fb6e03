import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundlePeers, type PeerPrograms } from "./programs.ts";
import { Child, type ChildStart } from "./child.ts";

/** What a plan keeps while it lasts: the programs that it starts, folders, children. Nothing of it outlives `end`. */
export class Room {
  readonly #children = new Set<Child>();
  readonly #folders = new Set<string>();
  #programs: Promise<PeerPrograms> | undefined;

  /** The peers, bundled when first asked for. */
  programs(): Promise<PeerPrograms> {
    this.#programs ??= bundlePeers();
    return this.#programs;
  }

  /**
   * A new folder, in memory where the system has such a place: a kill takes nothing from the system's cache, so
   * nothing is proven by a disk below it, and its syncs would be most of the time.
   */
  folder(): string {
    const memory = "/dev/shm";
    const parent = existsSync(memory) ? memory : tmpdir();
    const folder = realpathSync(mkdtempSync(join(parent, "hfk-")));
    this.#folders.add(folder);
    return folder;
  }

  /** Removes a folder; what was killed may still be dying. */
  remove(folder: string): void {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    this.#folders.delete(folder);
  }

  /** Starts a process that does not outlive this room. */
  start(start: ChildStart): Child {
    const child = new Child(start);
    this.#children.add(child);
    const forget = (): void => void this.#children.delete(child);
    child.ended.then(forget, forget);
    return child;
  }

  /** Starts a peer with these options. */
  peer(program: string, options: unknown, start: Partial<ChildStart> = {}): Child {
    // One thread less to start for what never compiles much.
    const args = ["--v8-pool-size=1", program, JSON.stringify(options)];
    return this.start({ file: process.execPath, args, ...start });
  }

  async end(): Promise<void> {
    for (const child of this.#children) child.signal("SIGKILL");
    await Promise.allSettled([...this.#children].map((child) => child.ended));
    for (const folder of this.#folders) this.remove(folder);
  }
}
