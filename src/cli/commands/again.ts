import type { Call } from "../call.ts";
import { shellWord } from "../call.ts";

/** Flags as they were given; those that were not are undefined. */
export type GivenFlags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** The same flags once more, behind other words: a command line that a shell takes as it stands. */
export function againWith(call: Call, words: readonly string[], flags: GivenFlags): string {
  const given = Object.entries(flags).flatMap(([name, value]) => {
    const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (value === undefined || value === false) return [];
    if (value === true) return [flag];
    const values = typeof value === "string" ? [value] : value;
    return values.flatMap((one) => [flag, shellWord(one)]);
  });
  return [call.program, ...words.map(shellWord), ...given].join(" ");
}
