/** Ids as tables show them: the shortest beginning that is no other session's, of at least 14 characters. */

const lengthMin = 14;

/** How each of all ids is shortened. */
export function shortIds(all: readonly string[]): (id: string) => string {
  const sorted = all.toSorted();
  const lengths = new Map<string, number>();
  sorted.forEach((id, index) => {
    const shared = Math.max(sharedLength(id, sorted[index - 1]), sharedLength(id, sorted[index + 1]));
    lengths.set(id, Math.max(lengthMin, shared + 1));
  });
  return (id) => id.slice(0, lengths.get(id) ?? id.length);
}

function sharedLength(left: string, right: string | undefined): number {
  if (right === undefined) return 0;
  let length = 0;
  while (length < left.length && left[length] === right[length]) length++;
  return length;
}
