import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../src/model/errors.ts";
import { HoldfastError, errorTable, exitCodeOf, isHoldfastError } from "../../src/model/errors.ts";
import { corruption, queueCorruption } from "../../src/model/corruption.ts";

/** What scripts rely on: each exit code with its error codes. */
const codesByExit: Record<number, string> = {
  1: "run_failed context_overflow cassette_exhausted bundle_invalid internal",
  2: "usage already_resolved",
  3: "input_required",
  4: "canceled",
  5: "busy fenced",
  6: "workspace_mismatch branch_mismatch policy_drift definition_drift",
  7: "log_damaged queue_damaged disk_full io_error durability_unknown rolled_back unsafe_storage store_copied unsupported_version",
  8: "not_found ambiguous deleted exists message_id_conflict",
  9: "not_resumable",
  10: "provider_failed agent_missing agent_failed",
  11: "suspended interrupted",
};

describe("the table of errors", () => {
  test("has exactly the codes that scripts rely on, each with its exit code", () => {
    const promised = Object.entries(codesByExit).flatMap(([exit, codes]) =>
      codes.split(" ").map((code) => [code, Number(exit)] as const),
    );
    const rows = Object.entries(errorTable).map(([code, { exit }]) => [code, exit] as const);
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(promised));
    expect(rows).toHaveLength(promised.length);
  });

  test("gives every code a status of a failure and a sentence", () => {
    for (const [code, row] of Object.entries(errorTable)) {
      expect(row.http, code).toBeGreaterThanOrEqual(400);
      expect(row.http, code).toBeLessThan(600);
      expect(row.meaning, code).toMatch(/^[A-Z].*\.$/);
    }
  });

  test("calls worth a retry only what may pass by itself", () => {
    const retried = Object.entries(errorTable).flatMap(([code, row]) => (row.retry ? [code] : []));
    expect(retried.toSorted().join(" ")).toMatchInlineSnapshot(
      `"agent_failed busy disk_full fenced interrupted io_error provider_failed suspended"`,
    );
  });
});

describe("an error", () => {
  test("ends the process with the exit code of its row, and anything else with 1", () => {
    for (const [code, { exit }] of Object.entries(errorTable)) {
      expect(exitCodeOf(new HoldfastError(code as ErrorCode, "x"))).toBe(exit);
    }
    for (const other of [new Error("x"), "x", undefined, null, 7, { code: "busy" }])
      expect(exitCodeOf(other)).toBe(1);
  });

  test("says what, with what may be done and its cause beside it", () => {
    const cause = new Error("EIO");
    const error = new HoldfastError("io_error", "the log cannot be read", { hint: "Try again.", cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "HoldfastError",
      code: "io_error",
      message: "the log cannot be read",
      details: { hint: "Try again." },
      cause,
    });
    expect(Object.hasOwn(new HoldfastError("busy", "x"), "cause")).toBe(false);
  });

  test("is known by its code, also where another bundle made it", () => {
    const busy = new HoldfastError("busy", "x");
    expect(isHoldfastError(busy)).toBe(true);
    expect(isHoldfastError(busy, "fenced", "busy")).toBe(true);
    expect(isHoldfastError(busy, "fenced")).toBe(false);
    const foreign = Object.assign(new Error("x"), { name: "HoldfastError", code: "busy", details: {} });
    expect(isHoldfastError(foreign, "busy")).toBe(true);
    expect(exitCodeOf(foreign)).toBe(5);
  });

  test("of a code that the table lacks is none of ours", () => {
    for (const code of ["EACCES", "toString", 5, undefined]) {
      const error = Object.assign(new Error("x"), { name: "HoldfastError", code });
      expect(isHoldfastError(error)).toBe(false);
      expect(exitCodeOf(error)).toBe(1);
    }
    expect(isHoldfastError(Object.assign(new Error("x"), { code: "busy" }))).toBe(false);
  });

  test("about a file that contradicts itself is damage of that file", () => {
    expect(queueCorruption("dlv_1 was never admitted")).toMatchObject({
      code: "queue_damaged",
      message: "the queue contradicts itself: dlv_1 was never admitted",
    });
    expect(corruption("run_1 is created twice")).toMatchObject({
      code: "log_damaged",
      message: "the log contradicts itself: run_1 is created twice",
    });
  });
});
