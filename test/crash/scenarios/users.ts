import type { EngineMachine } from "../campaign/engine-machine.ts";
import type { EngineScenario } from "../campaign/engine-scenario.ts";
import { promised } from "../campaign/finding.ts";
import { UserHand } from "../campaign/user-hand.ts";
import type { WholeSession } from "../campaign/whole-session.ts";
import { asks, done, edit, remove, write } from "./calls.ts";

/** What a user does to the files between a death and the resume, and while the work goes on. */

const letter = "/project/letter.txt";
const before = "n\n";
const own = "n\nmy own line\n";

/** Calls of which each that is called done by the model must have been seen done at some time. */
const base = {
  files: { "letter.txt": before, "waste.txt": "waste\n" },
  touched: true,
} as const;

/** Somebody's text is still somewhere: in the file, or what replaced it was asked for after it stood there. */
function isKept(machine: EngineMachine): void {
  const texts = machine.disk.files().map((path) => machine.text(path) ?? "");
  const isWritten = machine.told.some((one) => one.is === "saved");
  const isThere = texts.some((text) => text.includes("my own line"));
  promised(!isWritten || isThere, "lost", () => "what the user wrote is gone");
}

/** No more than one `+` came of one edit. */
function isEditedOnce(machine: EngineMachine): void {
  const times = (machine.text(letter)?.split("+").length ?? 1) - 1;
  promised(times <= 1, "repeated", () => `edited ${times} times`);
}

/** Nothing of ours lies about among the user's files. */
function isTidy(machine: EngineMachine): void {
  const left = machine.disk.files().filter((path) => path.includes("/.holdfast-"));
  promised(left.length === 0, "foreign write", () => `left behind: ${left.join(", ")}`);
}

/** Does it once in all lives, and remembers. */
async function userOnce(
  machine: EngineMachine,
  path: string,
  act: (hand: UserHand) => Promise<void>,
): Promise<void> {
  if (machine.told.some((one) => one.is === "saved" && one.path === path)) return;
  await act(new UserHand(machine.disk));
  machine.told.push({ is: "saved", path });
}

/** Only where something had begun: then the user comes. */
const isBegun = ({ state }: WholeSession): boolean =>
  [...state.operations.values()].some(({ at }) => at !== "asked");

const deeds: readonly (readonly [string, (hand: UserHand) => Promise<void>])[] = [
  ["adds a line by an editor", (hand) => hand.save(letter, own)],
  ["adds a line in place", (hand) => hand.writeInto(letter, own)],
  ["reverts the file", (hand) => hand.save(letter, before)],
  ["makes the same edit", (hand) => hand.save(letter, "n+\n")],
];

const edits: readonly EngineScenario[] = deeds.map(([name, deed]) => ({
  ...base,
  name: `a user ${name} between death and resume of an edit`,
  turns: [asks(edit("letter.txt")), done],
  attend: async (machine, whole) => {
    if (isBegun(whole)) await userOnce(machine, letter, deed);
  },
  judge: (machine) => {
    if (name.startsWith("adds")) isKept(machine);
    // Whoever adds to what he saw takes away again what was edited before.
    isEditedOnce(machine);
    isTidy(machine);
  },
}));

const others: readonly EngineScenario[] = [
  {
    ...base,
    name: "a user cleans the workspace between death and resume of writes",
    turns: [
      asks(write("letter.txt"), write("new/file.txt")),
      asks(edit("letter.txt"), remove("waste.txt")),
      done,
    ],
    attend: async (machine, whole) => {
      if (isBegun(whole)) await userOnce(machine, "/project", (hand) => hand.clean([letter]));
    },
    judge: isTidy,
  },
  {
    ...base,
    name: "a user makes the very file that was about to be made",
    turns: [asks(write("mine.txt")), done],
    attend: async (machine, whole) => {
      if (isBegun(whole))
        await userOnce(machine, "/project/mine.txt", (hand) => hand.save("/project/mine.txt", own));
    },
    judge: (machine) => {
      isKept(machine);
      isTidy(machine);
    },
  },
  {
    ...base,
    name: "a user writes anew what was about to be removed",
    turns: [asks(remove("letter.txt")), done],
    attend: async (machine, whole) => {
      if (isBegun(whole)) await userOnce(machine, letter, (hand) => hand.save(letter, own));
    },
    judge: (machine) => {
      isKept(machine);
      isTidy(machine);
    },
  },
  ...[0, 3, 6, 9, 12].map((steps): EngineScenario => ({
    ...base,
    name: `a user saves a file ${steps} steps after an edit of it was begun`,
    turns: [asks(edit("letter.txt")), done],
    meanwhile: ({ machine, what }) =>
      what === "op.started"
        ? machine.after(steps, () => userOnce(machine, letter, (hand) => hand.save(letter, own)))
        : undefined,
    judge: (machine) => {
      isEditedOnce(machine);
      isTidy(machine);
    },
  })),
];

export const userScenarios: readonly EngineScenario[] = [...edits, ...others];
