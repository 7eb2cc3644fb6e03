import { writeSync } from "node:fs";
import { parseListWords } from "./cli/index.ts";

/** The program's entry: small, so that what needs nothing else answers at once; all the rest is loaded when used. */

declare const HOLDFAST_VERSION: string;
// This file becomes CommonJS, and a list that is required is there sooner than one that is imported.
declare const require: (path: "./list.cjs") => typeof import("./list.ts");

const words = process.argv.slice(2);
const [first] = words;
const listWords = parseListWords(words);
if (words.length === 1 && (first === "--version" || first === "-V")) {
  sayVersion();
} else if (listWords !== undefined) {
  require("./list.cjs").main(listWords).catch(fail);
} else {
  import("./commands.ts").then(({ main }) => main(HOLDFAST_VERSION)).catch(fail);
}

/** Written to the descriptor itself: Node's stream takes longer to make than all the rest. */
function sayVersion(): void {
  try {
    writeSync(1, `${HOLDFAST_VERSION}\n`);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    if (code !== "EPIPE") end(`the output cannot be written: ${code}`, 7);
  }
}

/** What even the command line could not tell: a part of the program is missing, or the system does not open it. */
function fail(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && "syscall" in error) end(`the program cannot be loaded: ${message}`, 7);
  else end(`internal: ${message}`, 1);
}

/** Where nothing can be said the exit code still says it. */
function end(message: string, exitCode: number): void {
  process.exitCode = exitCode;
  process.stderr.on("error", () => undefined);
  process.stderr.write(`holdfast: ${message}\n`);
}
