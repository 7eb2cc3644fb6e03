import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sha256 } from "../../src/host/index.ts";
import type { Opened } from "./opened.ts";
import type { SessionFiles } from "./session-files.ts";

/**
 * The corpus on disk: one folder an entry, with a session's files and what every build makes of them.
 *
 *     test/corpus/logs/<name>/expected.json        what it is, and what it is read as
 *     test/corpus/logs/<name>/log.jsonl …          the files, as in a session's folder
 *     test/corpus/blobs/<hash>                     payloads, shared by the entries whose lines name them
 */

/** What stands beside an entry's files. */
export interface Expected {
  readonly what: string;
  readonly session: string;
  readonly opened: Opened;
}

/** An entry of the corpus. */
export interface Entry extends Expected {
  readonly name: string;
  readonly files: SessionFiles;
}

const expectedName = "expected.json";

/** The corpus in a folder of the repository. */
export class Corpus {
  readonly #logs: string;
  readonly #blobs: string;

  /** `folder`: `test/corpus`, from wherever the program stands. */
  constructor(folder: string) {
    this.#logs = join(folder, "logs");
    this.#blobs = join(folder, "blobs");
  }

  names(): string[] {
    return existsSync(this.#logs) ? readdirSync(this.#logs).toSorted() : [];
  }

  has(name: string): boolean {
    return existsSync(join(this.#logs, name, expectedName));
  }

  read(name: string): Entry {
    const folder = join(this.#logs, name);
    const expected = JSON.parse(readFileSync(join(folder, expectedName), "utf8")) as Expected;
    const files = new Map<string, Uint8Array>();
    for (const found of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(found.parentPath, found.name);
      if (found.isFile() && found.name !== expectedName) {
        files.set(path.slice(folder.length + 1), new Uint8Array(readFileSync(path)));
      }
    }
    for (const [blob, bytes] of this.#namedIn(files)) files.set(`blobs/${blob}`, bytes);
    return { name, ...expected, files: { session: expected.session, files } };
  }

  /** Writes a new entry. Throws where there is one of that name: what a log was read as is never forgotten by accident. */
  add(name: string, { what, session, opened }: Expected, { files }: SessionFiles): void {
    if (this.has(name)) throw new Error(`the corpus has an entry ${name} already`);
    for (const [file, bytes] of files) {
      const [, blob] = /^blobs\/([0-9a-f]{64})$/.exec(file) ?? [];
      const isShared = blob !== undefined && sha256(bytes) === blob;
      const path = isShared ? join(this.#blobs, blob) : join(this.#logs, name, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
    }
    this.#write(name, { what, session, opened });
  }

  /** Has an entry expect something else from now on: for a change that somebody decided on. */
  replaceExpected(name: string, opened: Opened): void {
    const { what, session } = this.read(name);
    this.#write(name, { what, session, opened });
  }

  #write(name: string, expected: Expected): void {
    mkdirSync(join(this.#logs, name), { recursive: true });
    writeFileSync(join(this.#logs, name, expectedName), `${JSON.stringify(expected, null, 2)}\n`);
  }

  *#namedIn(files: ReadonlyMap<string, Uint8Array>): Generator<[string, Uint8Array]> {
    const text = [...files.values()].map((bytes) => Buffer.from(bytes).toString("latin1")).join("\n");
    for (const blob of existsSync(this.#blobs) ? readdirSync(this.#blobs) : []) {
      if (text.includes(blob)) yield [blob, new Uint8Array(readFileSync(join(this.#blobs, blob)))];
    }
  }
}
