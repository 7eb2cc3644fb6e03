/** The program's entry: small, so that what needs nothing else answers at once; all the rest is loaded when used. */

declare const HOLDFAST_VERSION: string;

const [first, ...more] = process.argv.slice(2);
if (more.length === 0 && (first === "--version" || first === "-V")) {
  process.stdout.write(`${HOLDFAST_VERSION}\n`);
} else {
  void import("./commands.ts").then(({ main }) => main(HOLDFAST_VERSION));
}
