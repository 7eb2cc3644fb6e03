/** The command line. A8 It holds no logic: each command calls one verb of the engine and shows what came of it. */

export type { Outside, OutputStream } from "./outside.ts";
export { runCommandLine } from "./command-line.ts";
