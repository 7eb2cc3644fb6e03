import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/model/canonical-json.ts";
import { effectiveCapabilities } from "../../src/model/capability.ts";
import { builtinCapabilities, defaultDefinition } from "../../src/model/default-definition.ts";
import type { AgentDefinition, Policy } from "../../src/model/facts.ts";
import { AgentDefinition as DefinitionSchema, Policy as PolicySchema } from "../../src/model/facts.ts";
import type { GivenPolicy } from "../../src/model/policy.ts";
import { checkPolicy } from "../../src/model/policy-file.ts";
import { completePolicy, faultOfVariable } from "../../src/model/policy.ts";
import { writeProblem } from "../../src/model/problems.ts";

const hashOf = (value: unknown) => createHash("sha256").update(canonicalJson(value)).digest("hex");

function asking(required: string[], optional: string[] = []): AgentDefinition {
  return { ...defaultDefinition, spec: { ...defaultDefinition.spec, capabilities: { required, optional } } };
}

const allowed = (policy: Partial<Policy>, ...optional: string[]) =>
  effectiveCapabilities(asking([], optional), { ...completePolicy(), ...policy }).effective;

describe("the default definition and policy", () => {
  test("are what sessions were locked with: their hashes change only on purpose", () => {
    expect(hashOf(defaultDefinition)).toMatchInlineSnapshot(
      `"e42125d6aeb7a6c8708e44e45e02976f4985d863f7de45222e16bfa759cff179"`,
    );
    expect(hashOf(completePolicy())).toMatchInlineSnapshot(
      `"cc207babe54c77d2b294290d9551a7cda305ea94a8bb4471ae84cc156ddfa4d0"`,
    );
    expect(hashOf(completePolicy({ allowShell: true, passEnv: ["B", "A"] }))).toMatchInlineSnapshot(
      `"8ad7e944ed59c209de0acfc90cdfae859222c310f84f91a63bcd2febd58b0a56"`,
    );
  });

  test("are legal", () => {
    expect(DefinitionSchema.parse(defaultDefinition)).toEqual(defaultDefinition);
    expect(PolicySchema.parse(completePolicy())).toEqual(completePolicy());
  });

  test("ask for every capability of the built-in agent once", () => {
    const { required, optional } = defaultDefinition.spec.capabilities;
    expect([...required, ...optional].toSorted()).toEqual([...builtinCapabilities].toSorted());
  });

  test("permit neither commands nor MCP servers, and pass no variable on", () => {
    expect(completePolicy()).toMatchObject({ allowShell: false, allowMcp: false, passEnv: [] });
    expect(effectiveCapabilities(defaultDefinition, completePolicy())).toEqual({
      effective: ["delete", "edit", "glob", "grep", "read", "write"],
      missing: [],
    });
  });

  test("one policy has one hash, however its flags were given", () => {
    const policy = completePolicy({ passEnv: ["B", "A", "B"] });
    expect(policy.passEnv).toEqual(["A", "B"]);
    expect(hashOf(policy)).toBe(hashOf(completePolicy({ passEnv: ["A", "B"] })));
    expect(hashOf(policy)).not.toBe(hashOf(completePolicy()));
  });
});

describe("the capabilities of a session", () => {
  test("are what is asked for and permitted, sorted, each once", () => {
    const definition = asking(["write", "read"], ["read", "glob"]);
    expect(effectiveCapabilities(definition, completePolicy()).effective).toEqual(["glob", "read", "write"]);
  });

  test("hold nothing that was not asked for", () => {
    expect(allowed({ allowedCapabilities: ["read", "write"] }, "read")).toEqual(["read"]);
  });

  test("hold only what is allowed, where that is said", () => {
    expect(allowed({ allowedCapabilities: ["read"] }, "read", "write")).toEqual(["read"]);
    expect(allowed({ allowedCapabilities: [] }, "read", "write")).toEqual([]);
  });

  test("hold nothing that is denied, whoever allows it", () => {
    const allow = { allowedCapabilities: ["read", "write"], approvals: { write: "allow" as const } };
    expect(allowed({ ...allow, deniedCapabilities: ["write"] }, "read", "write")).toEqual(["read"]);
    expect(allowed({ approvals: { write: "deny" } }, "read", "write")).toEqual(["read"]);
  });

  test("hold what must be asked first", () => {
    expect(allowed({ approvals: { write: "ask" } }, "write")).toEqual(["write"]);
  });

  test("hold commands and tools of MCP servers only where those are switched on", () => {
    const both = ["exec", "mcp__files__list"];
    const named = { allowedCapabilities: both, approvals: { exec: "allow" as const } };
    expect(allowed(named, ...both)).toEqual([]);
    expect(allowed({ ...named, allowShell: true }, ...both)).toEqual(["exec"]);
    expect(allowed({ ...named, allowMcp: true }, ...both)).toEqual(["mcp__files__list"]);
  });

  test("name what is required and not permitted", () => {
    const definition = asking(["read", "exec", "write"], ["grep"]);
    const policy = { ...completePolicy(), deniedCapabilities: ["write", "grep"] };
    expect(effectiveCapabilities(definition, policy)).toEqual({
      effective: ["read"],
      missing: ["exec", "write"],
    });
  });

  test("are not confused by names that every object inherits", () => {
    expect(allowed({}, "constructor", "toString")).toEqual(["constructor", "toString"]);
  });
});

describe("a policy file", () => {
  const problemsOf = (value: unknown) => checkPolicy(value).problems.map(writeProblem);

  test("may leave out everything, and may say everything", () => {
    const whole: GivenPolicy = {
      allowedCapabilities: ["read", "exec"],
      deniedCapabilities: ["write"],
      allowShell: true,
      allowMcp: false,
      passEnv: ["NPM_TOKEN"],
      maxTurns: 1,
      maxWallClockMs: 2 ** 31 - 1,
      maxTokens: 10,
      approvals: { exec: "ask", mcp__a__b: "deny", read: "allow" },
    };
    expect(checkPolicy(whole)).toEqual({ policy: whole, problems: [] });
    expect(checkPolicy({})).toEqual({ policy: {}, problems: [] });
    expect(completePolicy({})).toEqual(completePolicy());
    expect(completePolicy(whole)).toEqual({ ...whole, allowedCapabilities: ["exec", "read"] });
  });

  test("says with all its problems at once why it is none", () => {
    const value = JSON.parse(`{
      "allowedCapabilities": ["raed"], "deniedCapabilities": "exec", "allowShell": "yes", "allowMcp": 1,
      "passEnv": ["OPENAI_API_KEY", "A=b", "", "A B", 7], "maxTurns": 0, "maxWallClockMs": 2147483648,
      "maxTokens": 1.5, "approvals": { "exce": "ask", "read": "maybe", "__proto__": "deny" }, "maxTurn": 3
    }`) as unknown;
    expect(problemsOf(value).join("\n")).toMatchInlineSnapshot(`
      "allowedCapabilities[0]: must be one of read, glob, grep, write, edit, delete, exec, or mcp__SERVER__TOOL, not "raed"
      deniedCapabilities: must be a list, not "exec"
      allowShell: must be true or false, not "yes"
      allowMcp: must be true or false, not 1
      passEnv[4]: must be text, not 7
      maxTurns: must be at least 1, not 0
      maxWallClockMs: must be at most 2147483647, not 2147483648
      maxTokens: must be a whole number, not 1.5
      approvals.read: must be allow, ask or deny, not "maybe"
      maxTurn: is not a known field
      approvals.exce: must be one of read, glob, grep, write, edit, delete, exec, or mcp__SERVER__TOOL, not "exce"
      approvals.__proto__: must be one of read, glob, grep, write, edit, delete, exec, or mcp__SERVER__TOOL, not "__proto__"
      passEnv[0]: OPENAI_API_KEY is a model provider's key, which no command ever sees
      passEnv[1]: "A" is named without a value
      passEnv[2]: names no variable
      passEnv[3]: no variable is called "A B""
    `);
    expect(problemsOf([])).toEqual(["it is not a mapping"]);
  });

  test("and a flag never repeat the value of a variable, which may be a secret", () => {
    expect(faultOfVariable("NPM_TOKEN=npm_s3cret")).toBe('"NPM_TOKEN" is named without a value');
    expect(problemsOf({ passEnv: ["NPM_TOKEN=npm_s3cret"] }).join()).not.toContain("s3cret");
  });

  test("passes on no provider's key, whatever its case", () => {
    for (const name of [
      "ANTHROPIC_API_KEY",
      "openai_api_key",
      "GEMINI_API_KEY",
      "GOOGLE_API_KEY",
      "OPENAI_COMPATIBLE_API_KEY",
    ])
      expect(faultOfVariable(name)).toContain("provider's key");
    for (const name of ["NPM_TOKEN", "GITHUB_TOKEN", "ANTHROPIC_BASE_URL", "npm_config_//r/:_authToken"])
      expect(faultOfVariable(name)).toBeUndefined();
  });

  test("means one policy, in whatever order and how often its sets name something", () => {
    const one = completePolicy({
      deniedCapabilities: ["write", "exec"],
      allowedCapabilities: ["read"],
      passEnv: ["B", "A"],
    });
    const other = completePolicy({
      passEnv: ["A", "B", "A"],
      allowedCapabilities: ["read", "read"],
      deniedCapabilities: ["exec", "write"],
    });
    expect(hashOf(other)).toBe(hashOf(one));
  });
});
