import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { resume } from "../../../src/engine/index.ts";
import { isHoldfastError } from "../../../src/model/errors.ts";
import { Finding, promised } from "../campaign/finding.ts";
import type { Case, Counts, Plan } from "../campaign/plan.ts";
import { CliPlay } from "./cli-play.ts";
import { SmallDisk, whyNoMount } from "./mount.ts";
import { Room } from "./room.ts";
import { readRun } from "./run-judge.ts";
import { commandAndEdit, Performance } from "./run-play.ts";
import { skipCase } from "./skip-case.ts";

/** How a plan of numbered cases is made. */
interface Numbered {
  readonly scenario: string;
  readonly mishap: string;
  readonly small: readonly number[];
  readonly full: readonly number[];
  run(room: Room, at: number): Promise<Partial<Counts>>;
}

/** What a small disk and one that cannot be written do to a run. */
export function smallDiskPlans(): Plan[] {
  const numbers = (from: number, to: number, step: number): number[] =>
    Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
  return [
    planOf({ scenario: "small-disk", mishap: "full", small: [64], full: numbers(4, 260, 4), run: fillUp }),
    planOf({
      scenario: "mounted-anew",
      mishap: "read-only",
      small: [40],
      full: numbers(12, 130, 2),
      run: forbid,
    }),
  ];
}

function planOf(numbered: Numbered): Plan {
  const { scenario, mishap, small, full } = numbered;
  const room = new Room();
  const reason = whyNoMount();
  const caseOf = (at: number): Case => ({ address: String(at), run: () => numbered.run(room, at) });
  return {
    scenario,
    mishap,
    isReal: true,
    async *cases({ size }) {
      if (reason !== undefined) yield skipCase(reason);
      else if (size !== "endless") for (const at of size === "small" ? small : full) yield caseOf(at);
    },
    caseAt: async (address) =>
      address === "skipped" ? skipCase(reason ?? "it could run") : caseOf(Number(address)),
    end: () => room.end(),
  };
}

/** The state directory has so many KiB; when it is full it grows. */
async function fillUp(room: Room, sizeKiB: number): Promise<Partial<Counts>> {
  const play = new CliPlay(room);
  const disk = new SmallDisk(play.staged.home.state, sizeKiB);
  try {
    const [file = "", ...args] = play.words;
    const end = await play.call({ file, args });
    const failure = play.failureOf(end);
    if (failure !== undefined) {
      promised(
        ["disk_full", "durability_unknown"].includes(failure),
        "untyped",
        () => `${failure}: ${end.stderr}`,
      );
    }
    disk.change("size=16m");
    await play.judge(false);
    return { faults: end.code === 0 ? 0 : 1 };
  } finally {
    disk.end();
    await play.end();
  }
}

/** A worker is killed; then nothing can be written there for a while. */
async function forbid(room: Room, at: number): Promise<Partial<Counts>> {
  const staged = new Performance(room, commandAndEdit);
  const { home } = staged;
  const disk = new SmallDisk(home.state, 16 * 1024);
  try {
    const { killed } = await staged.live({ is: "die", at });
    // What holds files open for writing keeps the system from it.
    await home.supervisorsEnd();
    const { session } = home;
    if (session !== "") {
      disk.change("ro");
      const before = bytesOf(home.state);
      await readRun(await home.engine(), session);
      await expectRefused(staged);
      promised(bytesOf(home.state) === before, "foreign write", () => "something was written all the same");
      disk.change("rw");
    }
    await staged.finish();
    return { kills: killed ? 1 : 0, faults: 1 };
  } finally {
    disk.end();
    await home.end();
  }
}

async function expectRefused({ home }: Performance): Promise<void> {
  const observer = { commit: () => undefined, live: () => undefined };
  try {
    await resume(await home.engine(), { selector: home.session, acceptRollback: false }, observer);
  } catch (error) {
    if (isHoldfastError(error, "io_error")) return;
    throw new Finding("untyped", `a disk that cannot be written is told as ${String(error)}`, error);
  }
  throw new Finding("false success", "it went on where nothing can be written");
}

function bytesOf(directory: string): string {
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" }).toSorted();
  const texts = paths.map((path) => {
    const whole = join(directory, path);
    return statSync(whole).isFile() ? `${path} ${readFileSync(whole, "latin1")}` : path;
  });
  return texts.join("\n");
}
