import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { codeIn, readTable } from "./documents.ts";

interface Row {
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
  /** Names of Node's own modules; `all` allows each. */
  readonly builtins: readonly string[] | "all";
}

/** The table of doors, as the document has it: a room may import only what its row names. */
const rooms = new Map(
  readTable("ARCHITECTURE.md", "room").map(([room, imports, packages, builtins]): [string, Row] => [
    codeIn(room)[0] ?? "",
    {
      rooms: codeIn(imports),
      packages: codeIn(packages),
      builtins: builtins === "all" ? "all" : codeIn(builtins),
    },
  ]),
);

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
  const row = rooms.get(room);
  if (row === undefined) return "is in no room of the table";
  if (name.startsWith("node:")) {
    const allowed = row.builtins === "all" || row.builtins.includes(name);
    return allowed ? undefined : `may not use ${name}`;
  }
  if (!name.startsWith(".")) {
    const allowed = row.packages.some((entry) =>
      entry.endsWith("/*") ? name.startsWith(entry.slice(0, -1)) : entry === name,
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
  test("the table has a row for every room and no other", () => {
    expect([...rooms.keys()].toSorted()).toEqual([...new Set(files.map(roomOf))].toSorted());
  });

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

  // A10 and, with the second compiler configuration, A1.
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
