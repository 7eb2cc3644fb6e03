import { runSupervisor } from "../../src/agents/builtin/exec/index.ts";
import type { MemoryProcess, Program } from "./memory-processes.ts";

/**
 * The shell of a machine in memory. A line is steps between `;`, one after the other; a step that ends with `&` goes on
 * as a process of its own, in the same group.
 *
 *     append WORD FILE    appends a line to the file and syncs it
 *     sleep MS            waits
 *     say TEXT…           writes a line to the output; it dies where nobody reads that any more
 *     stubborn            takes no notice of SIGTERM and SIGINT from then on
 *     fail CODE           ends with that code
 */
export const shell: Program = { name: "command", run: runLine };

async function runLine(process: MemoryProcess, args: readonly string[]): Promise<number> {
  let code = 0;
  for (const step of stepsOf(args.at(-1) ?? "")) {
    if (step.words[0] === "fail") return Number(step.words[1]);
    code = step.isBackground ? background(process, step) : await runStep(process, step.words);
  }
  return code;
}

interface Step {
  readonly words: readonly string[];
  readonly isBackground: boolean;
}

function stepsOf(line: string): Step[] {
  return [...line.matchAll(/([^;&]+)(&)?/g)]
    .map(([, step = "", mark]) => ({
      words: step.split(" ").filter((word) => word !== ""),
      isBackground: mark !== undefined,
    }))
    .filter(({ words }) => words.length > 0);
}

function background({ table, env, group, output }: MemoryProcess, { words }: Step): number {
  const line = words.join(" ");
  table.run(shell, [line], { command: line, env, group, ...(output !== undefined && { output }) });
  return 0;
}

async function runStep(process: MemoryProcess, [verb, ...words]: readonly string[]): Promise<number> {
  switch (verb) {
    case "append":
      await append(process, words[0] ?? "", words[1] ?? "");
      return 0;
    case "sleep":
      await process.host.clock.sleep(Number(words[0]));
      return 0;
    case "say":
      await say(process, words.join(" "));
      return 0;
    case "stubborn":
      process.caught = () => undefined;
      return 0;
    default:
      await say(process, `${verb ?? ""}: not found`);
      return 127;
  }
}

/** Appends a line, durably. The file must be there. */
export async function append(
  { disk }: Pick<MemoryProcess, "disk">,
  word: string,
  path: string,
): Promise<void> {
  const file = await disk.open(path, "append");
  await file.write(new TextEncoder().encode(`${word}\n`));
  await file.sync();
  await file.close();
}

async function say(process: MemoryProcess, text: string): Promise<void> {
  const { disk, output, name } = process;
  const isRead = await disk.perform("say", name, {
    act: () => output?.write(new TextEncoder().encode(`${text}\n`)) ?? true,
  });
  if (!isRead) process.die({ signal: "SIGPIPE" });
  // What is dead does not go on with the next step.
  if (process.isDead) await new Promise<never>(() => undefined);
}

/** The program of a session's supervisor, in memory: the real supervisor, and the signals that its program takes. */
export function supervisorProgram(lingerMs: number): Program {
  return {
    name: "supervisor",
    async run(process, args) {
      const ending = new AbortController();
      process.caught = (signal) => {
        if (signal === "SIGTERM") ending.abort();
      };
      const [session, socket, nonce] = ["--session", "--socket", "--nonce"].map(
        (name) => args[args.indexOf(name) + 1] ?? "",
      );
      const options = { session: session ?? "", socket: socket ?? "", nonce: nonce ?? "", lingerMs };
      await runSupervisor(process.host, options, ending.signal);
      return 0;
    },
  };
}
