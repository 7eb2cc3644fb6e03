// Writes what can be written by a tool: generated documents, format, then the fixable lint.
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";

writeFileSync("docs/errors.md", execFileSync(process.execPath, ["scripts/errors-document.mjs"]));
writeFileSync("README.md", execFileSync(process.execPath, ["scripts/campaign-figures.mjs"]));
for (const [command, ...args] of [["oxfmt"], ["oxlint", "--type-aware", "--fix"]]) {
  const { status } = spawnSync(`node_modules/.bin/${command}`, args, { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
