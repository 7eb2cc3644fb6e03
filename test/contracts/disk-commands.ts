/** Commands of any kind for any disk, and what can be seen of them: two disks that are given the same must show the same. */
import fc from "fast-check";
import { isDiskError, type Disk, type DiskFile, type FileStat, type OpenMode } from "../../src/host/index.ts";

/** Something that is asked of a disk. Paths are below the directory of the run; `slot` names an open file. */
export type DiskCommand =
  | { does: "open"; slot: number; path: string; mode: OpenMode; permissions: number | undefined }
  | { does: "write"; slot: number; text: string; position: number | undefined }
  | { does: "read"; slot: number; length: number; position: number }
  | { does: "truncate"; slot: number; size: number }
  | { does: "sync" | "close" | "statFile"; slot: number }
  | { does: "stat" | "statLink" | "realPath" | "list" | "fileSystem"; path: string }
  | { does: "remove" | "removeDirectory" | "syncDirectory"; path: string }
  | { does: "makeDirectory"; path: string; permissions: number | undefined }
  | { does: "setAttributes"; path: string; mode: number }
  | { does: "rename" | "link"; path: string; to: string }
  | { does: "cutTail"; path: string; size: number; text: string; guard: string; isGuarded: boolean };

const longName = "long".repeat(64);
const anyName = fc.oneof(
  { weight: 80, arbitrary: fc.constantFrom("a", "b") },
  { weight: 1, arbitrary: fc.constantFrom(longName, longName.slice(1), "ä".repeat(128)) },
);
const anyPath = fc.oneof(
  { weight: 9, arbitrary: anyName },
  { weight: 7, arbitrary: fc.tuple(anyName, anyName).map((names) => names.join("/")) },
  { weight: 2, arbitrary: fc.tuple(anyName, anyName, anyName).map((names) => names.join("/")) },
  { weight: 1, arbitrary: fc.constant("") },
);
const anySlot = fc.nat({ max: 2 });
const anyPosition = fc.nat({ max: 9 });
const anyText = fc.string({ unit: fc.constantFrom("x", "x", "x", "y"), maxLength: 4 });
const anyMode = fc.constantFrom<OpenMode>("read", "append", "update", "create", "create_append");
const anyPermissions = fc.option(fc.constantFrom(0o700, 0o600), { nil: undefined, freq: 2 });

const onFile: fc.Arbitrary<DiskCommand> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant("write" as const),
      slot: anySlot,
      text: anyText,
      position: fc.option(anyPosition, { nil: undefined, freq: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("read" as const),
      slot: anySlot,
      length: anyPosition,
      position: anyPosition,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("truncate" as const), slot: anySlot, size: anyPosition }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constantFrom("close", "close", "statFile", "sync"), slot: anySlot }),
  },
);

const onNames: fc.Arbitrary<DiskCommand> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant("makeDirectory" as const),
      path: anyPath,
      permissions: anyPermissions,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ does: fc.constantFrom("rename", "link"), path: anyPath, to: anyPath }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constantFrom("remove", "removeDirectory", "remove", "removeDirectory", "syncDirectory"),
      path: anyPath,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constantFrom("stat", "statLink", "realPath", "list", "fileSystem"),
      path: anyPath,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant("setAttributes" as const),
      path: anyPath,
      mode: fc.constantFrom(0o700, 0o755, 0o1777),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("cutTail" as const),
      path: anyPath,
      size: fc.nat({ max: 2 }),
      text: anyText,
      guard: anyPath,
      isGuarded: fc.constantFrom(true, true, true, false),
    }),
  },
);

/** Of these many sequences begin with some, so that there is something that the others find. */
const beginning: readonly DiskCommand[] = [
  { does: "makeDirectory", path: "a", permissions: undefined },
  { does: "open", slot: 0, path: "b", mode: "create", permissions: undefined },
  { does: "write", slot: 0, text: "xx", position: undefined },
  { does: "makeDirectory", path: "a/a", permissions: 0o755 },
  { does: "open", slot: 1, path: "a/b", mode: "create_append", permissions: 0o700 },
  { does: "write", slot: 1, text: "xxx", position: 0 },
];

const anyCommand: fc.Arbitrary<DiskCommand> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("open" as const),
      slot: anySlot,
      path: anyPath,
      mode: anyMode,
      permissions: anyPermissions,
    }),
  },
  { weight: 4, arbitrary: onFile },
  { weight: 6, arbitrary: onNames },
);

/** Sequences of commands. */
export const anyDiskCommands: fc.Arbitrary<DiskCommand[]> = fc
  .tuple(
    fc.oneof(fc.constant(beginning), fc.subarray([...beginning])),
    fc.array(anyCommand, { minLength: 1, maxLength: 60, size: "max" }),
  )
  .map((parts) => parts.flat());

/** One disk that is given commands. `directory` exists, is empty, and belongs to this run. */
export class CommandedDisk {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #slots = new Map<number, DiskFile>();

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  /** What whoever gave the command gets to see: a value, or the code of the refusal. */
  async give(command: DiskCommand): Promise<unknown> {
    try {
      return { gives: await this.#perform(command) };
    } catch (error) {
      if (isDiskError(error)) return { refuses: error.code };
      throw error;
    }
  }

  /** All that is there: for each path what it is, what it holds, and the first path of the same file. */
  async tree(): Promise<string[]> {
    const lines: string[] = [];
    const first = new Map<string, string>();
    const walk = async (path: string): Promise<void> => {
      const stat = await this.#disk.statLink(this.#at(path));
      if (stat === undefined) return;
      const same = first.get(stat.inode) ?? path;
      first.set(stat.inode, same);
      const isFile = stat.kind === "file";
      lines.push(
        `${path} is ${same}: ${JSON.stringify(seen(stat))} ${isFile ? await this.#textOf(path) : ""}`,
      );
      if (isFile) return;
      for (const name of (await this.#disk.list(this.#at(path))).toSorted()) await walk(`${path}/${name}`);
    };
    await walk("");
    return lines;
  }

  /** Closes what is open. */
  async end(): Promise<void> {
    for (const file of this.#slots.values()) await file.close();
    this.#slots.clear();
  }

  #at(path: string): string {
    return path === "" ? this.#directory : `${this.#directory}/${path.replace(/^\//, "")}`;
  }

  async #textOf(path: string): Promise<string> {
    const file = await this.#disk.open(this.#at(path), "read");
    const into = new Uint8Array(1000);
    const count = await file.read(into, 0);
    await file.close();
    return JSON.stringify(Buffer.from(into.subarray(0, count)).toString("latin1"));
  }

  async #perform(command: DiskCommand): Promise<unknown> {
    return "slot" in command ? this.#onFile(command) : this.#onNames(command);
  }

  async #onFile(command: Extract<DiskCommand, { slot: number }>): Promise<unknown> {
    const { slot } = command;
    const file = this.#slots.get(slot);
    if (command.does === "open") {
      if (file !== undefined) return "taken";
      const { path, mode, permissions } = command;
      this.#slots.set(slot, await this.#disk.open(this.#at(path), mode, permissions));
      return "open";
    }
    if (file === undefined) return "not open";
    switch (command.does) {
      case "write":
        return file.write(new TextEncoder().encode(command.text), command.position);
      case "read": {
        const into = new Uint8Array(command.length);
        return [await file.read(into, command.position), ...into];
      }
      case "truncate":
        return file.truncate(command.size);
      case "sync":
        return file.sync();
      case "statFile":
        return seen(await file.stat());
      case "close":
        this.#slots.delete(slot);
        return file.close();
    }
  }

  async #onNames(command: Exclude<DiskCommand, { slot: number }>): Promise<unknown> {
    const disk = this.#disk;
    const path = this.#at(command.path);
    switch (command.does) {
      case "stat":
      case "statLink":
        return seen(await disk[command.does](path));
      case "realPath":
        return (await disk.realPath(path)).slice(this.#directory.length);
      case "list":
        return (await disk.list(path)).toSorted();
      case "fileSystem":
        return void (await disk.fileSystem(path));
      case "remove":
      case "removeDirectory":
      case "syncDirectory":
        return disk[command.does](path);
      case "makeDirectory":
        return disk.makeDirectory(path, command.permissions);
      case "setAttributes": {
        const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
        return disk.setAttributes(path, { mode: command.mode, uid, gid });
      }
      case "rename":
      case "link":
        return disk[command.does](path, this.#at(command.to));
      case "cutTail":
        return this.#cutTail(path, command);
    }
  }

  async #cutTail(path: string, command: Extract<DiskCommand, { does: "cutTail" }>): Promise<boolean> {
    const guard = this.#at(command.guard);
    const inode = command.isGuarded ? (await statIfAny(this.#disk, guard))?.inode : undefined;
    const bytes = new TextEncoder().encode(command.text);
    return this.#disk.cutTail({
      path,
      size: command.size,
      bytes,
      guard: { path: guard, inode: inode ?? "0" },
    });
  }
}

async function statIfAny(disk: Disk, path: string): Promise<FileStat | undefined> {
  try {
    return await disk.stat(path);
  } catch (error) {
    if (isDiskError(error)) return undefined;
    throw error;
  }
}

/** What must be the same on all disks. */
function seen(stat: FileStat | undefined): unknown {
  if (stat === undefined) return "absent";
  const { kind, mode, size, links } = stat;
  return kind === "file" ? { kind, mode, size, links } : { kind, mode };
}
