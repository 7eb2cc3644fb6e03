import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ResumeBlocker } from "../../src/model/eligibility.ts";
import { defaultResumeSettings, evaluateResume } from "../../src/model/eligibility.ts";

type Facts = Parameters<typeof evaluateResume>;

/** The facts where exactly these things stand in the way. */
function factsWith(blockers: readonly ResumeBlocker[]): Facts {
  const has = (blocker: ResumeBlocker): boolean => blockers.includes(blocker);
  const session = {
    agent: "codex",
    archived: has("archived"),
    damaged: has("damaged"),
    moved: false,
    direct: has("direct"),
    vendor: {
      id: has("missing-id") ? " " : "thread-1",
      device: has("other-device") ? "dev_2" : "dev_1",
      agentResumes: !has("unsupported"),
      pathResumes: true,
    },
  };
  const settings = { agents: { codex: { enabled: !has("off"), resume: !has("disabled") } } };
  const probe = { active: has("active"), workspaceMissing: has("cwd-missing") };
  return [session, { id: "dev_1" }, settings, probe];
}

const order: readonly ResumeBlocker[] = [
  "archived",
  "active",
  "damaged",
  "direct",
  "other-device",
  "cwd-missing",
  "off",
  "unsupported",
  "disabled",
  "missing-id",
];

const builtin = { agent: "builtin", archived: false, damaged: false, moved: false };
const still = { active: false, workspaceMissing: false };

describe("whether a session may be resumed", () => {
  test("is yes where nothing stands in the way, also for an agent without sessions of its own", () => {
    const yes = { eligible: true, code: "yes", blockers: [] };
    expect(evaluateResume(...factsWith([]))).toEqual(yes);
    expect(evaluateResume(builtin, {}, defaultResumeSettings, still)).toEqual(yes);
  });

  test.each(order)("is no(%s) for that alone", (blocker) => {
    expect(evaluateResume(...factsWith([blocker]))).toEqual({
      eligible: false,
      code: blocker,
      blockers: [blocker],
    });
  });

  test("names everything that stands in the way, in the fixed order, and the first as the reason", () => {
    fc.assert(
      fc.property(fc.subarray([...order]), (some) => {
        const { eligible, code, blockers } = evaluateResume(...factsWith(some));
        expect(blockers).toEqual(some);
        expect([eligible, code]).toEqual([some.length === 0, some[0] ?? "yes"]);
      }),
    );
    expect(evaluateResume(...factsWith(order)).blockers).toEqual(order);
  });

  test("goes by where the session is: moved away, or kept by an agent on a device that is not this one", () => {
    const moved = { ...builtin, moved: true };
    expect(evaluateResume(moved, { id: "dev_1" }, defaultResumeSettings, still).code).toBe("other-device");
    const elsewhere = { ...builtin, vendor: { id: "x", device: "dev_2" } };
    expect(evaluateResume(elsewhere, { id: "dev_2" }, defaultResumeSettings, still).code).toBe("yes");
    // Nobody can say that it is here.
    expect(evaluateResume(elsewhere, {}, defaultResumeSettings, still).code).toBe("other-device");
  });

  test("goes by today's settings of its own agent, and by the path that is its own", () => {
    const session = { ...builtin, agent: "codex", vendor: { id: "x" } };
    const others = { agents: { claude: { enabled: false, resume: false } } };
    expect(evaluateResume(session, {}, others, still).code).toBe("yes");
    const mcp = { ...session, vendor: { id: "x", pathResumes: false } };
    const allowed = { agents: { codex: { enabled: true, resume: true } } };
    expect(evaluateResume(mcp, {}, allowed, still).code).toBe("disabled");
  });

  test("takes an id that is blank or absent for one that is missing, where the agent has ids", () => {
    for (const vendor of [{}, { id: "" }, { id: " \n" }]) {
      expect(evaluateResume({ ...builtin, vendor }, {}, defaultResumeSettings, still).code).toBe(
        "missing-id",
      );
    }
  });
});
