import { sessionList } from "./commands/session-list.ts";
import { failureOf, reportFailure, reportStack } from "./failure.ts";
import { brokenCall, callOf } from "./flags.ts";
import type { ListWords } from "./list-words.ts";
import type { LightOutside } from "./outside.ts";

const kind = "session_list";

/** Answers `session list` with nothing loaded that it does not need. Resolves to the exit code; never rejects. */
export async function answerList(words: ListWords, outside: LightOutside): Promise<number> {
  try {
    return await sessionList(callOf(outside, kind, words.globals), words.flags);
  } catch (error) {
    const call = brokenCall(outside, kind, words.globals.json === true ? ["--json"] : []);
    await reportStack(call, error);
    return await reportFailure(call, failureOf(error, call));
  }
}
