/** What somebody may have meant. */

const distanceMax = 2;

/** The name that is nearest to a word, where one is near enough. */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  let [nearest, least]: [string | undefined, number] = [undefined, distanceMax + 1];
  for (const name of names) {
    const distance = editDistance(word, name);
    if (distance < least && distance < name.length) [nearest, least] = [name, distance];
  }
  return nearest;
}

/** How many characters must be put in, taken out or replaced. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let one = 1; one <= left.length; one++) {
    const above = row;
    row = [one];
    for (let two = 1; two <= right.length; two++) {
      const replaced = (above[two - 1] ?? 0) + (left[one - 1] === right[two - 1] ? 0 : 1);
      row.push(Math.min(replaced, (above[two] ?? 0) + 1, (row[two - 1] ?? 0) + 1));
    }
  }
  return row[right.length] ?? 0;
}
