import type { EngineContext, ListContext } from "../engine/index.ts";
import type { Host, Keys, OutputStream } from "../host/index.ts";

/** The signals that tell a process to end. */
export type EndSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** The part of the outside that is there at once, for commands that must answer at once. */
export interface LightOutside {
  readonly host: Pick<Host, "disk" | "clock">;
  /** The state directory where no flag names one. */
  readonly stateDirectory: string;
  readonly currentDirectory: string;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** False where NO_COLOR asks for none. */
  readonly mayColour: boolean;
  /** True where somebody looks for a fault and wants stacks. */
  readonly debug: boolean;
  /** What is listed in a state directory. */
  openList(stateDirectory: string): ListContext;
}

/** Everything that the command line takes from outside, given by the hall. */
export interface Outside extends LightOutside {
  readonly version: string;
  readonly host: Host;
  /** Where the system keeps what may vanish. */
  readonly temporaryDirectory: string;
  readonly stdinIsTerminal: boolean;
  /** All of standard input, at most `bytesMax`; rejects with a RangeError where there is more. */
  readStdin(bytesMax: number): Promise<Uint8Array>;
  /** Opens the terminal on standard input for single keys, where it is one. */
  openKeys(): Promise<Keys>;
  /** Opens the engine on a state directory. */
  open(options: { stateDirectory: string; singleWriter: boolean }): EngineContext;
  /** How to start this very program again, as `demo` does. */
  readonly self: {
    readonly file: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
  /** Calls `told` when a signal tells the process to end; returns how to stop listening. */
  onSignal(told: (signal: EndSignal) => void): () => void;
  /** Ends the process at once. */
  exit(code: number): never;
}
