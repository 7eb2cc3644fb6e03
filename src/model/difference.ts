import { canonicalJson } from "./canonical-json.ts";
import type { Path } from "./problems.ts";
import { writePath } from "./problems.ts";
import { isRecord } from "./values.ts";

/** What differs between what is recorded and what was given, for people: a line for each member. */

const wholeLengthMax = 60;

/** The lines; none where both say the same. */
export function differencesOf(recorded: unknown, given: unknown, path: Path = []): string[] {
  if (recorded === given) return [];
  if (isRecord(recorded) && isRecord(given)) {
    return Object.keys({ ...recorded, ...given }).flatMap((name) =>
      differencesOf(recorded[name], given[name], [...path, name]),
    );
  }
  const texts = [recorded, given].map((value) => (value === undefined ? undefined : canonicalJson(value)));
  if (texts[0] === texts[1]) return [];
  const at = path.length === 0 ? "" : `${writePath(path)}: `;
  if (isTextList(recorded) && isTextList(given) && texts.some((text = "") => text.length > wholeLengthMax)) {
    return differencesOfLists(recorded, given).map((line) => at + line);
  }
  const [was = "nothing", is = "nothing"] = texts;
  const from = commonLength(was, is);
  return [`${at}${excerpt(was, from)} is recorded, ${excerpt(is, from)} was given`];
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** Of long lists only what one of them lacks. */
function differencesOfLists(recorded: readonly string[], given: readonly string[]): string[] {
  const word = (text: string) => excerpt(JSON.stringify(text), 0);
  const lost = recorded.filter((item) => !given.includes(item));
  const added = given.filter((item) => !recorded.includes(item));
  const lines = [
    ...lost.map((item) => `${word(item)} is recorded and was not given`),
    ...added.map((item) => `${word(item)} was given and is not recorded`),
  ];
  return lines.length === 0 ? ["the same in another order is recorded"] : lines;
}

function commonLength(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length++;
  return length;
}

const beforeLength = 20;

/** As much of a text as shows where it begins to differ. */
function excerpt(text: string, from: number): string {
  if (text.length <= wholeLengthMax) return text;
  const start = from < wholeLengthMax - beforeLength ? 0 : from - beforeLength;
  const end = start + wholeLengthMax;
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
}
