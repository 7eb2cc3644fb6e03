import { hash } from "node:crypto";
import { numbersIn } from "./memory-content.ts";
import {
  reachableFrom,
  type DirectoryNode,
  type FileNode,
  type NameChange,
  type Node,
} from "./memory-node.ts";

/**
 * A digest of all by which two disks differ for whoever runs on them next, when every process is dead. In it are:
 * names and content, as cached and as durable; what is unsynced, in its order; modes and owners; inodes' numbers, which
 * our files tell of. Birth times count only where some file tells of them, since else nobody can compare them with
 * anything. Not in it are the other times, which our product does not read, and the paths by which changes were made.
 */
export function fingerprintOf(root: DirectoryNode, names: readonly NameChange[]): string {
  const roots = names.flatMap(({ home, edits }) => [
    home,
    ...edits.flatMap(({ directory, node }) => (node === undefined ? [directory] : [directory, node])),
  ]);
  const nodes = [...reachableFrom([root, ...roots])].toSorted((one, other) => one.inode - other.inode);
  const told = numbersToldIn(nodes);
  const lines = [`root ${root.inode}`];
  for (const node of nodes) {
    const birth = told.has(String(node.birthtimeNs)) ? node.birthtimeNs : "";
    lines.push(`${node.inode} ${node.mode} ${node.uid} ${node.gid} ${birth}`);
    lines.push(node.kind === "file" ? describeFile(node) : describeDirectory(node));
  }
  lines.push(...unsyncedIn(nodes, names));
  return hash("sha1", lines.join("\n"), "base64");
}

function numbersToldIn(nodes: readonly Node[]): Set<string> {
  const told = new Set<string>();
  const add = (numbers: ReadonlySet<string>): void => numbers.forEach((number) => told.add(number));
  for (const node of nodes) {
    if (node.kind !== "file") continue;
    add(node.cached.numbers());
    add(node.durable.numbers());
    for (const change of node.pending) if (change.kind === "write") add(numbersIn(change.bytes));
  }
  return told;
}

function describeFile({ cached, durable }: FileNode): string {
  return `${cached.digest()} ${durable.digest()}`;
}

function describeDirectory({ cached, durable }: DirectoryNode): string {
  const seen = describeNames(cached);
  const left = cached === durable ? seen : describeNames(durable);
  return left === seen ? seen : `${seen}\n${left}`;
}

function describeNames(names: ReadonlyMap<string, Node>): string {
  return [...names]
    .map(([name, { inode }]) => `${name}\0${inode}`)
    .sort()
    .join("\0");
}

function unsyncedIn(nodes: readonly Node[], names: readonly NameChange[]): string[] {
  const changes = names.map(({ order, home, edits }) => {
    const all = edits.map(({ directory, name, node }) => `${directory.inode}\0${name}\0${node?.inode ?? ""}`);
    return { order, text: `name ${home.inode}\0${all.join("\0")}` };
  });
  for (const node of nodes) {
    if (node.kind !== "file") continue;
    for (const change of node.pending) {
      const what =
        change.kind === "truncate"
          ? change.size
          : `${change.position} ${hash("sha1", change.bytes, "base64")}`;
      changes.push({ order: change.order, text: `${change.kind} ${node.inode} ${what}` });
    }
  }
  return changes.sort((one, other) => one.order - other.order).map(({ text }) => text);
}
