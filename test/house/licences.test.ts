import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Licences under which a package may be passed on with ours, as long as its text goes along. */
const allowed = new Set(["MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD"]);

interface LockedPackage {
  readonly dev?: boolean;
  readonly license?: string;
}

/** True where one of the alternatives is allowed. */
function isAllowed(licence: string): boolean {
  return licence
    .replaceAll(/[()]/g, "")
    .split(" OR ")
    .some((one) => allowed.has(one.trim()));
}

test("everything that is shipped may be passed on under its licence", () => {
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const shipped = Object.entries(lock.packages).filter(([path, one]) => path !== "" && one.dev !== true);
  expect(shipped.length).toBeGreaterThan(0);
  const faults = shipped
    .filter(([, { license }]) => license === undefined || !isAllowed(license))
    .map(([path, { license }]) => `${path}: ${license ?? "no licence"}`);
  expect(faults).toEqual([]);
});

test("a licence that asks for more would be noticed", () => {
  expect(isAllowed("(AFL-2.1 OR BSD-3-Clause)")).toBe(true);
  expect(isAllowed("GPL-3.0-only")).toBe(false);
  expect(isAllowed("SEE LICENSE IN LICENSE.md")).toBe(false);
});
