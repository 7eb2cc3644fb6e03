import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { bundleForNode } from "../peers/bundle.ts";

/** What a peer answers; nothing where it died. */
export interface Answer {
  readonly value?: unknown;
  readonly code?: string;
  readonly message?: string;
}

/** Another process that works on a store; see `test/peers/store-peer.ts`. */
export interface StorePeer {
  readonly pid: number;
  /** Resolves to its answer, or to undefined where it died first. */
  ask(command: { do: string; session?: string; text?: string; count?: number }): Promise<Answer | undefined>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Kills it and waits for its end. */
  kill(): Promise<void>;
  /** Lets it end by itself. */
  end(): Promise<void>;
}

/** Starts peers and remembers them, so that none outlives its test. */
export class Peers {
  readonly #children: ChildProcess[] = [];
  #program: Promise<string> | undefined;

  async start(options: { directory: string; dieAt?: number }): Promise<StorePeer> {
    this.#program ??= bundleForNode("test/peers/store-peer.ts");
    const args = [await this.#program, JSON.stringify(options)];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#children.push(child);
    const exited = once(child, "exit");
    child.stdin.on("error", () => undefined); // It may die while it is spoken to.
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return {
      pid: child.pid ?? 0,
      async ask(command) {
        child.stdin.write(`${JSON.stringify(command)}\n`);
        const { value, done } = await answers.next();
        return done === true ? undefined : (JSON.parse(value) as Answer);
      },
      signal: (signal) => void child.kill(signal),
      async kill() {
        child.kill("SIGKILL");
        await exited;
      },
      async end() {
        child.stdin.end();
        await exited;
      },
    };
  }

  killAll(): void {
    this.#children.splice(0).forEach((child) => child.kill("SIGKILL"));
  }
}
