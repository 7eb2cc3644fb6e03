import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { createSession } from "../../src/engine/index.ts";
import { engineOn } from "./asking.ts";
import type { Ended } from "./program.ts";
import { documentIn, Place, sessionIn } from "./program.ts";

/** What the scenes in which commands are offered have in common. */

const places: Place[] = [];

/** Removes what the scenes were played in. */
export function removePlaces(): void {
  for (const place of places) place.remove();
}

export function newPlace(): Place {
  const place = new Place();
  places.push(place);
  return place;
}

export const refused = { error: { status: 401, message: "no" } };
export const fails = { calls: [{ tool: "read", args: { path: "none" } }] };

/** A text that somebody was told, and what the command in it is promised to come to. */
export interface Told {
  readonly place: Place;
  readonly text: string;
  /** What the command says behind the program's name, but for its ids. */
  readonly offers: string;
  readonly promise: (ended: Ended) => unknown;
}

/** Scenes by name: how a message comes about. */
export type Scenes = Readonly<Record<string, () => Promise<Told>>>;

export const code = (exit: number) => (ended: Ended) =>
  expect([ended.code, ended.stderr]).toEqual([exit, ended.stderr]);
export const shows = (pattern: RegExp) => (ended: Ended) => {
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(pattern) as string });
};

export async function completed(...turns: unknown[]): Promise<{ place: Place; session: string }> {
  const place = newPlace();
  return { place, session: await place.completed("A task", { text: "1" }, ...turns) };
}

/** A session whose task waits and became no run. */
export async function withoutRun(): Promise<{ place: Place; session: string }> {
  const place = newPlace();
  const model = place.cassette({ text: "Done." });
  const request = { workspace: place.workspace, agent: "builtin", model, policy: {}, task: "x" };
  return { place, session: await createSession(engineOn(place), request) };
}

export async function suspended(
  ...turns: unknown[]
): Promise<{ place: Place; session: string; ended: Ended }> {
  const place = newPlace();
  const ended = await place.call(["run", "--task", "x", "--model", place.cassette(refused, ...turns)]);
  return { place, session: sessionIn(ended.stdout), ended };
}

/** A session whose command nobody knows the end of, and what its resume said. */
export async function unknown(
  form: string,
): Promise<{ place: Place; session: string; operation: string; ended: Ended }> {
  const place = newPlace();
  const { session, operation } = await place.killedInCommand();
  return { place, session, operation, ended: await place.call(["resume", session, "--format", form]) };
}

export const fileOf = (place: Place, session: string, name: string) =>
  join(place.state, "sessions", session, name);

export function edit(path: string, change: (lines: string[]) => string[]): void {
  writeFileSync(path, change(readFileSync(path, "utf8").split("\n")).join("\n"));
}

export const hintOf = ({ stdout }: Ended): string => documentIn(stdout).error?.hint ?? "";
