import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { describe, expect, test } from "vitest";

// The table of doors of ARCHITECTURE.md. A room may import only what its row names.
const rooms: Record<string, { rooms: string[]; packages: (string | RegExp)[]; builtins: RegExp }> = {
  model: { rooms: [], packages: ["zod/mini"], builtins: /^$/ },
  host: { rooms: [], packages: ["fs-native-extensions"], builtins: /^node:/ },
  store: { rooms: ["model", "host"], packages: [], builtins: /^node:path$/ },
  agents: { rooms: ["model", "host"], packages: ["yaml", "zod/mini", /^@ai-sdk\//], builtins: /^node:path$/ },
  engine: { rooms: ["model", "host", "store"], packages: ["yaml"], builtins: /^node:path$/ },
  cli: { rooms: ["model", "engine", "host"], packages: ["commander", "picocolors"], builtins: /^node:path$/ },
  hall: {
    rooms: ["model", "host", "store", "agents", "engine", "cli"],
    packages: ["env-paths"],
    builtins: /^node:/,
  },
};

const root = resolve("src");
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.split(sep).join("/"));

/** A file of `src` belongs to its first folder; a file in none belongs to the hall. */
function roomOf(file: string): string {
  return file.includes("/") ? file.slice(0, file.indexOf("/")) : "hall";
}

/** Inside `agents` each folder is a house of its own. */
function agentOf(file: string): string | undefined {
  const [room, agent, ...rest] = file.split("/");
  return room === "agents" && rest.length > 0 ? agent : undefined;
}

const specifier = /(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g;

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
  return [...text.matchAll(specifier)].map((match) => match[1] ?? "");
}

function faultOf(file: string, name: string): string | undefined {
  const room = roomOf(file);
  const row = rooms[room];
  if (row === undefined) return "is in no room of the table";
  if (name.startsWith("node:")) return row.builtins.test(name) ? undefined : `may not use ${name}`;
  if (!name.startsWith(".")) {
    const allowed = row.packages.some((entry) =>
      typeof entry === "string" ? entry === name : entry.test(name),
    );
    return allowed ? undefined : `may not use the package ${name}`;
  }
  const target = relative(root, resolve(root, dirname(file), name))
    .split(sep)
    .join("/");
  const targetRoom = roomOf(target);
  if (targetRoom === room) {
    return agentOf(file) === agentOf(target) || agentOf(target) === undefined
      ? undefined
      : `reaches into another agent (${target})`;
  }
  if (!row.rooms.includes(targetRoom)) return `may not import the room ${targetRoom}`;
  const isDoor = targetRoom === "model" || target.endsWith("/index.ts");
  return isDoor ? undefined : `enters ${targetRoom} not by its door (${target})`;
}

describe("the house", () => {
  test("every import goes through a door that the table allows", () => {
    const faults = files.flatMap((file) =>
      importsOf(file).flatMap((name) => {
        const fault = faultOf(file, name);
        return fault === undefined ? [] : [`${file} ${fault}`];
      }),
    );
    expect(faults).toEqual([]);
  });

  test("the rule would notice a wrong import", () => {
    expect(faultOf("model/x.ts", "../host/index.ts")).toMatch(/may not import the room host/);
    expect(faultOf("store/x.ts", "../host/disk.ts")).toMatch(/not by its door/);
    expect(faultOf("engine/x.ts", "../agents/index.ts")).toMatch(/may not import the room agents/);
    expect(faultOf("store/x.ts", "node:fs")).toMatch(/may not use node:fs/);
    expect(faultOf("cli/x.ts", "zod")).toMatch(/may not use the package zod/);
  });

  test("the product knows no test and reads the environment only in the hall", () => {
    const faults = files.filter((file) => {
      const text = readFileSync(join(root, file), "utf8");
      if (/\b(failpoint|debugTrigger|vitest|NODE_ENV)\b/.test(text)) return true;
      return /process\.env/.test(text) && roomOf(file) !== "hall";
    });
    expect(faults).toEqual([]);
  });

  test("what a room exports has a docstring", () => {
    const faults: string[] = [];
    for (const file of files.filter((name) => !name.endsWith("index.ts"))) {
      const lines = readFileSync(join(root, file), "utf8").split("\n");
      lines.forEach((line, index) => {
        const match =
          /^export (?:declare )?(?:abstract |async )?(?:class|function\*?|interface|const|type) (\w+)/.exec(
            line,
          );
        if (match === null) return;
        const before = lines[index - 1] ?? "";
        const companion = lines.some(
          (other) =>
            other.startsWith(`export const ${match[1]} `) || other.startsWith(`export const ${match[1]}:`),
        );
        if (line.startsWith("export type") && companion) return;
        if (!/\*\/\s*$/.test(before)) faults.push(`${file}:${index + 1} ${match[1]}`);
      });
    }
    expect(faults).toEqual([]);
  });
});
