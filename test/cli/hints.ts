import type { Ended, Place } from "./program.ts";

/** The commands that messages offer, run as they stand. */

/** The command lines of ours in a text; those that go on over several lines as one. */
export function commandsIn(text: string): string[] {
  const joined = text.replaceAll(/\\\n\s*/g, "");
  return [
    ...joined.matchAll(
      /holdfast (?:--\S+ (?:'[^']*'|\S+) )*(?:run|resume|send|queue|session|store)\b[^\n]*/g,
    ),
  ].map(([line]) => line.replace(/\s+$/, ""));
}

/** Runs the command that a hint names, as a shell would. */
export async function runHint(place: Place, hint: string, more: readonly string[] = []): Promise<Ended> {
  const [command = ""] = commandsIn(hint);
  // What follows a command in a sentence is set off by a dash.
  const words = command.split(" — ")[0]?.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  return await place.call([...words.slice(1).map((word) => word.replaceAll(/['"]/g, "")), ...more]);
}
