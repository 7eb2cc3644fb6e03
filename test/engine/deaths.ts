import { changesDisk } from "../crash/memory-disk.ts";
import { done, write } from "./asking.ts";
import { Stage } from "./stage.ts";

/** What deaths leave of a run that makes a file and changes another. */
export interface Deaths {
  /** The machine before each change of the disk. */
  readonly all: readonly Stage[];
  /** Those of which whoever looks into it finds that nobody can know what happened. */
  readonly doubtful: readonly Stage[];
}

export async function deathsOfRun(): Promise<Deaths> {
  const calls = [write("new/b.txt"), write("a.txt")];
  const stage = await Stage.set({ turns: [{ calls }, done, done] });
  const all: Stage[] = [];
  stage.world.disk.gate = (effect) => {
    if (changesDisk(effect)) all.push(stage.killed());
    return undefined;
  };
  await stage.work().report;
  stage.world.disk.gate = undefined;
  const doubtful: Stage[] = [];
  for (const death of all) {
    const { state } = await death.examine();
    if (![...state.operations.values()].some((one) => one.at === "started")) continue;
    const looked = death.killed();
    await looked.work().report;
    if ((await looked.examine()).state.row.openUnknowns > 0) doubtful.push(death);
  }
  return { all, doubtful };
}
