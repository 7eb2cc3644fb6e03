import { readEnvelope } from "../../../src/store/line.ts";
import { scenes } from "../../corpus/scenes.ts";
import { bytesOf, linesOf, type SessionFiles } from "../../corpus/session-files.ts";

/** Sessions that are sound, and what is known of them. */
export interface Seed {
  readonly name: string;
  readonly files: SessionFiles;
  /** Its log, queue, head and bases: all that reading them needs. */
  readonly lean: SessionFiles;
  /** The sums of all lines in them. */
  readonly sums: ReadonlySet<string>;
}

/** Mostly of the engine's own making; the others say what it does not say yet. */
const names = [
  "completed",
  "died-in-a-write",
  "died-twice-in-recovery",
  "died-in-an-answer",
  "input-required",
  "resolved-as-done",
  "approval-by-another-process",
  "queue-waiting",
  "queue-taken",
  "suspended-after-five-failures",
  "rollback-accepted",
  "recovered-torn",
  "every-kind",
  "branch",
  "branch-of-a-branch",
  "void-lines",
  "awkward-texts",
  "unknown-kinds",
  "died-holding",
];

/** Makes them. */
export async function makeSeeds(): Promise<Seed[]> {
  return await Promise.all(
    names.map(async (name) => {
      const files = await scenes.find((scene) => scene.name === name)?.make();
      if (files === undefined) throw new Error(`there is no scene ${name}`);
      const { session } = files;
      const kept = [...files.files].filter(([path]) =>
        /^(log\.jsonl|queue\.jsonl|head|base\/.*)$/.test(path),
      );
      const lines = kept.flatMap(([, bytes]) => linesOf(bytes));
      const sums = new Set(lines.flatMap((line) => readEnvelope(line)?.sum ?? []));
      return { name, files, lean: { session, files: new Map(kept) }, sums };
    }),
  );
}

/** Files of a session that may be changed. */
export function changeable({ files }: Seed): string[] {
  return [...files.files.keys()].filter((name) => bytesOf(files, name).length > 0);
}
