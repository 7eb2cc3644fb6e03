import { posix } from "node:path";
import {
  DiskError,
  isDiskError,
  messageBytesMax,
  socketPathBytesMax,
  type Connection,
  type Listener,
  type Sockets,
} from "../../src/host/index.ts";
import type { MemoryDisk } from "./memory-disk.ts";

/** A name that somebody listens on, or listened on until he died. */
interface Name {
  readonly owner: MemoryDisk;
  readonly accept: (connection: Connection) => void;
  readonly ends: Set<End>;
}

/** The names of all sockets of a machine. A name stays when its listener dies, and then refuses. */
export class SocketTable {
  readonly names = new Map<string, Name>();
}

const directory = "/run/holdfast";

/** The sockets of one process; its view of the disk says who it is, counts what it does, and tells when it is dead. */
export class MemorySockets implements Sockets {
  readonly #disk: MemoryDisk;
  readonly #table: SocketTable;
  readonly #ends = new Set<End>();

  constructor(disk: MemoryDisk, table: SocketTable) {
    this.#disk = disk;
    this.#table = table;
  }

  async directory(): Promise<string> {
    for (const path of [posix.dirname(directory), directory]) await this.#makeDirectory(path);
    return directory;
  }

  listen(path: string, accept: (connection: Connection) => void): Promise<Listener> {
    return this.#disk.perform("listen", path, {
      act: () => {
        this.#checkName(path);
        const name = { owner: this.#disk, accept, ends: this.#ends };
        this.#table.names.set(path, name);
        return { close: () => this.#stopListening(path, name) };
      },
    });
  }

  connect(path: string): Promise<Connection> {
    return this.#disk.perform("connect", path, {
      act: () => {
        checkLength(path, "connect to");
        const name = this.#table.names.get(path);
        if (name === undefined) {
          const isFile = this.#disk.inodeOf(path) !== undefined;
          throw new DiskError(isFile ? "ECONNREFUSED" : "ENOENT", "connect to", path);
        }
        if (name.owner.isDead) throw new DiskError("ECONNREFUSED", "connect to", path);
        return this.#connectTo(path, name);
      },
    });
  }

  /** The system's part in the end of the process: whoever is connected is told, behind all that was sent. */
  die(): void {
    for (const end of this.#ends) end.hangUp();
  }

  /** Breaks every connection of the process, as if the system had. */
  breakConnections(): void {
    for (const end of this.#ends) end.break();
  }

  async #makeDirectory(path: string): Promise<void> {
    if (this.#disk.inodeOf(path) !== undefined) return;
    try {
      await this.#disk.makeDirectory(path);
    } catch (error) {
      if (!isDiskError(error, "EEXIST")) throw error;
    }
  }

  #checkName(path: string): void {
    checkLength(path, "listen on");
    if (this.#disk.inodeOf(posix.dirname(path)) === undefined)
      throw new DiskError("ENOENT", "listen on", path);
    const isTaken = this.#table.names.get(path)?.owner.isDead === false;
    if (isTaken || this.#disk.inodeOf(path) !== undefined)
      throw new DiskError("EADDRINUSE", "listen on", path);
  }

  #stopListening(path: string, name: Name): Promise<void> {
    return this.#disk.perform("stopListening", path, {
      act: () => {
        if (this.#table.names.get(path) === name) this.#table.names.delete(path);
      },
    });
  }

  #connectTo(path: string, name: Name): Connection {
    const ours = new End(this.#disk, path, this.#ends);
    const theirs = new End(name.owner, path, name.ends);
    ours.join(theirs);
    queueMicrotask(() => void this.#accept(path, name, theirs));
    return ours;
  }

  async #accept(path: string, name: Name, end: End): Promise<void> {
    while (name.owner.stopped !== undefined) await name.owner.stopped;
    if (name.owner.isDead) return;
    // Whoever has stopped listening before he saw us leaves us to the system.
    if (this.#table.names.get(path) === name) name.accept(end);
    else end.hangUp();
  }
}

function checkLength(path: string, verb: string): void {
  if (Buffer.byteLength(path) > socketPathBytesMax) throw new DiskError("ENAMETOOLONG", verb, path);
}

/** One end of a connection. What is sent waits at the other end until somebody listens there. */
class End implements Connection {
  readonly #disk: MemoryDisk;
  readonly #path: string;
  readonly #all: Set<End>;
  #other: End | undefined;
  /** Texts that came, in order; undefined is the end. */
  readonly #came: (string | undefined)[] = [];
  #reader: { readonly message: (value: unknown) => void; readonly closed: () => void } | undefined;
  #isOpen = true;
  #hasHungUp = false;
  #isOver = false;
  #isDelivering = false;

  constructor(disk: MemoryDisk, path: string, all: Set<End>) {
    this.#disk = disk;
    this.#path = path;
    this.#all = all.add(this);
  }

  join(other: End): void {
    this.#other = other;
    other.#other = this;
  }

  send(message: unknown): boolean {
    const text = encode(message);
    const details = { bytes: Buffer.byteLength(text) };
    const act = (): boolean => {
      if (!this.#isOpen) return false;
      this.#other?.take(text);
      return true;
    };
    try {
      return this.#disk.performNow("send", this.#path, { act, details }, false);
    } catch (error) {
      if (!isDiskError(error)) throw error;
      this.break();
      return false;
    }
  }

  onMessage(message: (value: unknown) => void, closed: () => void): void {
    if (this.#isOver) queueMicrotask(closed);
    else this.#reader = { message, closed };
    this.#wake();
  }

  close(): void {
    if (!this.#isOpen && this.#hasHungUp) return;
    this.#disk.performNow("hangUp", this.#path, { act: () => this.break() }, undefined);
  }

  /** Tells the other end that nothing comes any more. */
  hangUp(): void {
    if (this.#hasHungUp) return;
    this.#hasHungUp = true;
    this.#isOpen = false;
    this.#all.delete(this);
    this.#other?.take(undefined);
  }

  /** What the other end has sent. */
  take(text: string | undefined): void {
    this.#came.push(text);
    this.#wake();
  }

  break(): void {
    this.hangUp();
    this.#came.splice(0, Infinity, undefined);
    this.#wake();
  }

  #wake(): void {
    if (this.#isDelivering || this.#reader === undefined) return;
    this.#isDelivering = true;
    queueMicrotask(() => void this.#deliver());
  }

  async #deliver(): Promise<void> {
    while (this.#disk.stopped !== undefined) await this.#disk.stopped;
    this.#isDelivering = false;
    while (this.#came.length > 0 && !this.#isOver && !this.#disk.isDead) {
      const text = this.#came.shift();
      if (text === undefined) {
        this.#isOver = true;
        this.hangUp();
        this.#reader?.closed();
      } else this.#reader?.message(JSON.parse(text));
    }
  }
}

function encode(message: unknown): string {
  const text = JSON.stringify(message) as string | undefined; // A function, for one, has no JSON.
  if (text === undefined) throw new TypeError("This message has no form in JSON.");
  const bytes = Buffer.byteLength(text) + 1;
  if (bytes > messageBytesMax) throw new RangeError(`A message of ${bytes} bytes cannot be sent.`);
  return text;
}
