// The one check, two jobs at a time: writes nothing in the working tree. `npm run fix` writes.
import { concurrently } from "./concurrently.mjs";

const bin = (name) => `node_modules/.bin/${name}`;
const failed = await concurrently([
  { name: "types", command: bin("tsc"), args: ["-p", "tsconfig.json"] },
  { name: "types of model in a browser", command: bin("tsc"), args: ["-p", "tsconfig.model.json"] },
  { name: "lint", command: bin("oxlint"), args: ["--type-aware", "--deny-warnings"] },
  { name: "format", command: bin("oxfmt"), args: ["--check"] },
  { name: "unused", command: bin("knip"), args: [] },
  // Doors, docstrings, licences of what is shipped, links and tables of the documents.
  { name: "house", command: bin("vitest"), args: ["run", "test/house"] },
  { name: "package", command: process.execPath, args: ["scripts/check-package.mjs"] },
]);
if (failed.length > 0) {
  console.log(`check failed: ${failed.join(", ")}`);
  process.exit(1);
}
