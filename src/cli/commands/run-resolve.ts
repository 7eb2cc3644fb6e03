import type { Resolution } from "../../engine/index.ts";
import { resolveOperation } from "../../engine/index.ts";
import { HoldfastError } from "../../model/errors.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import { label } from "../text/label.ts";
import { unknownLines } from "../text/unknown.ts";
import { answer } from "./answer.ts";
import { saidBy } from "./said-by.ts";

/** The flags of `run resolve`. */
export interface ResolveFlags {
  readonly output?: string;
  readonly notExecuted?: boolean;
  readonly isError?: boolean;
  readonly evidence?: string;
  readonly by?: string;
}

/** `holdfast run resolve`: a person says what happened to one operation. Executes nothing. */
export async function runResolve(
  call: Call,
  place: { readonly session: string; readonly run: string; readonly operation: string },
  flags: ResolveFlags,
): Promise<number> {
  const resolution: Resolution = { ...place, ...resolutionOf(flags) };
  const view = await resolveOperation(engineOf(call), resolution);
  return await answer(call, view, () => {
    const screen = screenOf(call);
    const { outcome } = resolution;
    const what = outcome === "not_executed" ? "did not happen" : outcome === "error" ? "failed" : "happened";
    screen.line(label("recorded", "good"), `${place.operation} ${what}`);
    const open = unknownLines(view, { program: call.program, columns: screen.columns });
    for (const line of open) screen.line(...line);
    if (open.length === 0) screen.line(label("next"), `${call.program} resume ${view.session}`);
    return screen;
  });
}

function resolutionOf(flags: ResolveFlags): Omit<Resolution, "session" | "run" | "operation"> {
  refuseContradiction(flags);
  const { output, notExecuted = false, isError = false, evidence } = flags;
  return {
    outcome: notExecuted ? "not_executed" : isError ? "error" : "ok",
    ...(output !== undefined && { output }),
    ...(evidence !== undefined && { evidence }),
    ...saidBy(flags),
  };
}

function refuseContradiction({ output, notExecuted, isError }: ResolveFlags): void {
  const refuse = (message: string, hint: string) => new HoldfastError("usage", message, { hint });
  if (notExecuted === true && isError === true) {
    throw refuse("--not-executed and --is-error contradict each other", "What did not happen has no error.");
  }
  if (notExecuted === true && output !== undefined) {
    throw refuse(
      "--not-executed and --output contradict each other",
      "What did not happen has no output; how you know goes into --evidence.",
    );
  }
  if (notExecuted !== true && output === undefined) {
    throw refuse(
      "nothing says what happened",
      "Say it with --output TEXT, or that it did not happen with --not-executed.",
    );
  }
}
