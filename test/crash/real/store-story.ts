import { existsSync } from "node:fs";
import { join } from "node:path";
import { isHoldfastError, type ErrorCode } from "../../../src/model/errors.ts";
import type { Mishap } from "../../peers/mishap.ts";
import type { StoreStep, StoreWorkerOptions } from "../../peers/store-worker.ts";
import { compare, goOn } from "../../store/go-on.ts";
import { RealStage } from "../../store/real-stage.ts";
import { Finding } from "../campaign/finding.ts";
import type { ChildEnd, ChildLine } from "./child.ts";
import type { Room } from "./room.ts";

/** A store on which processes work that do not live to the end of it, and what they told. */
export class StoreStory {
  readonly stage: RealStage;
  readonly #room: Room;
  readonly #folder: string;
  lives = 0;

  constructor(room: Room) {
    this.#room = room;
    this.#folder = room.folder();
    this.stage = new RealStage(join(this.#folder, "state"));
  }

  /** One process: creates the session or goes on with it, writes, queues, lets go. */
  async live(mishap?: Mishap): Promise<ChildEnd> {
    const life = this.lives++;
    const steps: StoreStep[] = [
      { do: "open" },
      { do: "admit", text: `from outside ${life}` },
      { do: "hold" },
      { do: "say", text: `first ${life}` },
      { do: "say", text: `with a blob ${life}`, blobBytes: 40_000 + life },
      { do: "admit", text: `from the holder ${life}` },
      { do: "release" },
    ];
    const options: StoreWorkerOptions = { directory: this.stage.directory, steps, ...(mishap && { mishap }) };
    const child = this.#room.peer((await this.#room.programs()).store, options);
    const end = await child.end();
    this.note(end.lines);
    if (!end.killed) expectDone(end);
    return end;
  }

  /** Takes what a process told into what is known. */
  note(lines: readonly ChildLine[]): void {
    noteTold(this.stage, lines);
  }

  /** Goes on with all that is there, twice, and compares it with what was told. */
  async judge(): Promise<void> {
    const { stage } = this;
    if (!existsSync(stage.directory) && stage.oracle.sessions.size === 0) return;
    await goOnOrFind(stage);
    await goOnOrFind(stage);
  }

  end(): void {
    this.#room.remove(this.#folder);
  }
}

/** Takes what a process told into what is known of its store. */
export function noteTold({ oracle }: RealStage, lines: readonly ChildLine[]): void {
  let session = "";
  for (const line of lines) {
    const begun = line["begins"] as StoreStep | undefined;
    const done = line["done"] as StoreStep | undefined;
    if (done?.do === "open") {
      session = String(line["value"]);
      oracle.sessions.add(session);
    }
    const step = begun ?? done;
    if (step === undefined || !("text" in step)) continue;
    const file = step.do === "say" ? oracle.log(session) : oracle.queue(session);
    if (begun === undefined) file.acknowledged.push(step.text);
    else file.tried.add(step.text);
  }
}

/**
 * The same of processes that work at once: which was told first is seen by the places of their lines. `others`: texts
 * that were told otherwise, with their places.
 */
export function noteToldAtOnce(
  stage: RealStage,
  all: readonly (readonly ChildLine[])[],
  others: readonly (readonly [string, number])[] = [],
): void {
  const places = new Map<string, number>(others);
  for (const lines of all) {
    noteTold(stage, lines);
    for (const { done, value } of lines) {
      const step = done as StoreStep | undefined;
      if (step?.do === "say") places.set(step.text, Number(value));
    }
  }
  for (const { acknowledged } of stage.oracle.logs.values()) {
    acknowledged.sort((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
  }
}

/** Rejects with a finding where it is refused, or not what was told. */
export async function goOnOrFind(stage: RealStage): Promise<void> {
  await orFind("stuck", () => goOn(stage));
}

/** Rejects with a finding where the session is not what was told. */
export async function compareOrFind(stage: RealStage, session: string): Promise<void> {
  await orFind("lost", () => compare(stage, session));
}

async function orFind(promise: "stuck" | "lost", work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Finding) throw error;
    const code = isHoldfastError(error) ? `${error.code}: ` : "";
    throw new Finding(promise, `${code}${String(error)}`, error);
  }
}

/** Whatever a process was refused it was refused with this code. */
export function expectRefused(lines: readonly ChildLine[], as: ErrorCode): void {
  for (const { refused, code, message } of lines) {
    if (refused !== undefined && code !== as)
      throw new Finding("untyped", `it is told ${String(code)}, not ${as}: ${String(message)}`);
  }
}

/** A process that nothing befell does all that it began. */
export function expectDone(end: ChildEnd): void {
  const refused = end.lines.find((line) => "refused" in line);
  if (refused !== undefined) throw new Finding("stuck", `it was refused: ${JSON.stringify(refused)}`);
  if (end.code !== 0) throw new Finding("untyped", `it failed with ${end.code ?? end.signal}: ${end.stderr}`);
}
