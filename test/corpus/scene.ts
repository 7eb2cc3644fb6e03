import type { SessionFiles } from "./session-files.ts";

/** Something of which a log remains. */
export interface Scene {
  /** Also the folder of its entry. */
  readonly name: string;
  /** A sentence: what the files are. */
  readonly what: string;
  make(): Promise<SessionFiles>;
}
