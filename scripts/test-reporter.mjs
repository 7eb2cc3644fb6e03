// A Vitest reporter that writes counts, and what was skipped and why, to the file that TEST_SUMMARY_FILE names.
import { writeFileSync } from "node:fs";

const because = { skip: "it is marked as skipped", todo: "it is still to be written" };

/** Why a test that did not run did not run. */
function reasonOf(test) {
  const { note } = test.result();
  return note ?? because[test.options.mode] ?? "it was not selected";
}

/** Counts what ran. A file that could not be loaded and an error outside of any test are failures too. */
function summarise(modules, unhandledErrors) {
  const summary = { passed: 0, failed: unhandledErrors.length, skipped: [] };
  for (const module of modules) {
    if (module.errors().length > 0) summary.failed++;
    for (const suite of module.children.allSuites()) {
      if (suite.errors().length > 0) summary.failed++;
    }
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") summary.passed++;
      else if (state === "skipped") {
        summary.skipped.push({ name: `${module.relativeModuleId} > ${test.fullName}`, why: reasonOf(test) });
      } else summary.failed++;
    }
  }
  return summary;
}

export default class SummaryReporter {
  onTestRunEnd(modules, unhandledErrors) {
    writeFileSync(process.env.TEST_SUMMARY_FILE, JSON.stringify(summarise(modules, unhandledErrors)));
  }
}
