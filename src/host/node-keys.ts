import type { Readable } from "node:stream";
import { PassThrough } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

/** What is typed at the terminal, key by key, while somebody is asked something. */
export interface Keys {
  /** The keys that were typed since the terminal was opened for them. */
  readonly stream: Readable;
  /** The terminal is again as it was. */
  close(): void;
}

/** Whatever was typed before a question is shown lies ready at once. */
const typedAheadMs = 100;

/** Longer than anybody takes, and not longer than a timer can be. */
const stayMs = 24 * 60 * 60 * 1000;

/** Ctrl-C: in this mode it signals nobody. */
const interruptKey = 0x03;
/** Ctrl-D: to whoever reads lines the end of all input, where there is more to come. */
const endKey = 0x04;

/**
 * Opens the terminal on standard input for single keys. What was typed before is dropped, since it can be no answer to a
 * question that was not there yet; a Ctrl-C among it is passed on. A terminal that goes away gives no keys any more, and
 * no error: the signal tells of it. The process stays, also then, until the keys are closed.
 */
export async function openNodeKeys(): Promise<Keys> {
  const { stdin } = process;
  const stream = new PassThrough();
  const ahead: Uint8Array[] = [];
  const drop = (chunk: Uint8Array): void => void ahead.push(chunk);
  const take = (chunk: Uint8Array): void => {
    stream.write(chunk.filter((byte) => byte !== endKey));
  };
  const staying = setInterval(ignore, stayMs);
  // Never taken off: a terminal that went away says so when it will.
  if (!stdin.listeners("error").includes(ignore)) stdin.on("error", ignore);
  stdin.setRawMode(true);
  stdin.on("data", drop);
  stdin.resume();
  await delay(typedAheadMs);
  stdin.off("data", drop);
  if (ahead.some((chunk) => chunk.includes(interruptKey))) stream.write(Uint8Array.of(interruptKey));
  stdin.on("data", take);
  return {
    stream,
    close() {
      clearInterval(staying);
      stdin.off("data", take);
      stdin.pause();
      stdin.setRawMode(false);
      stream.end();
    },
  };
}

function ignore(): void {
  // Whoever waits for keys waits for other answers too.
}
