/**
 * A process that takes locks on command. Each line of its input is one command, each line of its output the answer:
 * `exclusive PATH` and `shared PATH` → `held` or `refused`; `release` (all) → `released`; `read PATH` → `read`;
 * `start-child` → the pid of a child that lives on; `replace PATH` → `replacing`, and from then on the file is
 * replaced by a new one without end.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { nodeHost, type HeldLock } from "../../src/host/index.ts";

const host = nodeHost();
const held: HeldLock[] = [];

async function answer(command: string, path: string): Promise<string> {
  switch (command) {
    case "exclusive":
    case "shared": {
      const lock = await host.locks.tryLock(path, { shared: command === "shared" });
      if (lock === undefined) return "refused";
      held.push(lock);
      return "held";
    }
    case "release":
      await Promise.all(held.splice(0).map((lock) => lock.release()));
      return "released";
    case "read":
      readFileSync(path);
      return "read";
    case "start-child":
      return String(host.processes.spawn({ file: "sleep", args: ["60"], cwd: "/", env: {} }).pid);
    case "replace":
      setImmediate(function replace() {
        for (let round = 0; round < 1000; round += 1) {
          writeFileSync(`${path}.next`, "");
          renameSync(`${path}.next`, path);
        }
        setImmediate(replace);
      });
      return "replacing";
    default:
      return `unknown command ${command}`;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [command = "", path = ""] = line.split(" ");
  console.log(await answer(command, path));
}
