/** A short look at a change, as `+` and `-` lines with a little around them. */

const contextLines = 2;
const changedLinesMax = 12;
const lineLengthMax = 200;

/** From the first line that differs to the last, long stretches cut. Empty where nothing differs. */
export function changeExcerpt(before: string, after: string): string {
  const old = before.split(/\r?\n/);
  const fresh = after.split(/\r?\n/);
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++;
  let tail = 0;
  const shorter = Math.min(old.length, fresh.length);
  while (tail < shorter - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++;
  const removed = old.slice(head, old.length - tail);
  const added = fresh.slice(head, fresh.length - tail);
  if (removed.length === 0 && added.length === 0) return "";
  const start = Math.max(0, head - contextLines);
  return [
    `@@ line ${head + 1} @@`,
    ...marked(" ", fresh.slice(start, head)),
    ...marked("-", removed),
    ...marked("+", added),
    ...marked(" ", fresh.slice(fresh.length - tail, fresh.length - tail + contextLines)),
  ].join("\n");
}

function marked(mark: string, lines: readonly string[]): string[] {
  const shown = lines.slice(0, changedLinesMax).map((line) => mark + cut(line));
  const hidden = lines.length - shown.length;
  return hidden > 0 ? [...shown, `${mark}… ${hidden} more lines`] : shown;
}

function cut(line: string): string {
  return line.length > lineLengthMax ? `${line.slice(0, lineLengthMax)}…` : line;
}
