import { closeSync, constants, openSync, readFileSync, realpathSync, statfsSync, statSync } from "node:fs";
import type { FileSystem } from "./disk.ts";

/** Names by the magic number of statfs(2), for where the mount table cannot be read. */
const nameByMagic: ReadonlyMap<number, string> = new Map([
  [0xef53, "ext"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x01021994, "tmpfs"],
  [0x794c7630, "overlay"],
  [0x2fc12fc1, "zfs"],
  [0xf2f52010, "f2fs"],
  [0x6969, "nfs"],
  [0x01021997, "9p"],
  [0x65735546, "fuse"],
  [0x517b, "smb"],
  [0xff534d42, "cifs"],
  [0xfe534d42, "smb2"],
  [0x5346414f, "afs"],
  [0x6b414653, "afs"],
  [0x00c36400, "ceph"],
  [0x0bd00bd0, "lustre"],
  [0x73757245, "coda"],
]);

/**
 * File systems whose locks or syncs depend on a server, or on a program that may answer as it likes. `fuse` includes
 * what is mounted through it (sshfs, glusterfs, the shared folders of virtual machines), `nfs` its versions.
 */
const untrusted =
  /^(nfs\d*|cifs|smb\d*|smbfs|9p|virtiofs|fuse.*|osxfuse|macfuse|afs|auristorfs|afpfs|webdav|ceph|lustre|coda|ncpfs|beegfs|gpfs|orangefs|pvfs2|panfs|wekafs|vboxsf|vmhgfs|prl_fs|fakeowner|drvfs|wslfs|unknown)$/;

/** True where the kernel itself keeps the locks and the syncs of such a file system; false where that is not known. */
export function isTrustedType(type: string): boolean {
  return !untrusted.test(type);
}

/** The type in Linux's mount table (the text of /proc/self/mountinfo) under a mount's id, or undefined. */
export function mountTypeOf(mountinfo: string, mountId: string): string | undefined {
  const line = mountinfo.split("\n").find((candidate) => candidate.startsWith(`${mountId} `));
  // The optional fields end at " - "; blanks of the mount point before it are escaped, so this is unambiguous.
  return line?.slice(line.indexOf(" - ") + 3).split(" ")[0];
}

/**
 * The mount that holds a canonical path, from the table that mount(8) of macOS prints:
 * `/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled)`. Undefined where none does.
 */
export function macMountOf(table: string, path: string): { type: string; isLocal: boolean } | undefined {
  let best: { point: string; options: string[] } | undefined;
  for (const line of table.split("\n")) {
    const [, point, options] = / on (\/.*) \(([^()]*)\)$/.exec(line) ?? [];
    if (point === undefined || options === undefined) continue;
    const holds = path === point || path.startsWith(point.endsWith("/") ? point : `${point}/`);
    if (holds && point.length >= (best?.point.length ?? 0)) best = { point, options: options.split(", ") };
  }
  const type = best?.options[0];
  return type === undefined ? undefined : { type, isLocal: best?.options.includes("local") === true };
}

/** Learns what holds `path`, which must exist. What cannot be learned is `unknown` and not trusted. */
export function fileSystemOf(path: string): FileSystem {
  if (process.platform === "darwin") return macFileSystemOf(path);
  const magic = nameByMagic.get(statfsSync(path).type >>> 0) ?? "unknown";
  const mountId = process.platform === "linux" ? mountIdOf(path) : undefined;
  if (mountId === undefined) return { type: magic, trusted: isTrustedType(magic), mountId: "" };
  const type = mountTypeOf(readFileSync("/proc/self/mountinfo", "utf8"), mountId) ?? magic;
  // Shared folders may hide under a name of their own; the magic number still says FUSE.
  return { type, trusted: isTrustedType(type) && (magic === "unknown" || isTrustedType(magic)), mountId };
}

/**
 * Asked of the kernel through an open descriptor: unlike the longest prefix in the mount table that is exact for bind
 * mounts, for mounts over mounts and for names with blanks.
 */
function mountIdOf(path: string): string | undefined {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
  } finally {
    closeSync(descriptor);
  }
}

function macFileSystemOf(path: string): FileSystem {
  const canonical = realpathSync.native(path);
  // Only here is a program asked, so only here its module is loaded.
  const { execFileSync } = process.getBuiltinModule("node:child_process");
  const mount = macMountOf(execFileSync("/sbin/mount", { encoding: "utf8" }), canonical);
  if (mount === undefined) return { type: "unknown", trusted: false, mountId: "" };
  const trusted = mount.isLocal && isTrustedType(mount.type);
  return { type: mount.type, trusted, mountId: String(statSync(canonical, { bigint: true }).dev) };
}
