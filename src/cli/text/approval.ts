import type { OperationView, RunView } from "../../model/views.ts";
import { summariseArgs } from "../progress/tool-line.ts";
import type { Span } from "../screen.ts";
import { oneLine } from "./clean.ts";
import type { NamedOperation } from "./resolve-commands.ts";
import { operationCommand } from "./resolve-commands.ts";
import { formatTime } from "./units.ts";
import { fitEnd } from "./width.ts";

/** The lines about operations that wait for a person's word: what they are, since when, and the commands that answer. */

/** An operation that waits. */
export interface WaitingOperation extends NamedOperation {
  readonly tool: string;
  readonly args: OperationView["args"] | undefined;
  /** When it was asked for, where that is a while ago. */
  readonly askedAt?: number;
}

interface Where {
  readonly program: string;
  readonly columns: number;
}

/** True where a person is asked and has not answered. */
export function waitsForApproval({ state, approval }: OperationView): boolean {
  return state === "asked" && approval !== undefined && approval.decision === undefined;
}

/** The lines of a run about all that wait, an empty one before each. */
export function approvalLines({ session, run, operations }: RunView, where: Where): (readonly Span[])[] {
  return operations.filter(waitsForApproval).flatMap(({ id, tool, args, approval }) => {
    const since = approval === undefined ? {} : { askedAt: approval.askedAt };
    return [[], ...waitingLines({ session, run, id, tool, args, ...since }, where)];
  });
}

/** The lines about one. */
export function waitingLines(operation: WaitingOperation, { program, columns }: Where): (readonly Span[])[] {
  const { tool, args, askedAt } = operation;
  const since = askedAt === undefined ? "" : `, since ${formatTime(askedAt)}`;
  const [name, room] = [oneLine(tool), columns - 5];
  const what = fitEnd(`${name} ${summariseArgs(args)}`, room);
  const [first, second] = operationCommand(program, "approve", operation);
  return [
    [["warn", "!"], ` waits for approval${since}:`],
    ["    ", ["bold", what.slice(0, name.length)], what.slice(name.length)],
    ["  To allow it:"],
    [`    ${first}`],
    [`    ${second}`],
    ["  To deny it:"],
    [`    ${first}`],
    [`    ${second} --deny`],
  ];
}
