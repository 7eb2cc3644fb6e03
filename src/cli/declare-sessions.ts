import type { Command } from "commander";
import type { ListFlags } from "./commands/session-list.ts";
import type { RecordFlags } from "./commands/session-record.ts";
import type { SessionShowFlags } from "./commands/session-show.ts";
import type { Reading } from "./declare.ts";
import { listFlagRows } from "./list-words.ts";
import { addFlags, addGlobalFlags, declareCommand, once, perform } from "./declare.ts";

/** The groups `session` and `store`. */

const ses = "ses_01m8przqmpfx81qrqzwwv0wwr3";

/** `session` and what stands under it. */
export function declareSession(reading: Reading): Command {
  const group = declareCommand(reading, "session", {
    description: "List, show, record and repair sessions.",
    examples: [
      ["session list", "all sessions, newest first"],
      [`session show ${ses}`, "one of them"],
    ],
  });
  addGlobalFlags(group);
  group.commandsGroup("Commands:");
  return group
    .addCommand(declareList(reading))
    .addCommand(declareShow(reading))
    .addCommand(declareRecord(reading))
    .addCommand(declareRepair(reading));
}

/** `store` and what stands under it. */
export function declareStore(reading: Reading): Command {
  const group = declareCommand(reading, "store", {
    description: "Look after the state directory as a whole.",
    examples: [
      ["--state-dir /copy/of/state store adopt", "make a copied state directory a store of its own"],
    ],
  });
  addGlobalFlags(group);
  group.commandsGroup("Commands:");
  return group.addCommand(declareAdopt(reading));
}

function declareList(reading: Reading): Command {
  const command = declareCommand(reading, "list", {
    description: "List sessions, newest first. Writes nothing.",
    examples: [
      ["session list", "those that are not archived"],
      ["session list --active --json", "those that run now, as JSON"],
      ["session list --workspace . --plain", "those of this directory, one line each"],
    ],
  });
  command.optionsGroup("Options:");
  addFlags(command, listFlagRows);
  addGlobalFlags(command);
  return perform(reading, command, async (call) =>
    (await import("./commands/session-list.ts")).sessionList(call, command.opts<ListFlags>()),
  );
}

function declareShow(reading: Reading): Command {
  const command = declareCommand(reading, "show", {
    description: "Show a session: what it is, its runs, its last messages.",
    examples: [
      [`session show ${ses}`, "for people"],
      [`session show ${ses.slice(0, 14)} --json`, "everything, as JSON; part of an id is enough"],
    ],
  });
  command.argument("<session>", "its id, or a part that is unambiguous");
  command
    .optionsGroup("Options:")
    .option("--messages <count>", "show so many of the last messages (default: 8)", once);
  addGlobalFlags(command);
  return perform(reading, command, async (call, session = "") =>
    (await import("./commands/session-show.ts")).sessionShow(call, session, command.opts<SessionShowFlags>()),
  );
}

function declareRecord(reading: Reading): Command {
  const command = declareCommand(reading, "record", {
    description:
      "Make a cassette of a session: its model's answers and errors, to be played again\nwithout a model or a key. The session stays as it is.",
    summary: "Make a cassette of a session, to be played again without a model.",
    examples: [
      [`session record ${ses} --output fix.yaml`, "record it"],
      [
        `run --workspace copy --model cassette:fix.yaml --task "Fix it"`,
        "play it, in a copy of the workspace as it was",
      ],
      [`session record ${ses} --output - | less`, "look at it first"],
    ],
  });
  command.argument("<session>", "its id, or a part that is unambiguous");
  command
    .optionsGroup("Options:")
    .option("--output <file>", "where to: JSON if it ends in .json, else YAML; - is standard output", once)
    .option("--force", "replace the file where there is one")
    .option("--timings", "keep how long the model took, so that a replay takes as long");
  addGlobalFlags(command);
  return perform(reading, command, async (call, session = "") =>
    (await import("./commands/session-record.ts")).sessionRecord(call, session, command.opts<RecordFlags>()),
  );
}

function declareRepair(reading: Reading): Command {
  const command = declareCommand(reading, "repair", {
    description:
      "Mend the end of a session's files where it can be proven what belongs there.\nThe original bytes are kept.",
    examples: [[`session repair ${ses}`, "the log and the queue of one session"]],
  });
  command.argument("<session>", "its id, or a part that is unambiguous");
  addGlobalFlags(command);
  return perform(reading, command, async (call, session = "") =>
    (await import("./commands/session-repair.ts")).sessionRepair(call, session),
  );
}

function declareAdopt(reading: Reading): Command {
  const command = declareCommand(reading, "adopt", {
    description: "Give a copied state directory an identity of its own, so that it may run its sessions.",
    examples: [["--state-dir /copy/of/state store adopt", "the copy; the original stays as it is"]],
  });
  addGlobalFlags(command);
  return perform(reading, command, async (call) =>
    (await import("./commands/store-adopt.ts")).storeAdopt(call),
  );
}
