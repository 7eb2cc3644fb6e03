import { utf8Bytes } from "../host/index.ts";
import type { CassetteTurn } from "../model/cassette.ts";
import { cassetteBytesMax } from "../model/cassette.ts";
import type { Commit } from "../model/commit.ts";
import { Recording } from "../model/recording.ts";
import type { EngineContext } from "./context.ts";
import { checkOutput, writeOutput } from "./output-file.ts";
import { PayloadTexts, redactedCallsOf, tooLong, turnOfCall } from "./recorded-turns.ts";
import { SessionFold } from "./worker.ts";
import { quoted } from "./workspace.ts";

/** Makes a cassette of a session: its model's answers and failures, to be played again without a model. */

/** Which session is recorded, and where to. */
export interface RecordRequest {
  readonly selector: string;
  /** Absolute path of the file, JSON where its name ends in `.json`; the text is given back where absent. */
  readonly file?: string;
  /** True where the file may replace one that is there. */
  readonly replace?: boolean;
  /** True where a replay shall take the time that the model took. */
  readonly timings?: boolean;
}

/** What was recorded. */
export interface RecordedSession {
  readonly session: string;
  readonly file?: string;
  readonly bytes: number;
  /** Turns of the cassette: answers and errors together. */
  readonly turns: number;
  readonly answers: number;
  readonly errors: number;
  /** Tasks that they were given to. */
  readonly tasks: number;
  /** Calls whose arguments hold a mask where the model wrote a secret: the log has no more. */
  readonly redacted: number;
  readonly leftOut: {
    /** Calls that a death or a cancel cut. */
    readonly interrupted: number;
    /** Failures at the end that only say that a cassette had no further turn. */
    readonly exhausted: number;
    /** Bytes at the end of the log that no writer acknowledged. */
    readonly tornBytes: number;
  };
  /** True where a process holds the session: what it is told after this is not in the cassette. */
  readonly active: boolean;
}

/**
 * Records a session, whatever state it is in, from those of its lines that are durable. Writes nothing but the file,
 * which is for its owner alone. Rejects `not_found`, `ambiguous`, `log_damaged`, `usage` where the file cannot be
 * written there or no cassette can hold the answers, `exists`, or a storage error. `text` is the cassette, where no file
 * was named.
 */
export async function recordSession(
  context: EngineContext,
  request: RecordRequest,
): Promise<RecordedSession & { readonly text?: string }> {
  const { host, store } = context;
  const { file, replace = false, timings = false } = request;
  const session = await store.find(request.selector);
  const again = [
    "session",
    "record",
    session,
    "--output",
    quoted(file ?? ""),
    ...(timings ? ["--timings"] : []),
  ];
  const hint = `Replace it with: holdfast ${again.join(" ")} --force`;
  const output =
    file === undefined
      ? undefined
      : await checkOutput(host, { file, replace, hint, stateDirectory: store.directory });
  const { recording, tornBytes, active } = await readRecording(context, session);
  const exhausted = recording.dropExhausted();
  const texts = new PayloadTexts(store.blobs(session));
  const turns: CassetteTurn[] = [];
  for (const call of recording.calls) turns.push(await turnOfCall(call, { texts, timings }));
  // Only whoever records needs to write YAML.
  const { writeCassette } = await import("./cassette-text.ts");
  const text = writeCassette({ turns }, file?.endsWith(".json") === true ? "json" : "yaml");
  const bytes = utf8Bytes(text);
  if (bytes.length > cassetteBytesMax) throw tooLong(bytes.length);
  if (output !== undefined) await writeOutput(host, output, bytes);
  const errors = recording.calls.filter((call) => "failed" in call).length;
  return {
    session,
    ...(file === undefined ? {} : { file }),
    bytes: bytes.length,
    turns: turns.length,
    answers: turns.length - errors,
    errors,
    tasks: recording.runs,
    redacted: recording.calls.reduce((sum, call) => sum + redactedCallsOf(call), 0),
    leftOut: { interrupted: recording.cut, exhausted, tornBytes },
    active,
    ...(output === undefined && { text }),
  };
}

/**
 * Reads a whole log strictly. A line counts once another one follows it, or, where nobody holds the session and so
 * nobody can take it back, once it is synced.
 */
async function readRecording(
  { store }: EngineContext,
  session: string,
): Promise<{ recording: Recording; tornBytes: number; active: boolean }> {
  const fold = new SessionFold(session);
  const recording = new Recording();
  let last: Commit | undefined;
  const { remainder } = await store.readStrictly(session, (commit) => {
    const fault = fold.take(commit);
    if (fault !== undefined) return fault;
    if (last !== undefined) recording.take(last);
    last = commit;
    return undefined;
  });
  const active = await store.isHeld(session);
  if (active) return { recording, tornBytes: 0, active };
  await store.settleLog(session);
  if (last !== undefined) recording.take(last);
  recording.end();
  const isTorn = remainder.state === "torn" || remainder.state === "complete";
  return { recording, tornBytes: isTorn ? remainder.bytes.length : 0, active };
}
