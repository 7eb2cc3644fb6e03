import type { ApproveRequest } from "../../engine/index.ts";
import { approveOperation, matches } from "../../engine/index.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import { summariseArgs } from "../progress/tool-line.ts";
import { approvalLines } from "../text/approval.ts";
import { oneLine } from "../text/clean.ts";
import { label, labelColumns } from "../text/label.ts";
import { wayOnOf } from "../text/way-on.ts";
import { fitEnd } from "../text/width.ts";
import { answer } from "./answer.ts";
import { saidBy } from "./said-by.ts";

/** The flags of `run approve`. */
export interface ApproveFlags {
  readonly deny?: boolean;
  readonly remember?: boolean;
  readonly by?: string;
  readonly reason?: string;
}

/** `holdfast run approve`: a person allows an operation that waits for it, or denies it. */
export async function runApprove(
  call: Call,
  place: { readonly session: string; readonly run: string; readonly operation: string },
  flags: ApproveFlags,
): Promise<number> {
  const { deny = false, remember = false, reason } = flags;
  const request: ApproveRequest = {
    ...place,
    decision: deny ? "deny" : "allow",
    remember,
    ...(reason !== undefined && { reason }),
    ...saidBy(flags),
  };
  const view = await approveOperation(engineOf(call), request);
  return await answer(call, view, () => {
    const screen = screenOf(call);
    const { columns } = screen;
    const named = view.operations.find((one) => matches(one.id, place.operation));
    const { tool = "", args, id = place.operation } = named ?? {};
    screen.line(label(deny ? "denied" : "allowed", "good"), id);
    screen.line(label(""), fitEnd(`${oneLine(tool)} ${summariseArgs(args)}`, columns - labelColumns - 1));
    if (view.status === "running") screen.line(label("next"), "the process that runs it goes on");
    else {
      for (const line of approvalLines(view, { program: call.program, columns })) screen.line(...line);
      const way = wayOnOf(view, { program: call.program });
      if (way?.command !== undefined) screen.line(label("next"), way.command);
    }
    return screen;
  });
}
