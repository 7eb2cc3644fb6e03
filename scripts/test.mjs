// `npm test [-- filter …]`: builds, runs the tests, says what was skipped and why. Last line: `N passed, N failed`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";

/** Ends with the line that says how it went, and an exit code that agrees with it. */
function finish({ passed, failed }) {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

/** How a child ended, in words; undefined where it ended well. */
function faultOf({ status, signal, error }) {
  if (error !== undefined) return `could not be started: ${error.message}`;
  if (signal !== null) return `was ended by ${signal} (${constants.signals[signal]})`;
  return status === 0 ? undefined : `ended with exit code ${status}`;
}

/** What the reporter wrote; undefined where the runner died before it could. */
function readSummary(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  }
}

function printSkipped(skipped) {
  if (skipped.length === 0) return;
  console.log(`\nskipped (${skipped.length}):`);
  for (const { name, why } of skipped) console.log(`  ${name}\n    because ${why}`);
}

function runTests() {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  const file = join(folder, "summary.json");
  try {
    const ended = spawnSync(
      process.execPath,
      [
        "node_modules/vitest/vitest.mjs",
        "run",
        "--reporter=default",
        "--reporter=./scripts/test-reporter.mjs",
        ...process.argv.slice(2),
      ],
      { stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, TEST_SUMMARY_FILE: file } },
    );
    return { fault: faultOf(ended), summary: readSummary(file) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const built = spawnSync(process.execPath, ["scripts/build.mjs", "--quiet"], { stdio: "inherit" });
if (built.status !== 0) {
  console.log(`the build ${faultOf(built)}; no test ran`);
  finish({ passed: 0, failed: 1 });
} else {
  const { fault, summary } = runTests();
  const { passed, failed, skipped } = summary ?? { passed: 0, failed: 0, skipped: [] };
  printSkipped(skipped);
  console.log("");
  if (fault !== undefined && failed === 0) {
    // Nothing that was counted failed, and yet the run did not end well: never a green line.
    console.log(`the test runner ${fault}${summary === undefined ? " before it could say what ran" : ""}`);
  }
  finish({ passed, failed: fault === undefined ? failed : Math.max(1, failed) });
}
