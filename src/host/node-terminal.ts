import { closeSync } from "node:fs";
import { isatty } from "node:tty";

/**
 * Keeps the exit code of a process whose terminal was closed: Node puts terminals back as they were when it ends, and
 * where one is gone it aborts instead.
 */
export function outliveTerminal(): void {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  process.on("exit", () => {
    for (const descriptor of terminals) if (!isatty(descriptor)) closeSync(descriptor);
  });
}
