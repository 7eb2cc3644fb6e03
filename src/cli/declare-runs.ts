import type { Command } from "commander";
import { Option } from "commander";
import { HoldfastError } from "../model/errors.ts";
import type { Call } from "./call.ts";
import type { ResolveFlags } from "./commands/run-resolve.ts";
import type { ResumeFlags } from "./commands/resume.ts";
import type { RunFlags } from "./commands/run.ts";
import type { Reading } from "./declare.ts";
import { addGlobalFlags, collect, declareCommand, once, perform } from "./declare.ts";
import { declareAbandon, declareApprove, declareCancel } from "./declare-run-stops.ts";

/** The commands `run` (which starts a task, and is the group of the commands about runs) and `resume`. */

const ses = "ses_01m8przqmpfx81qrqzwwv0wwr3";
const run = "run_01m8przqp1kgz3y78sm52xd798";
const op = "op_01m8przqprv717ctxydtv2hjpv";

/** `run` and what stands under it. */
export function declareRun(reading: Reading): Command {
  const command = declareCommand(reading, "run", {
    description: "Run an agent on a task in a new session.",
    examples: [
      [`run --task "Fix the failing test" --model anthropic/claude-sonnet-4-5`, "start in this directory"],
      [
        "run --workspace ~/app --task-file task.md --allow-shell \\\n    --model openai/gpt-5.1-codex",
        "a longer task, with a shell",
      ],
      [`run --task "Try it" --model cassette:answers.yaml`, "without a model, from a recording"],
    ],
  });
  addTaskFlags(command)
    .option("--workspace <dir>", "the directory to work in (default: this one)", once)
    .option("--agent <name>", "who answers (default: builtin)", once)
    .option("--model <provider/model>", "which model answers, or cassette:FILE", once)
    .option("--title <text>", "the session's title (default: from the task)", once);
  addControlFlags(addPolicyFlags(command));
  command.option("--resume <session>", "go on with a session instead, as resume does", once);
  addAcceptFlags(command, { hidden: true });
  addGlobalFlags(command);
  perform(reading, command, async (call) => {
    const { resume, ...flags } = command.opts<RunFlags & ResumeFlags & { resume?: string }>();
    if (resume !== undefined) return await resumeInstead(call, resume, flags);
    refuseAccepting(flags);
    return await (await import("./commands/run.ts")).run(call, flags);
  });
  command.commandsGroup("Commands:");
  command.addCommand(declareList(reading));
  command.addCommand(declareShow(reading));
  command.addCommand(declareResolve(reading));
  command.addCommand(declareApprove(reading));
  command.addCommand(declareCancel(reading));
  command.addCommand(declareAbandon(reading));
  return command;
}

/** `resume`. */
export function declareResume(reading: Reading): Command {
  const command = declareCommand(reading, "resume", {
    description:
      "Go on with a session: finish what was begun, then take the next task.\nWhat is known to have happened is not done again.",
    examples: [
      [`resume ${ses}`, "go on where it stopped"],
      [`resume ${ses.slice(0, 14)} --task "Now update the docs"`, "a next task; part of an id is enough"],
      [`resume ${ses} --explain`, "only say whether it would go on, and how"],
    ],
  });
  command.argument("[session]", "its id, or a part that is unambiguous");
  addTaskFlags(command);
  addControlFlags(addPolicyFlags(command));
  addAcceptFlags(command);
  command.option("--explain", "say what a resume would find and do first; start nothing");
  addGlobalFlags(command);
  return perform(reading, command, async (call, session?: string) => {
    if (session === undefined) {
      throw new HoldfastError("usage", "nothing says which session is to go on", {
        hint: `See which can with: ${call.program} session list --resumable`,
      });
    }
    const { explain, ...flags } = command.opts<ResumeFlags & { explain?: boolean }>();
    if (explain === true) {
      return await (await import("./commands/resume-explain.ts")).resumeExplain(call, session, flags);
    }
    return await (await import("./commands/resume.ts")).resume(call, session, flags);
  });
}

/** There is nothing yet that could be accepted. */
function refuseAccepting(flags: ResumeFlags): void {
  const flag = flags.acceptPolicy === true ? "--accept-policy" : "--accept-rollback";
  if (flags.acceptPolicy !== true && flags.acceptRollback !== true) return;
  throw new HoldfastError("usage", `${flag} is for a session that goes on`, {
    hint: "See: holdfast resume --help",
  });
}

/** A resumed session keeps what it was made with; a flag that says otherwise contradicts it. */
async function resumeInstead(call: Call, session: string, flags: RunFlags & ResumeFlags): Promise<number> {
  for (const name of ["workspace", "agent", "model", "title"] as const) {
    if (flags[name] === undefined) continue;
    throw new HoldfastError("usage", `--resume and --${name} contradict each other`, {
      hint: `A session keeps the ${name} that it was made with. Leave --${name} out.`,
    });
  }
  const { resume } = await import("./commands/resume.ts");
  return await resume({ ...call, kind: "resume" }, session, flags);
}

function addTaskFlags(command: Command): Command {
  return command
    .optionsGroup("Options:")
    .option("--task <text>", "the task", once)
    .option("--task-file <file>", "a file that holds the task", once)
    .option("--stdin", "read the task from standard input");
}

function addPolicyFlags(command: Command): Command {
  return command
    .option("--spec <file>", "what the agent is: a definition, YAML or JSON", once)
    .option("--policy <file>", "what the agent may do, as JSON", once)
    .option("--allow-shell", "let the agent run commands")
    .option("--allow-mcp", "let the agent use tools of MCP servers")
    .option("--pass-env <name>", "let commands see this variable, though it looks secret", collect);
}

function addAcceptFlags(command: Command, { hidden = false } = {}): void {
  for (const [flag, about] of [
    ["--accept-policy", "let the policy that is given here hold from now on"],
    ["--accept-rollback", "go on although the log is older than was known"],
  ] as const) {
    command.addOption(new Option(flag, about).hideHelp(hidden));
  }
}

function addControlFlags(command: Command): Command {
  return command
    .option(
      "--approvals <how>",
      "who answers what the policy leaves to a person: prompt, wait[:DURATION] for another process, or deny (default: prompt in a terminal, deny elsewhere)",
      once,
    )
    .option(
      "--cancel-grace <duration>",
      "how long running tools may take to end once they are told to (default: 2s)",
      once,
    );
}

function declareList(reading: Reading): Command {
  const command = declareCommand(reading, "list", {
    description: "List the runs of a session, newest first.",
    examples: [[`run list ${ses}`, "all runs with their status"]],
  });
  command.argument("<session>", "its id, or a part that is unambiguous");
  addGlobalFlags(command);
  return perform(reading, command, async (call, session = "") =>
    (await import("./commands/run-list.ts")).runList(call, session),
  );
}

function declareShow(reading: Reading): Command {
  const command = declareCommand(reading, "show", {
    description: "Show one run: its operations, and what is known of those that are unknown.",
    examples: [
      [`run show ${ses}`, "the newest run"],
      [`run show ${ses} \\\n    ${run} --json`, "a certain one, as JSON"],
      [`run show ${ses} \\\n    ${run} ${op}`, "one operation of it, with all its output"],
    ],
  });
  command.argument("<session>", "its id, or a part that is unambiguous");
  command.argument("[run]", "the run (default: the newest)");
  command.argument("[operation]", "one operation of it, whole (default: all, long texts cut)");
  command.optionsGroup("Options:").option("--full", "cut nothing");
  addGlobalFlags(command);
  return perform(reading, command, async (call, session = "", runId?: string, operation?: string) => {
    const { full = false } = command.opts<{ full?: boolean }>();
    const { runShow } = await import("./commands/run-show.ts");
    return await runShow(call, { session, run: runId, operation, full });
  });
}

function declareResolve(reading: Reading): Command {
  const command = declareCommand(reading, "resolve", {
    description: "Say what happened to an operation whose outcome is unknown. Executes nothing.",
    examples: [
      [`run resolve ${ses} \\\n    ${run} ${op} \\\n    --output "pushed"`, "it happened"],
      [`run resolve ${ses} \\\n    ${run} ${op} \\\n    --not-executed`, "it did not"],
    ],
  });
  command.argument("<session>", "its id, or a part that is unambiguous");
  command.argument("<run>", "the run");
  command.argument("<operation>", "the operation whose outcome is unknown");
  command
    .optionsGroup("Options:")
    .option("--output <text>", "it happened; what the model reads as its result", once)
    .option("--not-executed", "it did not happen")
    .option("--is-error", "it happened and failed")
    .option("--evidence <text>", "how you know", once)
    .option("--by <name>", "who says so (default: the user of the system)", once);
  addGlobalFlags(command);
  return perform(reading, command, async (call, session = "", runId = "", operation = "") => {
    const { runResolve } = await import("./commands/run-resolve.ts");
    return await runResolve(call, { session, run: runId, operation }, command.opts<ResolveFlags>());
  });
}
