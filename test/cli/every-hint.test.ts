import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { removePlaces } from "./hint-scene.ts";
import { scenesOfDefinitions } from "./hint-scenes-of-definitions.ts";
import { scenesOfRefusals } from "./hint-scenes-of-refusals.ts";
import { scenesOfWork } from "./hint-scenes-of-work.ts";
import { commandsIn, runHint } from "./hints.ts";

/**
 * Every command that a message of ours offers, found in the sources, each brought about with the program as it is
 * published, and run as it stands.
 */

afterAll(removePlaces);

const scenes = { ...scenesOfWork, ...scenesOfRefusals, ...scenesOfDefinitions };

/** Where a command stands in the sources: the file and the words behind the program's name. And who bring it about. */
const proven: Readonly<Record<string, readonly string[]>> = {
  "cli/command-line.ts: …": ["a task without its flag"],
  "cli/command-line.ts: … --help": ["an unknown flag"],
  "cli/commands/run-resolve.ts: resume …": ["what comes after a person's answer"],
  "cli/commands/run-show.ts: run show … …": ["an operation that is not there"],
  "cli/commands/session-list.ts: run --help": ["a list of nothing"],
  "cli/commands/session-list.ts: session list… --cursor …": ["a page of a list"],
  "cli/commands/session-record.ts: run --workspace COPY --model cassette:… --task TASK": [
    "a cassette that was recorded",
  ],
  "cli/commands/session-record.ts: run list …": ["what a recorded cassette of two tasks is to be told"],
  "cli/commands/session-record.ts: run show …": ["what a recorded cassette is to be told"],
  "cli/commands/session-show.ts: resume …": ["a session without a run"],
  "cli/commands/session-show.ts: run show …": ["a page of a session whose process waits for a person"],
  "cli/declare-runs.ts: resume --help": ["nothing that could be accepted yet"],
  "cli/declare-runs.ts: session list --resumable": ["a resume of nothing"],
  "cli/demo/run-demo.ts: session show …": ["the end of the demo"],
  "cli/progress/summary.ts: resume …": ["what comes after a person's answer"],
  'cli/progress/text.ts: resume … --task "…': ["work that is idle"],
  "cli/text/resolve-commands.ts: run … …": [
    "an operation that waits to be allowed",
    "an operation that waits to be denied",
    'a person\'s answer: --output "what it did"',
    'a person\'s answer: --output "how it failed" --is-error',
    "a person's answer: --not-executed",
  ],
  "cli/text/way-on.ts: resume ……": ["a run that is over", "a run that is over, and a message that waits"],
  "cli/text/way-on.ts: resume …": ["a page of a suspended run"],
  "cli/text/way-on.ts: run show …": ["a page of an unknown outcome"],
  "cli/watch.ts: resume …": ["a process that was told to leave", "a run that is suspended"],
  "cli/work.ts: run show …": ["an outcome that is unknown"],
  "engine/admit.ts: queue list … --all": ["a key that another message has"],
  "engine/deliver.ts: resume … --accept-rollback": [
    "a log that was put back, and of whose end only the queue knows",
  ],
  "engine/explain-resume.ts: resume ………": ["an explanation of an open run"],
  "engine/explain-resume.ts: run show … …": ["an explanation of an unknown outcome"],
  'engine/explain-resume.ts: send … "…': ["an explanation of a session that is held"],
  "engine/read-session.ts: run list …": ["a run that is not there"],
  "engine/record-resolution.ts: run list …": ["a resolution in a run that is not there"],
  "engine/record-resolution.ts: run show … …": ["a resolution of an operation that is not there"],
  "engine/record-session.ts: … --force": ["a cassette that is there already"],
  "engine/resume-verdict.ts: session show …": ["an archived session"],
  "engine/drift.ts: resume …": ["another definition", "another policy"],
  "engine/resume.ts: resume …": ["another task while a run is open"],
  "engine/resume.ts: run show …": ["another task while a person must speak"],
  "engine/send.ts: queue list …": ["a message that is blocked"],
  "engine/stop-run.ts: queue list …": ["a cancel where there is no run"],
  "engine/stop-run.ts: run abandon … …": ["the other way out of that"],
  "engine/stop-run.ts: run show … …": ["a cancel of a run of which something is unknown"],
  "engine/workspace.ts: resume …": ["a workspace that is gone", "a branch that is another one"],
  "model/queue-hold.ts: queue list …": ["a document of a queue that is all blocked"],
  "model/queue-hold.ts: resume …": [
    "a list of what waits for nobody",
    "a message behind a run that failed",
    "a message that waits for nobody",
  ],
  "model/queue-hold.ts: resume … --explain": ["a message in a session that cannot go on"],
  "model/queue-hold.ts: run show … …": ["a message behind an unknown outcome"],
  "store/damage-errors.ts: session show …": ["a damaged log", "a damaged queue"],
  "store/head-keeper.ts: session repair …": ["a write of which nobody knows what is on disk"],
  "store/judge-end.ts: resume … --accept-rollback": ["a log that was put back"],
  "store/judge-end.ts: session show …": ["a log that is as long as it was, and does not verify"],
  "store/state-directory.ts: store adopt": ["a copied state directory"],
  "store/store.ts: session list": ["a session that is not there"],
  "store/write-errors.ts: session show …": ["a session that was taken over"],
};

/** What no call of the program brings about, and why; each is a command that another place offers as well. */
const unseen: Readonly<Record<string, string>> = {
  "cli/declare.ts: …": "the examples of help, which a test of their own reads",
  "cli/demo/report.ts: …, process …": "no command: what the demo says that it started",
  "engine/send.ts: resume … --explain": "the session was lost between two looks at it",
  "engine/worker.ts: resume …":
    "whoever interrupts the program tells it himself; this is for users of the library",
  "store/find-message.ts: session show …": "no command gives a message an id",
  "store/lease.ts: session list": "the session was lost between two looks at it",
  "store/write-errors.ts: session repair …": "takes a disk that fails twice",
};

/** Every command that a text of ours offers. */
function commandsInSources(): string[] {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const offers =
    /(?:holdfast|\$\{(?:[\w.]+\.)?program\}) ((?:agent|run|resume|send|queue|session|store|demo|\$\{)[^`\n]*)/g;
  return files.toSorted().flatMap((name) => {
    const text = readFileSync(join("src", name), "utf8");
    const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
    return [...code.matchAll(offers)].map(([, words = ""]) => {
      const plain = words
        .replaceAll(/\$\{[^}]*\}/g, "…")
        .replace(/ — .*/, "")
        .replace(/["\\,\s]+$/, "");
      return `${name}: ${plain}`;
    });
  });
}

describe("every command that a message offers", () => {
  test("is one of those that are proven here, or cannot be brought about with the program", () => {
    const known = [...Object.keys(proven), ...Object.keys(unseen)];
    expect([...new Set(commandsInSources())].toSorted()).toEqual(known.toSorted());
    expect(new Set(Object.values(proven).flat())).toEqual(new Set(Object.keys(scenes)));
  });

  test.concurrent.each(Object.keys(scenes))("works as it stands: %s", async (name) => {
    const told = await scenes[name]?.();
    if (told === undefined) throw new Error("there is no such scene");
    const { place, text, offers, promise } = told;
    const offered = commandsIn(text).find((command) => wordsOf(command).startsWith(offers));
    expect(offered, `${offers} in ${JSON.stringify(text)}`).toBeDefined();
    const ended = await runHint(place, offered ?? "");
    expect([0, 1, 3, 5, 6, 7, 8, 9, 10, 11], ended.stderr).toContain(ended.code);
    await promise(ended);
  });
});

/** What a command says behind the program's name and its global flags. */
function wordsOf(command: string): string {
  return command.replace(/^holdfast (?:--state-dir \S+ )?/, "");
}
