import { describe, expect, test } from "vitest";
import { explainResume, resume } from "../../src/engine/index.ts";
import { HoldfastError } from "../../src/model/errors.ts";
import { done } from "./asking.ts";
import { Stage } from "./stage.ts";

const refusalOf = (verb: Promise<unknown>): Promise<unknown> =>
  verb.then(
    () => "none",
    (error: unknown) => (error instanceof HoldfastError ? [error.code, error.message] : error),
  );

describe("the explanation of a resume", () => {
  test("refuses, as the resume would, what no session could be asked", async () => {
    const stage = await Stage.set({ turns: [done] });
    const engine = stage.world.engine();
    const base = { selector: stage.session, acceptRollback: false };
    for (const request of [
      { ...base, acceptPolicy: true },
      { ...base, task: " \n" },
    ]) {
      const explained = await refusalOf(explainResume(engine, request));
      expect(explained).toEqual(await refusalOf(resume(engine, request, stage.world.observer())));
      expect(explained).toMatchObject(["usage", expect.any(String)]);
    }
    expect(await explainResume(engine, base)).toMatchObject({ eligible: true });
  });
});
