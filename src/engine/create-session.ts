import { sha256 } from "../host/index.ts";
import { canonicalJson } from "../model/canonical-json.ts";
import { defaultDefinition, defaultPolicy, effectiveCapabilities } from "../model/default-definition.ts";
import { HoldfastError } from "../model/errors.ts";
import type { ModelChoice, Policy, Row, SessionCreated } from "../model/facts.ts";
import { titleOf } from "../model/row.ts";
import type { EngineContext } from "./context.ts";
import { bindWorkspace } from "./workspace.ts";

/** What a new session is made of. Everything that can be wrong with it is found before it exists. */
export interface SessionRequest {
  readonly workspace: string;
  readonly agent: string;
  /** `provider/model` or `cassette:FILE`; the caller's default where absent. */
  readonly model?: string;
  readonly policy: PolicyFlags;
  readonly title?: string;
  /** The first task, which titles the session until a person does. */
  readonly task?: string;
}

/** The policy as flags give it. */
export type PolicyFlags = Partial<Pick<Policy, "allowShell" | "allowMcp" | "passEnv">>;

/** The policy that flags mean, with its hash. */
export function policyOf(flags: PolicyFlags): { policy: Policy; policyHash: string } {
  const policy = defaultPolicy(flags);
  return { policy, policyHash: sha256(canonicalJson(policy)) };
}

/** Makes a session; resolves to its id when it is durable. Rejects `usage`, or what the store rejects. */
export async function createSession(context: EngineContext, request: SessionRequest): Promise<string> {
  const { host, store, version, environment } = context;
  const workspace = await bindWorkspace(host, request.workspace, environment);
  const { choice, blobs } = await context.chooseModel(request.agent, request.model);
  const definition = defaultDefinition;
  const { policy, policyHash } = policyOf(request.policy);
  const { effective: capabilities, missing } = effectiveCapabilities(definition, policy);
  if (missing.length > 0) {
    throw new HoldfastError("usage", `the policy denies what the agent requires: ${missing.join(", ")}`);
  }
  await store.identity();
  const created: SessionCreated = {
    kind: "session.created",
    version,
    agent: request.agent,
    model: choice,
    workspace,
    definition,
    definitionHash: sha256(canonicalJson(definition)),
    capabilities,
    policy,
    policyHash,
  };
  return await store.create({ created, row: firstRow(request, choice, workspace.root), blobs });
}

function firstRow(request: SessionRequest, model: ModelChoice, binding: string): Row {
  const { title, task = "" } = request;
  return {
    kind: "row",
    title: title?.toWellFormed() ?? titleOf({ parts: [{ type: "text", text: task.toWellFormed() }] }),
    titleBy: title === undefined ? "auto" : "person",
    archived: false,
    pinned: false,
    agent: request.agent,
    model: `${model.provider}/${model.model}`,
    binding,
    state: "idle",
    openUnknowns: 0,
  };
}
