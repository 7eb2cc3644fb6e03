export type { Outside, OutputStream } from "./outside.ts";
export { runCommandLine } from "./command-line.ts";
