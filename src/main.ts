import { parseListWords } from "./cli/index.ts";

/** The program's entry: small, so that what needs nothing else answers at once; all the rest is loaded when used. */

declare const HOLDFAST_VERSION: string;
// This file becomes CommonJS, and a list that is required is there sooner than one that is imported.
declare const require: (path: "./list.cjs") => typeof import("./list.ts");

const words = process.argv.slice(2);
const [first] = words;
const listWords = parseListWords(words);
if (words.length === 1 && (first === "--version" || first === "-V")) {
  process.stdout.write(`${HOLDFAST_VERSION}\n`);
} else if (listWords !== undefined) {
  void require("./list.cjs").main(listWords);
} else {
  void import("./commands.ts").then(({ main }) => main(HOLDFAST_VERSION));
}
