import { spawn, spawnSync } from "node:child_process";
import { widthOf } from "../../src/cli/text/width.ts";
import type { Place } from "./program.ts";

/** A terminal of 80 columns: the program runs in a real one, and what it wrote is set as a terminal sets it. */

/** True where `script` of util-linux is there, which gives a program a terminal. */
export const hasTerminal =
  spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") === true;

export const columns = 80;

/** A call in a terminal. */
export interface TerminalCall {
  /** Types something. */
  type(text: string): void;
  /** Closes the terminal under whatever runs in it; `ended` then tells no exit code of that. */
  close(): void;
  /** All that was written so far, raw. */
  readonly written: string;
  seen(pattern: RegExp): Promise<void>;
  readonly ended: Promise<{ readonly code: number | null; readonly written: string }>;
}

/** Starts the program in a terminal; `then`: a shell command that is run there when it has ended. */
export function startInTerminal(
  place: Place,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  then?: string,
): TerminalCall {
  const words = shellWords([process.execPath, place.program, ...args]);
  return startShellInTerminal(
    place,
    then === undefined ? `exec ${words}` : `${words}; code=$?; ${then}; exit $code`,
    env,
  );
}

/** Words for a shell. */
export function shellWords(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
}

/** Starts a shell command in a terminal. */
export function startShellInTerminal(
  place: Place,
  shell: string,
  env: Readonly<Record<string, string>> = {},
): TerminalCall {
  const command = `stty cols ${columns} rows 50; ${shell}`;
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    cwd: place.workspace,
    env: { ...place.env(env), TERM: "xterm-256color", SHELL: "/bin/sh" },
  });
  place.keep(child);
  let [written, hasEnded] = ["", false];
  const listeners = new Set<() => void>();
  const tell = () => listeners.forEach((listener) => listener());
  const decoder = new TextDecoder();
  child.stdout.on("data", (chunk: Buffer) => {
    written += decoder.decode(chunk, { stream: true });
    tell();
  });
  const ended = new Promise<{ code: number | null; written: string }>((done) => {
    child.on("close", (code) => {
      hasEnded = true;
      tell();
      done({ code, written });
    });
  });
  return {
    type: (text) => void child.stdin.write(text),
    close: () => void child.kill("SIGKILL"),
    get written() {
      return written;
    },
    seen: (pattern) =>
      new Promise((found, fail) => {
        const look = (): void => {
          if (pattern.test(written)) found();
          else if (hasEnded) fail(new Error(`it ended without ${pattern}: ${written}`));
        };
        listeners.add(look);
        look();
      }),
    ended,
  };
}

/** The lines that a terminal shows after all that was written. Knows the sequences that the program may use, no other. */
export function shownLines(written: string): string[] {
  const grid = new Grid();
  // oxlint-disable-next-line no-control-regex
  const token = /\u001b\[(\??\d*(?:;\d+)*)([A-Za-z])|\u001b|[^\u001b]/gu;
  for (const [text, numbers = "", verb] of written.matchAll(token)) {
    if (verb === undefined) grid.put(text);
    else grid.obey(verb, numbers);
  }
  return grid.lines.map((line) => line.join("").trimEnd());
}

class Grid {
  readonly lines: string[][] = [[]];
  #row = 0;
  #column = 0;

  obey(verb: string, numbers: string): void {
    // Colours, and whether the cursor is shown.
    if (verb === "m" || numbers === "?25") return;
    if (verb === "A") this.#row = Math.max(0, this.#row - Number(numbers));
    else if (verb === "B") this.#row += Number(numbers);
    else if (verb === "D") this.#column = Math.max(0, this.#column - Number(numbers));
    else if (verb === "J") {
      this.#line().splice(this.#column);
      this.lines.splice(this.#row + 1);
    } else throw new Error(`it wrote ESC [ ${numbers}${verb}`);
  }

  put(text: string): void {
    if (text === "\n") this.#row++;
    else if (text === "\r") this.#column = 0;
    else if (/\p{Cc}/u.test(text)) throw new Error(`it wrote ${JSON.stringify(text)}`);
    else this.#set(text, widthOf(text));
    this.#line();
  }

  #set(text: string, width: number): void {
    if (this.#column + width > columns) [this.#row, this.#column] = [this.#row + 1, 0];
    const line = this.#line();
    while (line.length < this.#column) line.push(" ");
    line[this.#column] = width === 0 ? (line[this.#column] ?? "") + text : text;
    for (let more = 1; more < width; more++) line[this.#column + more] = "";
    this.#column += width;
  }

  #line(): string[] {
    while (this.lines.length <= this.#row) this.lines.push([]);
    return this.lines[this.#row] ?? [];
  }
}
