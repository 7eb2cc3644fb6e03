import type { Path, Problem } from "./problems.ts";
import { isRecord } from "./values.ts";

/** The texts that a value is made of. */

/** Every text in a value with its path, the names of members among them. */
export function* textsIn(value: unknown, path: Path = []): Generator<readonly [Path, string]> {
  if (typeof value === "string") yield [path, value];
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* textsIn(item, [...path, index]);
  } else if (isRecord(value)) {
    for (const [name, member] of Object.entries(value)) {
      yield [[...path, name], name];
      yield* textsIn(member, [...path, name]);
    }
  }
}

/** Texts that hold half a character: they could not be written as they are. */
export function brokenTexts(value: unknown): Problem[] {
  return [...textsIn(value)]
    .filter(([, text]) => !text.isWellFormed())
    .map(([path]) => ({ path, text: "holds half a character" }));
}
