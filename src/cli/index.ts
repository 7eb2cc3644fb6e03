/** The command line. A8 It holds no logic: each command calls one verb of the engine and shows what came of it. */

export type { EndSignal, LightOutside, Outside } from "./outside.ts";
export type { ListWords } from "./list-words.ts";
export { parseListWords } from "./list-words.ts";
export { answerList } from "./list.ts";
export { runCommandLine } from "./command-line.ts";
