import { HoldfastError } from "../model/errors.ts";
import type { Call } from "./call.ts";
import { parseDuration } from "./text/units.ts";

/** How work that is under way may be spoken to: the flags of `run` and `resume` about stops and approvals. */

/** The flags. */
export interface ControlFlags {
  readonly approvals?: string;
  readonly cancelGrace?: string;
  /** The task comes from standard input, so that nobody can type there. */
  readonly stdin?: boolean;
}

/** Who answers what the policy leaves to a person. */
export type ApprovalChoice =
  | { readonly kind: "prompt" | "deny" }
  | { readonly kind: "wait"; readonly forMs?: number };

/** What the flags mean. */
export interface Control {
  readonly approvals: ApprovalChoice;
  readonly cancelGraceMs?: number;
}

const durationHint = "Write a number and its unit: 500ms, 2s, 1.5m, 1h or 7d; without a unit it is seconds.";

/** What the flags mean. Throws `usage` that names the flag. */
export function controlOf(call: Call, flags: ControlFlags): Control {
  const { cancelGrace } = flags;
  const grace = cancelGrace === undefined ? undefined : durationOf("--cancel-grace", cancelGrace);
  return { approvals: choiceOf(call, flags), ...(grace !== undefined && { cancelGraceMs: grace }) };
}

function choiceOf(call: Call, flags: ControlFlags): ApprovalChoice {
  const { approvals } = flags;
  const missing = missingForPrompt(call, flags);
  if (approvals === undefined) return { kind: missing === undefined ? "prompt" : "deny" };
  if (approvals === "deny") return { kind: "deny" };
  if (approvals === "wait") return { kind: "wait" };
  if (approvals.startsWith("wait:")) {
    return { kind: "wait", forMs: durationOf("--approvals wait", approvals.slice("wait:".length)) };
  }
  if (approvals !== "prompt") {
    throw new HoldfastError(
      "usage",
      `--approvals is prompt, wait or deny, not ${JSON.stringify(approvals)}`,
      {
        hint: "A wait may have an end: wait:10m",
      },
    );
  }
  if (missing === undefined) return { kind: "prompt" };
  throw new HoldfastError("usage", `--approvals prompt asks in a terminal, and ${missing}`, {
    hint: "Let another process answer with --approvals wait, or have it denied with --approvals deny.",
  });
}

/** Why nobody can be asked here; undefined where somebody can. */
function missingForPrompt({ outside, form }: Call, { stdin }: ControlFlags): string | undefined {
  if (stdin === true) return "standard input is the task";
  if (!outside.stdinIsTerminal) return "standard input is none";
  if (!outside.stdout.isTerminal) return "standard output is none";
  return form === "text" ? undefined : "the output is for programs";
}

function durationOf(flag: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new HoldfastError("usage", `${flag} takes a duration, not ${JSON.stringify(text)}`, {
    hint: durationHint,
  });
}
