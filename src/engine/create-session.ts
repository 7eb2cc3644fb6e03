import { sha256 } from "../host/index.ts";
import { defaultDefinition } from "../model/default-definition.ts";
import { HoldfastError } from "../model/errors.ts";
import type { AgentDefinition, Fact, ModelChoice, Row, SessionCreated } from "../model/facts.ts";
import type { GivenPolicy } from "../model/policy.ts";
import type { Redactor } from "../model/redact.ts";
import { titleOf } from "../model/row.ts";
import { admittedFact } from "./admit.ts";
import type { EngineContext } from "./context.ts";
import { permittedCapabilities } from "./permission.ts";
import { lockDefinition } from "./read-definition.ts";
import { recordPolicy } from "./read-policy.ts";
import { bindWorkspace } from "./workspace.ts";

/** What a new session is made of. Everything that can be wrong with it is found before it exists. */
export interface SessionRequest {
  readonly workspace: string;
  readonly agent: string;
  /** `provider/model` or `cassette:FILE`; the caller's default where absent. */
  readonly model?: string;
  /** What the agent is; the default one where absent. */
  readonly definition?: AgentDefinition;
  /** What it may do; what is left open is as careful as can be. */
  readonly policy: GivenPolicy;
  readonly title?: string;
  /** The first task, admitted together with the session; it titles the session until a person does. */
  readonly task: string;
}

/** Characters of a title that a person gives. */
const titleLengthMax = 500;

/** Makes a session with its first task; resolves to its id when both are durable. Rejects `usage`, or what the store rejects. */
export async function createSession(context: EngineContext, request: SessionRequest): Promise<string> {
  const { host, store, version, environment } = context;
  refuseLongTitle(request);
  const { definition, definitionHash } = lockDefinition(request.definition ?? defaultDefinition);
  const { policy, policyHash } = recordPolicy(request.policy);
  const capabilities = permittedCapabilities(definition, policy);
  const workspace = await bindWorkspace(host, request.workspace, environment);
  const { choice, blobs } = await context.chooseModel(request.agent, request.model);
  await store.identity();
  const created: SessionCreated = {
    kind: "session.created",
    version,
    agent: request.agent,
    model: choice,
    workspace,
    definition,
    definitionHash,
    capabilities,
    policy,
    policyHash,
  };
  const redactor = await context.openRedactor();
  const row = firstRow(titleFor(request, redactor), request, { model: choice, binding: workspace.root });
  const first = await firstDelivery(context, request);
  return await store.create({ created, row, blobs: [...blobs, ...first.blobs], queue: first.facts });
}

/** The task as the queue's first line: whoever sees the session finds it there, whatever dies. */
async function firstDelivery(
  context: EngineContext,
  { task }: SessionRequest,
): Promise<{ facts: Fact[]; blobs: Uint8Array[] }> {
  const blobs: Uint8Array[] = [];
  const put = async (bytes: Uint8Array) => {
    blobs.push(bytes);
    return { sha256: sha256(bytes), bytes: bytes.length };
  };
  const fact = await admittedFact(context, put, { text: task, source: "user", logSeq: 0 });
  return { facts: [fact], blobs };
}

type Title = Pick<Row, "title" | "titleBy">;

function titleFor({ title, task }: SessionRequest, redactor: Redactor): Title {
  if (title !== undefined) return { title: redactor.text(title).toWellFormed(), titleBy: "person" };
  const text = redactor.text(task).toWellFormed();
  return { title: titleOf({ parts: [{ type: "text", text }] }), titleBy: "auto" };
}

/** A row carries the title with it in each line that changes it, and a list shows one line of it. */
function refuseLongTitle({ title }: SessionRequest): void {
  if (title === undefined || title.length <= titleLengthMax) return;
  throw new HoldfastError("usage", `the title is longer than ${titleLengthMax} characters`);
}

function firstRow(title: Title, request: SessionRequest, at: { model: ModelChoice; binding: string }): Row {
  const { model, binding } = at;
  return {
    kind: "row",
    ...title,
    archived: false,
    pinned: false,
    agent: request.agent,
    model: `${model.provider}/${model.model}`,
    binding,
    state: "idle",
    openUnknowns: 0,
  };
}
