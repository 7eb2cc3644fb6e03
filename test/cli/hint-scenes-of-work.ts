import { expect } from "vitest";
import { askFor } from "./asking.ts";
import type { Scenes } from "./hint-scene.ts";
import { code, completed, hintOf, newPlace, shows, suspended, unknown, withoutRun } from "./hint-scene.ts";
import { commandsIn, runHint } from "./hints.ts";
import type { Ended, Place } from "./program.ts";
import { documentIn, sessionIn } from "./program.ts";

/** Messages about what was asked, and about runs and how they ended. */

/** The flags of a run that waits until another process says whether it may read. */
const waiting = (place: Place): string[] => {
  const model = place.cassette({ calls: [{ tool: "read", args: { path: "none" } }] }, { text: "Done." });
  return ["--model", model, ...askFor(place, "read"), "--approvals", "wait"];
};

/** By name: how a message comes about. */
export const scenesOfWork: Scenes = {
  "a task without its flag": async () => {
    const place = newPlace();
    const model = place.cassette({ text: "Done." });
    const ended = await place.call(["run", "Fix it, now", "--model", model]);
    return {
      place,
      text: ended.stderr,
      offers: `run --task 'Fix it, now' --model ${model}`,
      promise: code(0),
    };
  },
  "an unknown flag": async () => {
    const place = newPlace();
    const ended = await place.call(["queue", "list", "--bogus"]);
    return {
      place,
      text: ended.stderr,
      offers: "queue list --help",
      promise: shows(/^Usage: holdfast queue list/),
    };
  },
  "a list of nothing": async () => {
    const place = newPlace();
    const { stdout } = await place.call(["session", "list"]);
    return { place, text: stdout, offers: "run --help", promise: shows(/^Usage: holdfast run/) };
  },
  "a page of a list": async () => {
    const { place } = await completed();
    await place.completed();
    const { stdout } = await place.call(["session", "list", "--limit", "1"]);
    const offers = "session list --limit 1 --cursor";
    return { place, text: stdout, offers, promise: shows(/ses_/) };
  },
  "a resume of nothing": async () => {
    const { place } = await completed();
    const ended = await place.call(["resume", "--json"]);
    return { place, text: hintOf(ended), offers: "session list --resumable", promise: shows(/ses_/) };
  },
  "a session that is not there": async () => {
    const { place } = await completed();
    const ended = await place.call(["send", "ses_x", "a", "--json"]);
    return { place, text: hintOf(ended), offers: "session list", promise: shows(/ses_/) };
  },
  "a session without a run": async () => {
    const { place, session } = await withoutRun();
    const { stdout } = await place.call(["session", "show", session]);
    return { place, text: stdout, offers: `resume ${session}`, promise: code(0) };
  },
  "a cancel where there is no run": async () => {
    const { place, session } = await withoutRun();
    const ended = await place.call(["run", "cancel", session, "--json"]);
    return { place, text: hintOf(ended), offers: `queue list ${session}`, promise: shows(/admitted/) };
  },
  "a cancel of a run of which something is unknown": async () => {
    const { place, session, operation } = await unknown("jsonl");
    const ended = await place.call(["run", "cancel", session, "--json"]);
    const promise = shows(new RegExp(operation));
    return { place, text: hintOf(ended), offers: `run show ${session} run_`, promise };
  },
  "the other way out of that": async () => {
    const { place, session } = await unknown("jsonl");
    const ended = await place.call(["run", "cancel", session, "--json"]);
    const promise = shows(/^abandoned/);
    return { place, text: hintOf(ended), offers: `run abandon ${session} run_`, promise };
  },
  ...Object.fromEntries(
    ["allowed", "denied"].map((word, index) => [
      `an operation that waits to be ${word}`,
      async () => {
        const place = newPlace();
        const running = place.start(["run", "--task", "Go", ...waiting(place)]);
        await running.seen(/"type":"approval\.asked"/);
        const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
        const { stdout } = await place.call(["run", "show", session]);
        const commands = commandsIn(stdout).filter((command) => command.includes(" run approve "));
        const promise = async (answered: Ended) => {
          shows(new RegExp(`^${word}`))(answered);
          expect((await running.ended).code).toBe(0);
        };
        return { place, text: commands[index] ?? "", offers: `run approve ${session}`, promise };
      },
    ]),
  ),
  "a page of a session whose process waits for a person": async () => {
    const place = newPlace();
    const running = place.start(["run", "--task", "Go", ...waiting(place)]);
    await running.seen(/"type":"approval\.asked"/);
    const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
    const { stdout } = await place.call(["session", "show", session]);
    const promise = async (shown: Ended) => {
      shows(/run approve/)(shown);
      running.child.kill("SIGINT");
      expect((await running.ended).code).toBe(4);
    };
    return { place, text: stdout, offers: `run show ${session}`, promise };
  },
  "a run that is not there": async () => {
    const { place, session } = await completed();
    const ended = await place.call(["run", "show", session, "run_x", "--json"]);
    return { place, text: hintOf(ended), offers: `run list ${session}`, promise: shows(/run_/) };
  },
  "an operation that is not there": async () => {
    const { place, session } = await completed();
    const { runs } = documentIn((await place.call(["run", "list", session, "--json"])).stdout).data;
    const ended = await place.call(["run", "show", session, runs[0].run, "op_x", "--json"]);
    return {
      place,
      text: hintOf(ended),
      offers: `run show ${session} ${runs[0].run}`,
      promise: shows(/completed/),
    };
  },
  "a resolution in a run that is not there": async () => {
    const { place, session } = await completed();
    const ended = await place.call(["run", "resolve", session, "run_x", "op_x", "--not-executed", "--json"]);
    return { place, text: hintOf(ended), offers: `run list ${session}`, promise: shows(/run_/) };
  },
  "a resolution of an operation that is not there": async () => {
    const { place, session } = await completed();
    const { runs } = documentIn((await place.call(["run", "list", session, "--json"])).stdout).data;
    const resolution = ["run", "resolve", session, runs[0].run, "op_x", "--not-executed"];
    const ended = await place.call([...resolution, "--json"]);
    const offers = `run show ${session} ${runs[0].run}`;
    return { place, text: hintOf(ended), offers, promise: shows(/completed/) };
  },
  "work that is idle": async () => {
    const { place, session } = await completed({ text: "2" });
    const { stdout } = await place.call(["resume", session, "--format", "text"]);
    return { place, text: stdout, offers: `resume ${session} --task "…"`, promise: code(0) };
  },
  "a run that is over": async () => {
    const { place, session } = await completed({ text: "2" });
    const { stdout } = await place.call(["run", "show", session]);
    return { place, text: stdout, offers: `resume ${session} --task "…"`, promise: code(0) };
  },
  "a run that is over, and a message that waits": async () => {
    const { place, session } = await completed({ text: "2" });
    await place.call(["send", session, "Next."]);
    const { stdout } = await place.call(["session", "show", session]);
    return {
      place,
      text: stdout.slice(stdout.indexOf("\nnext")),
      offers: `resume ${session}`,
      promise: code(0),
    };
  },
  "a run that is suspended": async () => {
    const { place, session, ended } = await suspended({ text: "Done." });
    return { place, text: ended.stderr, offers: `resume ${session}`, promise: code(0) };
  },
  "a page of a suspended run": async () => {
    const { place, session } = await suspended({ text: "Done." });
    const { stdout } = await place.call(["run", "show", session]);
    return { place, text: stdout, offers: `resume ${session}`, promise: code(0) };
  },
  "a process that was told to leave": async () => {
    const place = newPlace();
    const model = place.cassette({ text: "So slowly that it is met at work.", perTokenMs: 300 });
    const running = place.start(["run", "--task", "x", "--model", model]);
    const session = sessionIn(await running.seen(/ses_[0-9a-z]{26}/));
    await running.seen(/"type":"live\.text"/);
    running.child.kill("SIGTERM");
    const ended = await running.ended;
    return { place, text: ended.stderr, offers: `resume ${session}`, promise: code(0) };
  },
  "an outcome that is unknown": async () => {
    const { place, session, operation, ended } = await unknown("jsonl");
    const error = await place.call(["resume", session, "--json"]);
    expect(ended.code).toBe(3);
    return {
      place,
      text: hintOf(error),
      offers: `run show ${session}`,
      promise: shows(new RegExp(operation)),
    };
  },
  "a page of an unknown outcome": async () => {
    const { place, session, operation } = await unknown("jsonl");
    const { stdout } = await place.call(["session", "show", session]);
    return { place, text: stdout, offers: `run show ${session}`, promise: shows(new RegExp(operation)) };
  },
  ...Object.fromEntries(
    ['--output "what it did"', '--output "how it failed" --is-error', "--not-executed"].map(
      (answer, index) => [
        `a person's answer: ${answer}`,
        async () => {
          const { place, session, ended } = await unknown("text");
          const commands = commandsIn(ended.stdout).filter((command) => command.includes(" run resolve "));
          const promise = shows(/^recorded/);
          return { place, text: commands[index] ?? "", offers: `run resolve ${session}`, promise };
        },
      ],
    ),
  ),
  "what comes after a person's answer": async () => {
    const { place, session, ended } = await unknown("text");
    const [answer = ""] = commandsIn(ended.stdout).filter((command) => command.includes(" run resolve "));
    const then = ended.stdout.slice(ended.stdout.indexOf("\nthen "));
    expect(commandsIn(then)).toEqual([`holdfast resume ${session}`]);
    const resolved = await runHint(place, answer);
    expect(resolved.stdout).toMatch(new RegExp(`next +holdfast resume ${session}`));
    return { place, text: then, offers: `resume ${session}`, promise: code(0) };
  },
  "another task while a person must speak": async () => {
    const { place, session, operation } = await unknown("jsonl");
    const ended = await place.call(["resume", session, "--task", "y", "--json"]);
    return {
      place,
      text: hintOf(ended),
      offers: `run show ${session}`,
      promise: shows(new RegExp(operation)),
    };
  },
  "another task while a run is open": async () => {
    const { place, session } = await suspended({ text: "Done." });
    const ended = await place.call(["resume", session, "--task", "y", "--json"]);
    return { place, text: hintOf(ended), offers: `resume ${session}`, promise: code(0) };
  },
};
