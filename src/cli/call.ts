import type { EngineContext } from "../engine/index.ts";
import type { LightOutside, Outside } from "./outside.ts";
import { Screen } from "./screen.ts";

/** In which form a command answers. */
export type OutputForm =
  /** For people. */
  | "text"
  /** One line of JSON for each thing that happens. */
  | "jsonl"
  /** One JSON document at the end. */
  | "json";

/** The flags that every command takes. */
export interface GlobalFlags {
  readonly stateDir?: string;
  readonly singleWriter?: boolean;
  readonly json?: boolean;
  readonly format?: string;
}

/** One command as it was called. */
export interface Call<O extends LightOutside = Outside> {
  readonly outside: O;
  /** Names the command in documents: `run`, `session_list`, … */
  readonly kind: string;
  readonly form: OutputForm;
  readonly stateDirectory: string;
  readonly singleWriter: boolean;
  /** How this program is called again with the same global flags; hints begin with it. */
  readonly program: string;
}

/** The engine on the state directory that the call names. */
export function engineOf(call: Call): EngineContext {
  const { outside, stateDirectory, singleWriter } = call;
  return outside.open({ stateDirectory, singleWriter });
}

/** Standard output, for people. */
export function screenOf(call: { readonly outside: LightOutside }): Screen {
  return new Screen(call.outside.stdout, call.outside.mayColour);
}

/** A text as one word of a shell's command line. */
export function shellWord(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
