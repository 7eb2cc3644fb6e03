/** What a disk in memory is made of. */
import { Content } from "./memory-content.ts";

interface Unsynced {
  /** Rises over the whole disk. */
  readonly order: number;
  readonly path: string;
}

/** A change of what a file holds, by whatever name it was opened. */
export interface UnsyncedContent extends Unsynced {
  /** Tells the file from all others that have unsynced changes. */
  readonly inode: number;
  /** How large a power cut leaves the file that takes all its unsynced changes. */
  readonly durableSize: number;
}

/** A change of content or of a name that no sync has made durable. */
export type UnsyncedChange =
  | (UnsyncedContent & { readonly kind: "write"; readonly position: number; readonly bytes: Uint8Array })
  | (UnsyncedContent & { readonly kind: "truncate"; readonly size: number })
  | (Unsynced & { readonly kind: "name"; readonly verb: string });

/**
 * What a power cut makes of a change. `torn`: only the first bytes of a write arrived. `from`: only those from that one
 * on. `garbage`: its place was taken, its bytes never came. `instead`: these bytes stand there. For names and truncates
 * all but `dropped` means kept.
 */
export type Fate =
  | "kept"
  | "dropped"
  | "garbage"
  | { readonly torn: number }
  | { readonly from: number }
  | { readonly instead: Uint8Array };

/** What stat tells of a file or a directory, apart from what it holds. */
export interface Attributes {
  readonly inode: number;
  readonly birthtimeNs: bigint;
  mtimeNs: bigint;
  ctimeNs: bigint;
  mode: number;
  uid: number;
  gid: number;
}

/** A file, apart from its names. */
export interface FileNode extends Attributes {
  readonly kind: "file";
  /** Names as processes see them. */
  links: number;
  /** Open descriptors and locks; while there are any the inode's number is not given to another file. */
  handles: number;
  cached: Content;
  durable: Content;
  /** What leads from `durable` to `cached`, except for what a failed sync has lost. */
  pending: Exclude<UnsyncedChange, { kind: "name" }>[];
  /** True where a failed sync lost something. */
  hasLost: boolean;
}

/** The names in a directory. The two maps are one and the same where nothing is unsynced. */
export interface DirectoryNode extends Attributes {
  readonly kind: "directory";
  cached: Map<string, Node>;
  durable: Map<string, Node>;
}

/** Whatever a name may lead to. */
export type Node = FileNode | DirectoryNode;

/** One name given, or taken where there is no node. */
export interface Edit {
  readonly directory: DirectoryNode;
  readonly name: string;
  readonly node: Node | undefined;
}

/** All of its edits become durable together, when `home` is synced: a rename when the directory of the new name is. */
export interface NameChange {
  readonly order: number;
  readonly verb: string;
  readonly path: string;
  readonly home: DirectoryNode;
  readonly edits: readonly Edit[];
}

/** Gives or takes a name in what a directory holds. */
export function edit(names: Map<string, Node>, { name, node }: Edit): void {
  if (node === undefined) names.delete(name);
  else names.set(name, node);
}

/** Every node that can be reached from those, by cached and by durable names. */
export function reachableFrom(roots: Iterable<Node>): Set<Node> {
  const found = new Set<Node>(roots);
  // A set goes on with what is added while it is walked.
  for (const node of found) {
    if (node.kind !== "directory") continue;
    for (const child of node.durable.values()) found.add(child);
    if (node.cached === node.durable) continue;
    for (const child of node.cached.values()) found.add(child);
  }
  return found;
}

/** The number of the root; all others are higher. */
export const rootInode = 2;

/** Those of something new. */
export function attributesOf(inode: number, now: bigint, mode: number): Attributes {
  return { inode, birthtimeNs: now, mtimeNs: now, ctimeNs: now, mode: mode & 0o777, uid: 0, gid: 0 };
}

/** A new directory. */
export function directoryWith(attributes: Attributes): DirectoryNode {
  const names = new Map<string, Node>();
  return { kind: "directory", ...attributes, cached: names, durable: names };
}

/** A new file. */
export function fileWith(attributes: Attributes): FileNode {
  const rest = { links: 0, handles: 0, pending: [], hasLost: false };
  return { kind: "file", ...attributes, ...rest, cached: new Content(), durable: new Content() };
}

/** The same file for a disk of which every process is dead. */
export function copyFile(node: FileNode): FileNode {
  return {
    ...node,
    handles: 0, // Whoever had it open is dead in the copy.
    cached: node.cached.share(),
    durable: node.durable.share(),
    pending: [...node.pending],
  };
}

/** The file after a power cut, with no name yet. */
export function fileAfter(node: FileNode, fateOf: (change: { order: number }) => Fate): FileNode {
  const content = contentAfter(node, fateOf);
  const rest = { links: 0, handles: 0, pending: [], hasLost: false };
  return { ...node, ...rest, cached: content, durable: content.share() };
}

/** What a power cut leaves of a file's content. */
export function contentAfter(node: FileNode, fateOf: (change: { order: number }) => Fate): Content {
  const { pending, durable, cached } = node;
  const fates = pending.map(fateOf);
  if (fates.every((fate) => fate === "dropped")) return durable.share();
  if (!node.hasLost && fates.every((fate) => fate === "kept")) return cached.share();
  const content = durable.share();
  pending.forEach((change, index) => applyTo(content, change, fates[index] ?? "dropped"));
  return content;
}

function applyTo(content: Content, change: FileNode["pending"][number], fate: Fate): void {
  if (fate === "dropped") return;
  if (change.kind === "truncate") {
    content.truncate(change.size);
    return;
  }
  const { bytes, position } = change;
  if (fate === "kept") content.write(bytes, position);
  else if (fate === "garbage") content.write(garbageFor(bytes), position);
  else if ("torn" in fate) content.write(bytes.subarray(0, fate.torn), position);
  else if ("from" in fate) content.write(bytes.subarray(fate.from), position + fate.from);
  else content.write(fate.instead, position);
}

/** As many bytes, of which none is the one that was written, so that nobody takes them for it. */
export function garbageFor(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, index) => {
    const garbage = (index * 167 + 13) & 0xff;
    return garbage === byte ? garbage ^ 0x80 : garbage;
  });
}
