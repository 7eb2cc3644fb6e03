import * as z from "zod/mini";
import { BlobRef } from "./values.ts";
import type { RequestState } from "./delivery.ts";

/**
 * What may be asked of whoever holds a session: the verbs of `request.made` with their arguments. Who asks stands in the
 * fact itself.
 */

/** An operation of a run, by their whole ids. */
const place = {
  /** Id of the run. */
  run: z.string(),
  /** Id of the operation. */
  operation: z.string(),
};

/** A person says what happened to an operation whose outcome is unknown. */
const Resolve = z.object({
  verb: z.literal("resolve"),
  ...place,
  outcome: z.enum(["ok", "error", "not_executed"]),
  /** What the model reads. */
  output: z.optional(z.string()),
  /** The same, where it is too long for the line. */
  outputBlob: z.optional(BlobRef),
  /** How the person knows. */
  evidence: z.optional(z.string()),
});

/** A person's word about an operation that waits for it. */
const Approve = z.object({
  verb: z.literal("approve"),
  ...place,
  decision: z.enum(["allow", "deny"]),
  /** True where it holds for later operations of that capability, too. */
  remember: z.optional(z.boolean()),
  /** Why, where something was said. */
  reason: z.optional(z.string()),
});

/** The run shall end as canceled. */
const Cancel = z.object({ verb: z.literal("cancel"), run: z.string() });

/** The run shall end as failed, its unknown operations left so. */
const Abandon = z.object({ verb: z.literal("abandon"), run: z.string() });

/** One request, its verb among its arguments. */
export const Request = z.discriminatedUnion("verb", [Resolve, Approve, Cancel, Abandon]);
export type Request = z.infer<typeof Request>;

/** The request of one verb. */
export type RequestOf<V extends Request["verb"]> = Extract<Request, { verb: V }>;

/** Longest piece of a verb that nobody knows which a message repeats. */
const verbLengthMax = 100;

/** Reads a request as it stands in the queue; or says, as words, why it asks for nothing that can be done. */
export function readRequest({ verb, args }: Pick<RequestState, "verb" | "args">): Request | string {
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);
  const parsed = Request.safeParse({ ...(isObject ? args : {}), verb });
  if (parsed.success) return parsed.data;
  const name = JSON.stringify(verb.slice(0, verbLengthMax));
  const [issue] = parsed.error.issues;
  if (issue?.path[0] === "verb" || issue?.code === "invalid_union")
    return `this version does nothing that is called ${name}`;
  return `the request ${name} has no fitting ${issue?.path.join(".") ?? "arguments"}`;
}
