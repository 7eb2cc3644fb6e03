import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { BeforeChange } from "./changing-host.ts";

/** What befalls a peer before its `at`-th change, counted from 1. */
export type Mishap =
  /** It is killed, noting the change's name in `file`, if given; where that exists already, nothing befalls it. */
  | { readonly is: "die"; readonly at: number; readonly file?: string }
  /** It is stopped until somebody lets it go on. */
  | { readonly is: "stop"; readonly at: number }
  /** It waits until the file is there, after it noted the change's name in `<file>.waiting`. */
  | { readonly is: "wait"; readonly at: number; readonly file: string };

/** Counts changes, and has the mishap befall this process. */
export class Changes {
  count = 0;
  mishap: Mishap | undefined;

  constructor(mishap: Mishap | undefined) {
    this.mishap = mishap;
  }

  readonly before: BeforeChange = (effect) => {
    this.count++;
    const { mishap } = this;
    if (mishap === undefined || this.count !== mishap.at) return undefined;
    return befall(mishap, effect);
  };

  /** From now on. */
  expect(mishap: Mishap | undefined): void {
    this.count = 0;
    this.mishap = mishap;
  }
}

function befall(mishap: Mishap, effect: string): void | Promise<void> {
  switch (mishap.is) {
    case "die":
      if (mishap.file !== undefined) {
        if (existsSync(mishap.file)) return undefined;
        writeFileSync(mishap.file, effect);
      }
      process.kill(process.pid, "SIGKILL");
      return undefined;
    case "stop":
      process.kill(process.pid, "SIGSTOP");
      return undefined;
    case "wait":
      if (existsSync(`${mishap.file}.waiting`)) return undefined;
      writeFileSync(`${mishap.file}.waiting`, effect);
      return until(mishap.file);
  }
}

async function until(file: string): Promise<void> {
  while (!existsSync(file)) await sleep(2);
}
