import type { ListWords } from "./cli/index.ts";
import { runList } from "./cli/index.ts";
import { lightOutside } from "./surroundings.ts";

/** `session list` as it really is. Sets the exit code when it is done. */
export async function main(words: ListWords): Promise<void> {
  process.exitCode = await runList(words, lightOutside(process.env, { isBusy: false }));
}
