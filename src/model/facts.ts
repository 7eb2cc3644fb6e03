import type * as z from "zod/mini";
import * as conversation from "./facts/conversation.ts";
import * as operation from "./facts/operation.ts";
import * as queue from "./facts/queue.ts";
import * as reserved from "./facts/reserved.ts";
import * as run from "./facts/run.ts";
import * as session from "./facts/session.ts";
import { validatorOf } from "./validator.ts";
import type { Validator } from "./validator.ts";

export * from "./facts/conversation.ts";
export * from "./facts/operation.ts";
export * from "./facts/queue.ts";
export * from "./facts/reserved.ts";
export * from "./facts/run.ts";
export * from "./facts/session.ts";

/** Every kind of fact with its schema: the closed set of the file format. */
export const factSchemas = {
  "session.created": session.SessionCreated,
  row: session.Row,
  "session.changed": session.SessionChanged,
  "session.moved": session.SessionMoved,
  "epoch.raised": session.EpochRaised,
  "lease.released": session.LeaseReleased,
  "workspace.rebound": session.WorkspaceRebound,
  "policy.accepted": session.PolicyAccepted,
  repaired: session.Repaired,
  "rollback.accepted": session.RollbackAccepted,
  message: conversation.Message,
  "system.changed": conversation.SystemChanged,
  "model.requested": conversation.ModelRequested,
  "model.answered": conversation.ModelAnswered,
  "model.failed": conversation.ModelFailed,
  compacted: conversation.Compacted,
  rewound: conversation.Rewound,
  "run.created": run.RunCreated,
  "run.started": run.RunStarted,
  "run.suspended": run.RunSuspended,
  "run.input_required": run.RunInputRequired,
  "run.ended": run.RunEnded,
  "op.asked": operation.OperationAsked,
  "op.started": operation.OperationStarted,
  "op.known": operation.OperationKnown,
  "op.unknown": operation.OperationUnknown,
  "op.resolved": operation.OperationResolved,
  "op.settled": operation.OperationSettled,
  "approval.asked": operation.ApprovalAsked,
  "approval.decided": operation.ApprovalDecided,
  "approval.rule": operation.ApprovalRule,
  "vendor.bound": reserved.VendorBound,
  "vendor.started": reserved.VendorStarted,
  "vendor.failed": reserved.VendorFailed,
  checkpoint: reserved.Checkpoint,
  imported: reserved.Imported,
  "handed.off": reserved.HandedOff,
  "delivery.admitted": queue.DeliveryAdmitted,
  "delivery.edited": queue.DeliveryEdited,
  "delivery.moved": queue.DeliveryMoved,
  "delivery.armed": queue.DeliveryArmed,
  "delivery.attempted": queue.DeliveryAttempted,
  "delivery.disarmed": queue.DeliveryDisarmed,
  "delivery.resolved": queue.DeliveryResolved,
  "delivery.claimed": queue.DeliveryClaimed,
  "delivery.released": queue.DeliveryReleased,
  "delivery.acknowledged": queue.DeliveryAcknowledged,
  "delivery.blocked": queue.DeliveryBlocked,
  "delivery.unblocked": queue.DeliveryUnblocked,
  "delivery.removed": queue.DeliveryRemoved,
  "request.made": queue.RequestMade,
  "request.answered": queue.RequestAnswered,
} as const;

/** A kind of the closed set. */
export type FactKind = keyof typeof factSchemas;

/** One typed statement. */
export type Fact = z.infer<(typeof factSchemas)[FactKind]>;

/** The fact of one kind. */
export type FactOf<K extends FactKind> = Extract<Fact, { kind: K }>;

/** A fact of a kind that this version does not know: legal, kept, without meaning. */
export interface OpaqueFact {
  readonly kind: string;
  readonly [member: string]: unknown;
}

/** True for a kind of the closed set. */
export function isKnownKind(kind: string): kind is FactKind {
  return Object.hasOwn(factSchemas, kind);
}

/**
 * Why `value` is no legal fact, or undefined where it is one. Members that a schema does not name are allowed and kept;
 * an unknown kind is legal.
 */
export function faultOfFact(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "a fact is an object";
  const { kind } = value as { kind?: unknown };
  if (firstNameOf(value) !== "kind" || typeof kind !== "string") return "a fact's first member is its kind";
  const validator = validators.get(kind) ?? makeValidator(kind);
  if (validator?.(value) !== false || !isKnownKind(kind)) return undefined;
  const result = factSchemas[kind].safeParse(value);
  if (result.success) return undefined;
  const issue = result.error.issues[0];
  return `${kind}: ${issue?.path.join(".") ?? ""} ${issue?.message ?? "does not fit"}`;
}

/** Objects put names that are numbers before all others, wherever they stood in the text. */
function firstNameOf(value: object): string | undefined {
  for (const name in value) if (!/^\d+$/.test(name)) return name;
  return undefined;
}

/** Made at the first use: no command meets every kind. */
const validators = new Map<string, Validator>();

function makeValidator(kind: string): Validator | undefined {
  if (!isKnownKind(kind)) return undefined;
  const validator = validatorOf(factSchemas[kind]);
  validators.set(kind, validator);
  return validator;
}
