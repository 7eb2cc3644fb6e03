import { resolve } from "node:path";
import type { RecordedSession } from "../../engine/index.ts";
import { recordSession } from "../../engine/index.ts";
import { HoldfastError } from "../../model/errors.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf, shellWord } from "../call.ts";
import { Screen } from "../screen.ts";
import { formatBytes, formatCount } from "../text/units.ts";
import { wrapText } from "../text/wrap.ts";
import { answer } from "./answer.ts";

/** The flags of `session record`. */
export interface RecordFlags {
  readonly output?: string;
  readonly force?: boolean;
  readonly timings?: boolean;
}

/** `holdfast session record`: a cassette of a session, in a file or on standard output. */
export async function sessionRecord(call: Call, selector: string, flags: RecordFlags): Promise<number> {
  const output = outputOf(call, flags);
  const { force: replace = false, timings = false } = flags;
  const { text, ...recorded } = await recordSession(engineOf(call), {
    selector,
    ...(output !== undefined && { file: resolve(call.outside.currentDirectory, output) }),
    replace,
    timings,
  });
  await tellNotices(call, recorded);
  if (text !== undefined) {
    await call.outside.stdout.write(text);
    return 0;
  }
  return await answer(call, recorded, () => {
    const screen = screenOf(call);
    writeSummary(screen, recorded, { file: output ?? "", program: call.program });
    return screen;
  });
}

/** The file that is named; undefined for standard output. */
function outputOf(call: Call, { output }: RecordFlags): string | undefined {
  const hint = "Name a file with --output FILE, or standard output with --output -";
  if (output === undefined)
    throw new HoldfastError("usage", "nothing says where the cassette goes", { hint });
  if (output === "") throw new HoldfastError("usage", "--output names no file", { hint });
  if (output !== "-") return output;
  if (call.form !== "json") return undefined;
  throw new HoldfastError("usage", "--json and --output - both want standard output", {
    hint: "Name a file with --output FILE, or leave --json out.",
  });
}

function writeSummary(
  screen: Screen,
  { turns, answers, errors, tasks, bytes, session }: RecordedSession,
  { file, program }: { readonly file: string; readonly program: string },
): void {
  const what = [formatCount(answers, "answer"), ...(errors > 0 ? [formatCount(errors, "error")] : [])];
  screen.line(["good", "✓ "], `${what.join(" and ")} in ${file}`, ["dim", ` (${formatBytes(bytes)})`]);
  if (turns === 0) return;
  screen.line("Play it in a copy of the workspace as it was, with the same policy flags:");
  screen.line(`  ${program} run --workspace COPY --model cassette:${shellWord(file)} --task TASK`);
  if (tasks === 1) {
    screen.line("Its task:");
    screen.line(`  ${program} run show ${session}`);
  } else {
    screen.line(`Its ${tasks} tasks, the first for run and each other one for resume:`);
    screen.line(`  ${program} run list ${session}`);
  }
}

/** What of the session is not in the cassette, or is but not as it was. */
async function tellNotices(call: Call, recorded: RecordedSession): Promise<void> {
  const { turns, redacted, leftOut, active } = recorded;
  const { interrupted, exhausted, tornBytes } = leftOut;
  const notices = [
    ...(active ? ["a process works on the session; recorded is what it had been answered by now"] : []),
    ...(turns === 0
      ? ["the session holds no answer of a model: a run with this cassette fails at its first call"]
      : []),
    ...(interrupted > 0 ? [`left out: ${formatCount(interrupted, "call")} that got no whole answer`] : []),
    ...(exhausted > 0 ? ["left out: that the session's own cassette had no further turn"] : []),
    ...(tornBytes > 0 ? [`left out: ${formatBytes(tornBytes)} at the end of the log, never completed`] : []),
    ...(redacted > 0
      ? [
          `${formatCount(redacted, "call")} had a secret in the arguments; the log has [redacted] in its place, ` +
            "and so a replay calls with that",
        ]
      : []),
  ];
  const screen = new Screen(call.outside.stderr, call.outside.mayColour);
  for (const notice of notices) {
    for (const line of wrapText(`holdfast: ${notice}`, screen.columns)) screen.line(line);
  }
  await screen.flushed();
}
