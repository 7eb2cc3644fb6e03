import { HoldfastError } from "../model/errors.ts";
import type { SessionState } from "../model/fold.ts";
import type { RunView } from "../model/views.ts";
import { viewRun } from "../model/views.ts";
import { inlineBytesMax } from "../store/index.ts";
import { askHolder } from "./ask-holder.ts";
import type { EngineContext } from "./context.ts";
import { fitsInline, PayloadWriter } from "./payloads.ts";
import { recordableName } from "./person.ts";
import { readSession } from "./read-session.ts";
import type { OperationResolution } from "./record-resolution.ts";
import { findOperation, isResolved, recordResolution } from "./record-resolution.ts";

/** A person's word about one operation of a session. */
export interface Resolution extends Omit<OperationResolution, "by"> {
  readonly session: string;
  /** The user of the operating system where absent. */
  readonly by?: string | undefined;
}

/**
 * Records what a person says happened; executes nothing. Resolving again with the same words changes nothing. Where a
 * process holds the session it is asked to. Rejects `not_found`, `already_resolved`, `busy`, or `usage` where the
 * operation's outcome is not unknown, or the words are longer than a line takes.
 */
export async function resolveOperation(context: EngineContext, given: Resolution): Promise<RunView> {
  const resolution = await recordable(context, given);
  const session = await context.store.find(resolution.session);
  const blobs = context.store.blobs(session);
  const { state: known, active, damage } = await readSession(context, session);
  const mayTell = !active && damage === undefined;
  if (mayTell && (await isResolved(blobs, known, resolution))) return viewResolved(known, resolution, false);
  await askHolder(context, session, {
    by: resolution.by,
    request: async () => {
      const { run, operation } = findOperation(known, resolution);
      const { outcome, output = "", evidence } = resolution;
      const { text, blob } = await new PayloadWriter({ blobs, redact: (words) => words }).text(output);
      const said = blob === undefined ? { output: text } : { outputBlob: blob };
      return {
        verb: "resolve",
        run,
        operation,
        outcome,
        ...said,
        ...(evidence !== undefined && { evidence }),
      };
    },
    accept: async (state) => void (await isResolved(blobs, state, resolution)),
    alone: (worker) => recordResolution(worker, resolution),
  });
  const after = await readSession(context, session);
  return viewResolved(after.state, resolution, after.active);
}

/** What can be recorded of it: its secrets masked, and well-formed where it stands in the line as it is. */
async function recordable(
  context: EngineContext,
  given: Resolution,
): Promise<OperationResolution & { readonly session: string }> {
  const redactor = await context.openRedactor();
  const { output, evidence, by } = given;
  const words = (text: string) => redactor.text(text).toWellFormed();
  const name = await recordableName(context, by);
  if (evidence !== undefined && !fitsInline(words(evidence))) {
    throw new HoldfastError("usage", `the evidence is longer than ${inlineBytesMax} bytes`, {
      hint: "Say where it is kept, or give it as the output, which may be of any length.",
    });
  }
  return {
    ...given,
    ...(output !== undefined && { output: redactor.text(output) }),
    ...(evidence !== undefined && { evidence: words(evidence) }),
    by: name,
  };
}

function viewResolved(state: SessionState, resolution: OperationResolution, active: boolean): RunView {
  const { run: id } = findOperation(state, resolution);
  const run = state.runs.get(id);
  if (run === undefined) throw new HoldfastError("not_found", `session ${state.id} has no run ${id}`);
  return viewRun(state, run, active);
}
