import { hash } from "node:crypto";

interface Room {
  /** Beyond `used` all is zero. */
  bytes: Uint8Array;
  /** As far as any content that is in here reaches, or reached. */
  used: number;
  isShared: boolean;
}

/** What was found out about bytes that do not change any more; found out once for all who share them. */
interface Knowledge {
  digest?: string;
  numbers?: ReadonlySet<string>;
}

/** The bytes of a file that grows. To share them costs nothing; who writes then takes a copy where he must. */
export class Content {
  #room: Room = { bytes: new Uint8Array(0), used: 0, isShared: false };
  #size = 0;
  #knowledge: Knowledge = {};

  get size(): number {
    return this.#size;
  }

  /** The same bytes, which from now on change apart from these. */
  share(): Content {
    this.#room.isShared = true;
    const other = new Content();
    other.#room = this.#room;
    other.#size = this.#size;
    other.#knowledge = this.#knowledge;
    return other;
  }

  /** A copy of everything. */
  bytes(): Uint8Array {
    return this.#room.bytes.slice(0, this.#size);
  }

  /** Equal for equal bytes and, as far as can be seen, for no others. */
  digest(): string {
    return (this.#knowledge.digest ??= hash("sha1", this.#view(), "base64"));
  }

  /** The long decimal numbers that stand here as text: what may tell of a time in nanoseconds. */
  numbers(): ReadonlySet<string> {
    return (this.#knowledge.numbers ??= numbersIn(this.#view()));
  }

  /** Copies what stands at `position` into `into` and returns the count. */
  read(into: Uint8Array, position: number): number {
    const part = this.#view().subarray(position, position + into.length);
    into.set(part);
    return part.length;
  }

  /** True where these bytes stand from `position` on. */
  hasAt(position: number, expected: Uint8Array): boolean {
    const part = this.#view().subarray(position, position + expected.length);
    return Buffer.compare(part, expected) === 0;
  }

  /** A write beyond the end leaves zeros before it. */
  write(bytes: Uint8Array, position: number): void {
    if (bytes.length === 0) return;
    const end = position + bytes.length;
    this.#make(end, position);
    this.#room.bytes.set(bytes, position);
    this.#grow(end);
  }

  /** Cuts, or grows with zeros. */
  truncate(size: number): void {
    if (size > this.#size) {
      this.#make(size, this.#size);
      this.#grow(size);
    }
    this.#size = size;
    this.#knowledge = {};
  }

  #view(): Uint8Array {
    return this.#room.bytes.subarray(0, this.#size);
  }

  #grow(end: number): void {
    this.#size = Math.max(this.#size, end);
    this.#room.used = Math.max(this.#room.used, this.#size);
    this.#knowledge = {};
  }

  /** Makes room up to `end` for whoever changes what is there from `start` on. */
  #make(end: number, start: number): void {
    const room = this.#room;
    // What lies behind the end of everybody who shares the room belongs to the first who comes.
    const isOurs = !room.isShared || (start >= this.#size && this.#size === room.used);
    if (isOurs && end <= room.bytes.length) {
      // What was cut must not come back.
      if (this.#size < room.used) room.bytes.fill(0, this.#size, room.used);
      return;
    }
    const grown = new Uint8Array(end <= this.#size ? this.#size : Math.max(end + (end >> 1), 256));
    grown.set(this.#view());
    this.#room = { bytes: grown, used: this.#size, isShared: false };
  }
}

/** The long decimal numbers that stand in bytes as text. */
export function numbersIn(bytes: Uint8Array): ReadonlySet<string> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  return new Set(text.match(/\d{19}/g));
}
