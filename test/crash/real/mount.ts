import { spawnSync } from "node:child_process";
import { mkdirSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of its own in memory, of a size of its own. */
export class SmallDisk {
  readonly path: string;

  /** Throws where mounts are refused. The size is in KiB. */
  constructor(path: string, sizeKiB: number) {
    this.path = path;
    mkdirSync(path, { recursive: true });
    call("mount", ["-t", "tmpfs", "-o", `size=${sizeKiB}k,mode=0700`, "tmpfs", path]);
  }

  change(options: string): void {
    call("mount", ["-o", `remount,${options}`, this.path]);
  }

  /** Also where something has a file of it open. */
  end(): void {
    call("umount", ["--lazy", this.path]);
  }
}

/** Why nothing can be mounted here; undefined where it can. */
export function whyNoMount(): string | undefined {
  const path = join(tmpdir(), `hfk-mount-${process.pid}`);
  try {
    new SmallDisk(path, 64).end();
    rmdirSync(path);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function call(file: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(file, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${file} ${args.join(" ")}: ${error?.message ?? stderr.trim()}`);
}
