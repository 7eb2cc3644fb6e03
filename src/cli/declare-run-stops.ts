import type { Command } from "commander";
import type { ApproveFlags } from "./commands/run-approve.ts";
import type { StopFlags } from "./commands/run-stop.ts";
import type { Reading } from "./declare.ts";
import { addGlobalFlags, declareCommand, once, perform } from "./declare.ts";

/** The commands by which a person ends a run, or says whether an operation of it may start: `cancel`, `abandon`, `approve`. */

const ses = "ses_01m8przqmpfx81qrqzwwv0wwr3";
const run = "run_01m8przqp1kgz3y78sm52xd798";
const op = "op_01m8przqprv717ctxydtv2hjpv";

const byWords = "who says so (default: the user of the system)";

/** `run cancel`. */
export function declareCancel(reading: Reading): Command {
  const command = declareCommand(reading, "cancel", {
    description:
      "End a run as canceled, in whichever process it is worked on: tools that run are\ntold to stop, and how each really ended is recorded. Waits until that is done.",
    summary: "End a run as canceled, wherever it is worked on.",
    examples: [
      [`run cancel ${ses}`, "the run that is open"],
      [`run cancel ${ses} \\\n    ${run} --by ada`, "a certain one, in somebody's name"],
    ],
  });
  command.argument("<session>", "its id, or a part that is unambiguous");
  command.argument("[run]", "the run (default: the open one, else the newest)");
  command.optionsGroup("Options:").option("--by <name>", byWords, once);
  addGlobalFlags(command);
  return perform(reading, command, async (call, session = "", runId?: string) => {
    const { runCancel } = await import("./commands/run-stop.ts");
    return await runCancel(call, { session, run: runId }, command.opts<StopFlags>());
  });
}

/** `run abandon`. */
export function declareAbandon(reading: Reading): Command {
  const command = declareCommand(reading, "abandon", {
    description:
      "Give a run up: it ends as failed, for good. What is not known of its operations\nstays on record as unknown. The session goes on with its next task.",
    summary: "Give a run up, and leave open what is not known of it.",
    examples: [[`run abandon ${ses} \\\n    ${run}`, "without saying what happened"]],
  });
  command.argument("<session>", "its id, or a part that is unambiguous");
  command.argument("<run>", "the run");
  command.optionsGroup("Options:").option("--by <name>", byWords, once);
  addGlobalFlags(command);
  return perform(reading, command, async (call, session = "", runId = "") => {
    const { runAbandon } = await import("./commands/run-stop.ts");
    return await runAbandon(call, { session, run: runId }, command.opts<StopFlags>());
  });
}

/** `run approve`. */
export function declareApprove(reading: Reading): Command {
  const command = declareCommand(reading, "approve", {
    description:
      "Allow an operation that waits for a person's word, or deny it. A process that\nwaits for it goes on at once; else whoever resumes the run does.",
    summary: "Allow an operation that waits for a person's word, or deny it.",
    examples: [
      [`run approve ${ses} \\\n    ${run} ${op}`, "it may start"],
      [
        `run approve ${ses} \\\n    ${run} ${op} \\\n    --deny --reason "not on a Friday"`,
        "it may not; the model reads why",
      ],
    ],
  });
  command.argument("<session>", "its id, or a part that is unambiguous");
  command.argument("<run>", "the run");
  command.argument("<operation>", "the operation that waits");
  command
    .optionsGroup("Options:")
    .option("--deny", "it may not start")
    .option("--remember", "the same for later ones of its kind in this session")
    .option("--reason <text>", "why", once)
    .option("--by <name>", byWords, once);
  addGlobalFlags(command);
  return perform(reading, command, async (call, session = "", runId = "", operation = "") => {
    const { runApprove } = await import("./commands/run-approve.ts");
    return await runApprove(call, { session, run: runId, operation }, command.opts<ApproveFlags>());
  });
}
