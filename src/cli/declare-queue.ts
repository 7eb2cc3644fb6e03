import type { Command } from "commander";
import type { SendFlags } from "./commands/send.ts";
import type { Reading } from "./declare.ts";
import { addGlobalFlags, declareCommand, once, perform } from "./declare.ts";

/** The command `send`, and the group `queue`: messages that wait for a session. */

const ses = "ses_01m8przqmpfx81qrqzwwv0wwr3";

/** `send`. */
export function declareSend(reading: Reading): Command {
  const command = declareCommand(reading, "send", {
    description:
      "Leave a message in a session's queue: the next task. It is safe there before\nthe command says so, and starts nothing.",
    summary: "Leave a message in a session's queue: its next task.",
    examples: [
      [`send ${ses} "Then update the docs"`, "also while it runs: taken when that run completes"],
      [`send ${ses.slice(0, 14)} --task-file task.md --key nightly-7`, "sent again, it is still one message"],
    ],
  });
  command.argument("<session>", "its id, or a part that is unambiguous");
  command.argument("[text]", "the message; or one of the first three options");
  command
    .optionsGroup("Options:")
    .option("--task <text>", "the message", once)
    .option("--task-file <file>", "a file that holds the message", once)
    .option("--stdin", "read the message from standard input")
    .option("--key <key>", "same key and message, same delivery, however often it is sent", once);
  addGlobalFlags(command);
  return perform(reading, command, async (call, session = "", text?: string) => {
    const { send } = await import("./commands/send.ts");
    return await send(call, session, {
      ...command.opts<SendFlags>(),
      ...(text !== undefined && { text }),
    });
  });
}

/** `queue` and what stands under it. */
export function declareQueue(reading: Reading): Command {
  const group = declareCommand(reading, "queue", {
    description: "See the messages that wait for a session.",
    examples: [[`queue list ${ses}`, "what waits, and why it is not taken"]],
  });
  addGlobalFlags(group);
  group.commandsGroup("Commands:");
  return group.addCommand(declareList(reading));
}

function declareList(reading: Reading): Command {
  const command = declareCommand(reading, "list", {
    description: "List the messages that wait for a session, next one first. Writes nothing.",
    examples: [
      [`queue list ${ses}`, "those that wait or are blocked"],
      [`queue list ${ses.slice(0, 14)} --all --json`, "all that it ever had, as JSON"],
    ],
  });
  command.argument("<session>", "its id, or a part that is unambiguous");
  command.optionsGroup("Options:").option("--all", "also those that were delivered or removed");
  addGlobalFlags(command);
  return perform(reading, command, async (call, session = "") => {
    const { all = false } = command.opts<{ all?: boolean }>();
    return await (await import("./commands/queue-list.ts")).queueList(call, session, all);
  });
}
