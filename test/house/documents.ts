import { readFileSync, readdirSync } from "node:fs";

/** Every document of the project, by its path. */
export function documentPaths(): string[] {
  const inDocs = readdirSync("docs", { recursive: true, encoding: "utf8" }).map((name) => `docs/${name}`);
  return [...readdirSync("."), ...inDocs]
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".md"))
    .toSorted();
}

/** The cells of the table in a document whose first column is called `title`, without head and rule. */
export function readTable(path: string, title: string): string[][] {
  const lines = readFileSync(path, "utf8").split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${title} |`));
  if (start < 0) throw new Error(`${path} has no table of ${title}`);
  const rows = lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith("|"));
  return rows.slice(0, end < 0 ? undefined : end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The words of a cell that are set as code. */
export function codeIn(cell: string | undefined): string[] {
  return [...(cell ?? "").matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
}
