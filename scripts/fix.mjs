// Writes what can be written by a tool: format, then the fixable lint.
import { spawnSync } from "node:child_process";

for (const [command, ...args] of [["oxfmt"], ["oxlint", "--type-aware", "--fix"]]) {
  const { status } = spawnSync(`node_modules/.bin/${command}`, args, { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
