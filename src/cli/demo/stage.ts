import { dirname, join } from "node:path";
import type { Disk } from "../../host/index.ts";
import { isDiskError, utf8Bytes, utf8Text } from "../../host/index.ts";
import type { Outside } from "../outside.ts";
import { cassette, filesBefore } from "./story.ts";

/** Where the demo takes place: a fresh temporary folder, which is kept, so that it can be looked at afterwards. */
export interface Stage {
  readonly folder: string;
  readonly workspace: string;
  /** Outside of the workspace, so that no tool but a command reaches it. */
  readonly witness: string;
  readonly cassette: string;
}

/** Makes the folder with the workspace as it is before the task. */
export async function buildStage({ host, temporaryDirectory }: Outside): Promise<Stage> {
  const { disk, ids } = host;
  const name = Buffer.from(ids.random(4)).toString("hex");
  const folder = join(await disk.realPath(temporaryDirectory), `holdfast-demo-${name}`);
  const [workspace, witness] = [join(folder, "workspace"), join(folder, "witness.txt")];
  await disk.makeDirectory(folder);
  await disk.makeDirectory(workspace);
  const place = { folder, workspace, witness, cassette: join(folder, "cassette.json") };
  await writeFile(disk, place.cassette, JSON.stringify(cassette, null, 2));
  await writeFile(disk, witness, "");
  for (const [path, content] of Object.entries(filesBefore)) {
    await writeFile(disk, join(workspace, path), content);
  }
  return place;
}

async function writeFile(disk: Disk, path: string, content: string): Promise<void> {
  const file = await disk.open(path, "create", 0o644);
  try {
    await file.write(utf8Bytes(content));
    await file.sync();
  } finally {
    await file.close();
  }
  await disk.syncDirectory(dirname(path));
}

/** A small file's text; undefined where there is none. */
export async function readText(disk: Disk, path: string): Promise<string | undefined> {
  try {
    const file = await disk.open(path, "read");
    try {
      const bytes = new Uint8Array((await file.stat()).size);
      return utf8Text(bytes, 0, await file.read(bytes, 0));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isDiskError(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** The lines of the witness: a deed and the operation that did it. */
export async function readWitness(disk: Disk, stage: Stage): Promise<{ deed: string; operation: string }[]> {
  const text = (await readText(disk, stage.witness)) ?? "";
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const [deed = "", operation = ""] = line.split(" ");
    return { deed, operation };
  });
}
