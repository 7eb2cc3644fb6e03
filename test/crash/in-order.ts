import type { Effect } from "./memory-disk.ts";
import type { World } from "./world.ts";

/**
 * Lets the effects of all processes happen one by one, in the order that `choices` says: each number names one of those
 * that wait. Resolves to what `work` does; then everything goes freely again.
 */
export async function inOrder<T>(
  world: World,
  choices: readonly number[],
  work: () => Promise<T>,
): Promise<T> {
  const waiting: (() => void)[] = [];
  let next = 0;
  world.disk.gate = (_effect: Effect) => new Promise<void>((resolve) => waiting.push(resolve));
  let timer = setImmediate(function step() {
    const choice = choices[next++ % choices.length] ?? 0;
    waiting.splice(choice % Math.max(1, waiting.length), 1)[0]?.();
    timer = setImmediate(step);
  });
  try {
    return await work();
  } finally {
    clearImmediate(timer);
    world.disk.gate = undefined;
    waiting.forEach((go) => go());
  }
}
