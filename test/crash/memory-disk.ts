/**
 * A disk in memory that knows what a kill leaves from what a power cut leaves. Several simulated processes share it,
 * each through a {@link MemoryDisk.view} of its own. It waits for nothing but the gate, so a test that opens the gate
 * decides the order of everything.
 */
import { posix } from "node:path";
import {
  DiskError,
  type Disk,
  type DiskFile,
  type FileStat,
  type FileSystem,
  type OpenMode,
  type TailCut,
} from "../../src/host/index.ts";
import { changesDisk, type Action, type Effect, type Fault, type Verb } from "./memory-effect.ts";
import { openNode, toFileStat } from "./memory-file.ts";
import type { Fate, Node, UnsyncedChange } from "./memory-node.ts";
import { MemoryTree } from "./memory-tree.ts";

export { changesDisk, type Effect, type Fault, type Verb } from "./memory-effect.ts";
export type { Fate, UnsyncedChange } from "./memory-node.ts";

/** What is about to be asked of the disk. */
export type ComingEffect = Pick<Effect, "process" | "verb" | "path" | "to">;

interface Shared {
  readonly tree: MemoryTree;
  readonly effects: Effect[];
  fault: ((effect: Effect) => Fault | undefined) | undefined;
  gate: ((effect: Effect) => Promise<void> | undefined) | undefined;
  mount: FileSystem;
  readonly watchers: Set<{ readonly path: string; readonly changed: () => void }>;
  tells: number | undefined;
  onlooker: ((coming: ComingEffect) => Promise<void> | undefined) | undefined;
}

export class MemoryDisk implements Disk {
  readonly #shared: Shared;
  readonly #process: string;
  #dead = false;
  #stopped: Promise<void> | undefined;
  #goOn: () => void = () => undefined;

  constructor(tree: MemoryTree = new MemoryTree(), view?: { shared: Shared; process: string }) {
    const mount = { type: "memory", trusted: true, mountId: "1" };
    const watchers: Shared["watchers"] = new Set();
    const hooks = { fault: undefined, gate: undefined, watchers, tells: undefined, onlooker: undefined };
    this.#shared = view?.shared ?? { tree, effects: [], mount, ...hooks };
    this.#process = view?.process ?? "main";
  }

  // For tests

  /** All that was asked of the disk, by any process, in order. */
  get effects(): readonly Effect[] {
    return this.#shared.effects;
  }

  /** Asked right before each effect, after the gate. */
  set fault(fault: ((effect: Effect) => Fault | undefined) | undefined) {
    this.#shared.fault = fault;
  }

  /** Awaited before each effect. */
  set gate(gate: ((effect: Effect) => Promise<void> | undefined) | undefined) {
    this.#shared.gate = gate;
  }

  /** Awaited before an effect is even announced, with all that it does itself. */
  set onlooker(look: ((coming: ComingEffect) => Promise<void> | undefined) | undefined) {
    this.#shared.onlooker = look;
  }

  /** What `fileSystem` tells. */
  set mount(mount: FileSystem) {
    this.#shared.mount = mount;
  }

  /** How late, in turns, whoever watches a directory is told of a change in it; else nobody ever is: it is only a hint. */
  set tells(tells: number | undefined) {
    this.#shared.tells = tells;
  }

  /**
   * How many bytes there is room for; the content of all files counts, and a block of 4096 bytes for each file and each
   * directory. What does not fit fails with ENOSPC, and of a write what fits is written. Undefined: there is no end.
   */
  set space(bytes: number | undefined) {
    this.#shared.tree.space = bytes;
  }

  /** What counts against {@link space}. */
  get used(): number {
    return this.#shared.tree.used();
  }

  /** The same disk for another process. */
  view(process: string): MemoryDisk {
    return new MemoryDisk(undefined, { shared: this.#shared, process });
  }

  /** Ends the process of this view: nothing that it asks, or asked and did not get yet, ever happens or resolves. */
  die(): void {
    this.#dead = true;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** Stops the process of this view, as SIGSTOP does: what it asks for happens when it goes on. */
  stop(): void {
    this.#stopped ??= new Promise((resolve) => (this.#goOn = resolve));
  }

  /** Resolves when the process is not stopped any more; undefined where it is not. */
  get stopped(): Promise<void> | undefined {
    return this.#stopped;
  }

  goOn(): void {
    this.#stopped = undefined;
    this.#goOn();
  }

  /**
   * The disk after every process was killed: what was written is there, and what was not synced a later power cut may
   * still take. This disk stays as it is; what still writes to it reaches nobody.
   */
  kill(): MemoryDisk {
    return this.#with(this.#shared.tree.copy());
  }

  /**
   * The disk after a power cut. `choose` is asked for the fate of each change in {@link unsynced}, in order; without
   * it only what was synced is there. This disk stays as it is.
   */
  crash(choose: (change: UnsyncedChange, index: number) => Fate = () => "dropped"): MemoryDisk {
    let index = 0;
    return this.#with(this.#shared.tree.afterPowerCut((change) => choose(change, index++)));
  }

  /**
   * Equal for disks that nobody who runs on them next can tell apart, when all processes are dead: names, content and
   * what is unsynced are equal, and so is what our files tell of the files. Costs little where little was written.
   */
  fingerprint(): string {
    return this.#shared.tree.fingerprint();
  }

  /** Another disk of the same kind. */
  #with(tree: MemoryTree): MemoryDisk {
    const disk = new MemoryDisk(tree);
    disk.mount = this.#shared.mount;
    return disk;
  }

  /** The changes that a power cut may take, in the order they happened. */
  unsynced(): UnsyncedChange[] {
    return this.#shared.tree.unsynced();
  }

  /** Puts a file there, durable, with the directories above it, without an effect. Replaces the content of an old one. */
  plant(path: string, content: Uint8Array | string): void {
    const { tree } = this.#shared;
    const steps = posix.dirname(path).split("/").slice(1);
    steps.forEach((_, index) => {
      const directory = `/${steps.slice(0, index + 1).join("/")}`;
      if (tree.locate("plant", directory).node === undefined) tree.makeDirectory("plant", directory, 0o700);
    });
    const isThere = tree.locate("plant", path).node !== undefined;
    const node = isThere ? tree.findFile("plant", path) : tree.createFile("plant", path, 0o600);
    tree.truncate(node, path, 0);
    tree.write(node, path, typeof content === "string" ? new TextEncoder().encode(content) : content, 0);
    tree.settle();
  }

  /** Makes everything durable, without an effect. */
  settle(): void {
    this.#shared.tree.settle();
  }

  /** A file as processes see it, without an effect; undefined where none is. */
  peek(path: string): Uint8Array | undefined {
    if (this.inodeOf(path) === undefined) return undefined;
    return this.#shared.tree.findFile("peek", path).cached.bytes();
  }

  /** A file as a power cut that takes everything unsynced would leave it; undefined where it would leave none. */
  peekDurable(path: string): Uint8Array | undefined {
    return this.#shared.tree.durableBytes(path);
  }

  /** The paths of all files, as processes see them, sorted. */
  files(): string[] {
    return this.#shared.tree.files();
  }

  /** The inode's number, without an effect; undefined where nothing is. */
  inodeOf(path: string): string | undefined {
    const node = this.#shared.tree.findIfThere("stat", path);
    return node === undefined ? undefined : String(node.inode);
  }

  /** Opens a file for a lock, without an effect: while it is pinned its inode's number is nobody else's. */
  pin(path: string, create: boolean): { readonly inode: string; readonly unpin: () => void } {
    const { tree } = this.#shared;
    const isThere = tree.locate("lock", path).node !== undefined;
    const node = isThere || !create ? tree.findFile("lock", path) : tree.createFile("lock", path, 0o600);
    tree.hold(node);
    return { inode: String(node.inode), unpin: () => tree.close(node) };
  }

  /** Announces one effect, waits at the gate, asks for a fault, and lets it happen. */
  async perform<T>(verb: Verb, path: string, action: Action<T>): Promise<T> {
    if (this.#dead) return never();
    const looked = this.#lookAt(verb, path, action);
    if (looked !== undefined) await looked;
    if (this.#dead) return never();
    const { effect, opened } = this.#announce(verb, path, action);
    if (opened !== undefined) await opened;
    while (this.#stopped !== undefined) await this.#stopped;
    if (this.#dead) return never();
    return this.#let(effect, action);
  }

  /** The same for an effect that nobody waits for: a gate cannot hold it. `dead`: what a process that died over it gets. */
  performNow<T>(verb: Verb, path: string, action: Action<T>, dead: T): T {
    if (this.#dead) return dead;
    const { effect } = this.#announce(verb, path, action);
    return this.#dead ? dead : this.#let(effect, action);
  }

  #lookAt(
    verb: Verb,
    path: string,
    { details }: Pick<Action<unknown>, "details">,
  ): Promise<void> | undefined {
    const to = details?.to === undefined ? {} : { to: details.to };
    return this.#shared.onlooker?.({ process: this.#process, verb, path, ...to });
  }

  #announce(verb: Verb, path: string, { details }: Pick<Action<unknown>, "details">) {
    const { effects, gate } = this.#shared;
    const effect: Effect = { index: effects.length, process: this.#process, verb, path, ...details };
    effects.push(effect);
    return { effect, opened: gate?.(effect) };
  }

  #let<T>(effect: Effect, action: Action<T>): T {
    const { verb, path } = effect;
    const fault = this.#shared.fault?.(effect) ?? {};
    if (fault.code !== undefined && fault.short === undefined) {
      action.fail?.();
      throw new DiskError(fault.code, verb, path);
    }
    const result = action.act(fault);
    if (changesDisk(effect)) this.#tell(posix.dirname(path));
    const failed = fault.afterwards ?? fault.code;
    if (failed !== undefined) throw new DiskError(failed, verb, path);
    return result;
  }

  // The disk

  open(path: string, mode: OpenMode, permissions = 0o600): Promise<DiskFile> {
    const { tree } = this.#shared;
    const perform: MemoryDisk["perform"] = (verb, path, action) => this.perform(verb, path, action);
    const open = (node: Node): DiskFile => openNode({ tree, node, path, mode, perform });
    const isNew = mode === "create" || mode === "create_append";
    const verb = isNew ? "create" : "open";
    return this.perform(verb, path, {
      act: () => {
        if (isNew) return open(tree.createFile(verb, path, permissions));
        const node = mode === "read" ? tree.find(verb, path) : tree.findFile(verb, path);
        return open(node);
      },
    });
  }

  stat(path: string): Promise<FileStat | undefined> {
    return this.perform("stat", path, { act: () => this.#statOf(path) });
  }

  statLink(path: string): Promise<FileStat | undefined> {
    return this.perform("statLink", path, { act: () => this.#statOf(path) });
  }

  realPath(path: string): Promise<string> {
    return this.perform("realPath", path, {
      act: () => {
        this.#shared.tree.find("resolve", path);
        return posix.resolve(path);
      },
    });
  }

  list(path: string): Promise<string[]> {
    return this.perform("list", path, {
      act: () => inNoOrder([...this.#shared.tree.findDirectory("list", path).cached.keys()]),
    });
  }

  makeDirectory(path: string, permissions = 0o700): Promise<void> {
    return this.perform("makeDirectory", path, {
      act: () => this.#shared.tree.makeDirectory("make directory", path, permissions),
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.perform("rename", from, {
      act: () => this.#shared.tree.rename("rename", from, to),
      details: { to },
    });
  }

  link(from: string, to: string): Promise<void> {
    return this.perform("link", from, {
      act: () => this.#shared.tree.link("link", from, to),
      details: { to },
    });
  }

  remove(path: string): Promise<void> {
    return this.perform("remove", path, { act: () => this.#shared.tree.remove("remove", path) });
  }

  removeDirectory(path: string): Promise<void> {
    return this.perform("removeDirectory", path, {
      act: () => this.#shared.tree.removeDirectory("remove directory", path),
    });
  }

  /** Survives a power cut at once: nothing that we promise hangs on it. */
  setAttributes(path: string, attributes: { mode: number; uid: number; gid: number }): Promise<void> {
    return this.perform("setAttributes", path, {
      act: () => {
        const { mode, uid, gid } = attributes;
        const node = this.#shared.tree.find("set attributes of", path);
        Object.assign(node, { mode: mode & 0o777, uid, gid, ctimeNs: this.#shared.tree.tick() });
      },
    });
  }

  /** A fault leaves the names unsynced, as they were: a journal keeps what it could not write. */
  syncDirectory(path: string): Promise<void> {
    return this.perform("syncDirectory", path, {
      act: () => {
        const { tree } = this.#shared;
        tree.syncDirectory(tree.findDirectory("sync directory", path));
      },
    });
  }

  cutTail(cut: TailCut): Promise<boolean> {
    return this.perform("cutTail", cut.path, { act: (fault) => this.#cutTail(cut, fault) });
  }

  fileSystem(path: string): Promise<FileSystem> {
    return this.perform("fileSystem", path, {
      act: () => {
        this.#shared.tree.find("find the file system of", path);
        return this.#shared.mount;
      },
    });
  }

  watch(path: string, changed: () => void): () => void {
    const watcher = { path, changed: () => (this.#dead ? undefined : changed()) };
    this.#shared.watchers.add(watcher);
    return () => this.#shared.watchers.delete(watcher);
  }

  #tell(directory: string): void {
    const { tells, watchers } = this.#shared;
    if (tells === undefined) return;
    for (const { path, changed } of watchers) if (path === directory) void afterTurns(tells, changed);
  }

  #statOf(path: string): FileStat | undefined {
    const node = this.#shared.tree.findIfThere("stat", path);
    return node === undefined ? undefined : toFileStat(node);
  }

  #cutTail(cut: TailCut, fault: Fault): boolean {
    const { tree } = this.#shared;
    if (this.inodeOf(cut.guard.path) !== cut.guard.inode) return false;
    const node = tree.findFile("cut", cut.path);
    if (node.cached.size !== cut.size + cut.bytes.length) return false;
    if (!node.cached.hasAt(cut.size, cut.bytes)) return false;
    tree.truncate(node, cut.path, cut.size);
    if (fault.afterwards === undefined) tree.syncFile(node);
    else tree.failSync(node);
    return true;
  }
}

/** The same for the same names, whatever came first; but no order that anybody would expect. */
function inNoOrder(names: string[]): string[] {
  const keyOf = (name: string): string => Buffer.from(name).reverse().toString("latin1");
  return names
    .map((name) => ({ name, key: keyOf(name) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ name }) => name);
}

async function afterTurns(turns: number, changed: () => void): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve();
  changed();
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
