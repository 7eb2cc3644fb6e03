import type { ListWords } from "./cli/index.ts";
import { answerList } from "./cli/index.ts";
import { lightOutside } from "./surroundings.ts";

/** `session list` as it really is. Sets the exit code when it is done. */
export async function main(words: ListWords): Promise<void> {
  process.exitCode = await answerList(words, lightOutside(process.env, { isBusy: false }));
}
