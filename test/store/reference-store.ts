/**
 * What a store is, said once more and as simply as possible: for each session two lists of lines, a holder at most, what
 * is on record of the log's end, and a few lines at the ends of which only time tells. It knows no file, no lock and no
 * disk.
 */

/** A line as a reader sees it: the kinds of its facts, what it says, and its epoch. */
export interface ReferenceLine {
  readonly kinds: readonly string[];
  readonly text?: string;
  readonly epoch: number;
}

/** What a reader sees of a file. */
export interface SeenFile {
  readonly lines: readonly ReferenceLine[];
  readonly remainder: string;
}

/** One of the two files. */
export class ReferenceFile {
  lines: ReferenceLine[];
  /** So many lines are there whatever happens. */
  certain: number;
  /** A line that was tried, that nobody acknowledged, and that may be there all the same. */
  tried: ReferenceLine | undefined;
  /** What stands behind the last line. */
  remainder = "none";
  /** True where a write failed and could not be undone. */
  unsure = false;

  constructor(lines: readonly ReferenceLine[]) {
    this.lines = [...lines];
    this.certain = lines.length;
  }

  get epoch(): number {
    return this.lines.at(-1)?.epoch ?? 0;
  }

  /** An acknowledged line; all before it is certain, too. */
  add(line: ReferenceLine): void {
    this.lines.push(line);
    this.certain = this.lines.length;
    this.tried = undefined;
  }

  /** What whoever appends next does about the end; the kind of fact that says so. */
  mend(): string[] {
    if (this.remainder === "none") return [];
    if (this.remainder === "complete" && this.tried !== undefined) this.add(this.tried);
    this.remainder = "none";
    return ["repaired"];
  }

  /** What was not certain may be gone. */
  powerCut(): void {
    const [lost] = this.lines.slice(this.certain);
    this.tried = lost ?? this.tried;
    this.lines = this.lines.slice(0, this.certain);
    this.unsure = false;
  }

  /** Takes in what is seen of what was uncertain. `mayBeTorn`: a death or a power cut came just now. */
  decide(seen: SeenFile, mayBeTorn: boolean): void {
    if (this.tried !== undefined && seen.lines.length === this.lines.length + 1) {
      this.lines.push(this.tried);
      this.tried = undefined;
    }
    if (mayBeTorn) this.remainder = seen.remainder;
    if (this.remainder !== "complete") this.tried = undefined;
  }
}

/** Who holds a session. */
export interface Holder {
  readonly name: string;
  readonly epoch: number;
}

/** One session. */
export class ReferenceSession {
  readonly log = new ReferenceFile([{ kinds: ["session.created", "row"], epoch: 0 }]);
  readonly queue = new ReferenceFile([]);
  holder: Holder | undefined;
  head = { seq: 0, epoch: 0 };
  isDeleted = false;
  /** What the holder did about the queue's end, and has not said there yet. */
  readonly #mended: string[] = [];
  /** Which store raised which epoch, by its line. */
  readonly #stores = new Map<number, string>();

  /** Why it cannot be opened under a lease that was got. */
  refusal(accept: boolean): string | undefined {
    return this.head.seq >= this.log.lines.length && !accept ? "rolled_back" : undefined;
  }

  /** Where a message stands: the line and what it says. */
  find(id: string): { readonly seq: number; readonly text: string } | undefined {
    const seq = this.log.lines.findIndex(({ text }) => text?.startsWith(`${id}=`));
    const text = this.log.lines[seq]?.text;
    return text === undefined ? undefined : { seq, text };
  }

  /** The line that begins an epoch, with what is to be said of what was found. */
  raise(name: string, store: string, extra: readonly string[] = []): void {
    const isRolledBack = this.head.seq >= this.log.lines.length;
    const mended = this.log.mend();
    const epoch = Math.max(this.log.epoch, this.queue.epoch, this.head.epoch) + 1;
    const last = [...this.#stores.values()].at(-1);
    const moved = last === undefined || last === store ? [] : ["session.moved"];
    const accepted = isRolledBack ? ["rollback.accepted"] : [];
    this.log.add({ kinds: ["epoch.raised", ...moved, ...mended, ...extra, ...accepted], epoch });
    this.holder = { name, epoch };
    this.#stores.set(this.log.lines.length - 1, store);
    if (isRolledBack) this.recordEnd();
  }

  /** The line that an admission, or another fact of a queue, becomes. */
  queueLine(kind: string, text: string | undefined, by: string): ReferenceLine {
    const holder = this.holder?.name === by ? this.holder : undefined;
    const raises = holder !== undefined && holder.epoch > this.queue.epoch;
    const epoch = raises ? holder.epoch : this.queue.epoch;
    const mended =
      holder === undefined ? this.queue.mend() : [...this.#mended.splice(0), ...this.queue.mend()];
    const kinds = [...(raises ? ["epoch.raised"] : []), ...mended, kind];
    return { kinds, epoch, ...(text !== undefined && { text }) };
  }

  /** The holder looks at the queue under its lock, and mends its end. */
  look(): void {
    this.#mended.push(...this.queue.mend());
  }

  /** A line did not come: what it was to say of the queue's end its holder says later. */
  takeBack(line: ReferenceLine, by: string): void {
    if (this.holder?.name === by && line.kinds.includes("repaired")) this.#mended.push("repaired");
  }

  /** The process is gone, or let go without a word. */
  leave(): void {
    this.holder = undefined;
    this.#mended.length = 0;
  }

  letGo(): void {
    this.log.add({ kinds: ["lease.released"], epoch: this.holder?.epoch ?? 0 });
    this.recordEnd();
    this.leave();
  }

  /** Somebody repairs both files, where anything is to be repaired. */
  repair(name: string, store: string): void {
    const log = this.#repairFile(this.log);
    const queue = this.#repairFile(this.queue);
    if (log.length + queue.length === 0) return;
    this.raise(name, store, log);
    if (queue.length > 0) this.queue.add(this.queueLine("repaired", undefined, name));
    this.letGo();
  }

  #repairFile(file: ReferenceFile): string[] {
    const wasUnsure = file.unsure;
    const mended = file.mend();
    file.unsure = false;
    if (wasUnsure) file.certain = file.lines.length;
    return wasUnsure ? ["repaired"] : mended;
  }

  recordEnd(): void {
    this.head = { seq: this.log.lines.length - 1, epoch: this.log.epoch };
  }

  /** The log as it was some lines ago, with all else as it is. */
  rollBack(lines: number): void {
    this.log.lines = this.log.lines.slice(0, lines);
    for (const seq of this.#stores.keys()) if (seq >= lines) this.#stores.delete(seq);
    this.settle();
  }

  settle(): void {
    // What a failed sync has lost is not there for any later one.
    for (const file of [this.log, this.queue]) if (!file.unsure) file.certain = file.lines.length;
  }
}

/** The store. */
export class ReferenceStore {
  readonly sessions = new Map<string, ReferenceSession>();
  store = "store 0";
  isCopied = false;

  adopt(): void {
    if (this.isCopied) this.store = `${this.store}'`;
    this.isCopied = false;
  }

  /** All processes are gone. */
  kill(): void {
    for (const session of this.sessions.values()) session.leave();
  }

  powerCut(): void {
    this.kill();
    for (const { log, queue } of this.sessions.values()) for (const file of [log, queue]) file.powerCut();
  }
}

/** What a line counts: records before it, and revision and visible messages after it. */
export function countersOf(lines: readonly ReferenceLine[]): { rec: number; rev: number; msgs: number }[] {
  let said = 0;
  return lines.map(({ kinds }) => {
    const before = said;
    if (kinds.includes("message")) said++;
    return { rec: before, rev: said, msgs: said };
  });
}
