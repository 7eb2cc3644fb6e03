import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allPlans, nameOf } from "../campaign/catalog.ts";
import { damagedText } from "./copy.ts";
import { mutants } from "./index.ts";

test("each mutant stands exactly once in the product as it is, and leaves a program", async () => {
  for (const mutant of mutants) {
    const text = readFileSync(join("src", mutant.file), "utf8");
    expect(await damagedText(mutant, text), mutant.name).not.toBe(text);
  }
});

test("the list is long, and each of it has a name of its own and says which promise it breaks", () => {
  expect(mutants.length).toBeGreaterThanOrEqual(45);
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  for (const { name, breaks } of mutants) {
    expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(breaks, name).toMatch(/^[A-Z].*\.$/);
  }
});

test("each mutant is killed by something that there is, or explained", () => {
  const plans = new Set(allPlans().map(nameOf));
  for (const mutant of mutants) {
    const killers = "killedBy" in mutant ? mutant.killedBy : [];
    const unknown = killers.filter((name) =>
      name.endsWith(".test.ts") ? !existsSync(name) : !plans.has(name),
    );
    expect(unknown, mutant.name).toEqual([]);
    expect(killers.length > 0 || "explained" in mutant, mutant.name).toBe(true);
  }
});
