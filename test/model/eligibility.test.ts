import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ResumeFacts } from "../../src/model/eligibility.ts";
import { evaluateResume } from "../../src/model/eligibility.ts";

const free: ResumeFacts = {
  archived: false,
  moved: false,
  active: false,
  damaged: false,
  workspaceMissing: false,
};

describe("whether a session may be resumed", () => {
  test("is yes where nothing stands in the way", () => {
    expect(evaluateResume(free)).toEqual({ eligible: true, code: "yes", blockers: [] });
  });

  test.each([
    ["damaged", "damaged"],
    ["moved", "other-device"],
    ["archived", "archived"],
    ["active", "active"],
    ["workspaceMissing", "cwd-missing"],
  ] as const)("is no for one that is %s", (fact, code) => {
    expect(evaluateResume({ ...free, [fact]: true })).toEqual({ eligible: false, code, blockers: [code] });
  });

  test("names everything that stands in the way, the gravest first", () => {
    const all = { archived: true, moved: true, active: true, damaged: true, workspaceMissing: true };
    const order = ["damaged", "other-device", "archived", "active", "cwd-missing"];
    expect(evaluateResume(all).blockers).toEqual(order);
    const facts = fc.record({
      archived: fc.boolean(),
      moved: fc.boolean(),
      active: fc.boolean(),
      damaged: fc.boolean(),
      workspaceMissing: fc.boolean(),
    });
    fc.assert(
      fc.property(facts, (some) => {
        const { eligible, code, blockers } = evaluateResume(some);
        expect(blockers).toHaveLength(Object.values(some).filter(Boolean).length);
        expect(blockers).toEqual(order.filter((one) => blockers.includes(one as typeof code)));
        expect([eligible, code]).toEqual([blockers.length === 0, blockers[0] ?? "yes"]);
      }),
    );
  });
});
