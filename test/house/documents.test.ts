import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { codeIn, documentPaths, readTable } from "./documents.ts";

const documents = documentPaths();

/** The text without what stands in code, where brackets are no links. */
function proseOf(path: string): string {
  return readFileSync(path, "utf8")
    .replaceAll(/^```[\s\S]*?^```/gm, "")
    .replaceAll(/^ {4}.*$/gm, "")
    .replaceAll(/`[^`\n]*`/g, "");
}

/** Headings as a link names them. */
function anchorsOf(path: string): string[] {
  const headings = readFileSync(path, "utf8").matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, text = ""]) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function faultOfLink(document: string, link: string): string | undefined {
  if (/^https?:/.test(link)) return undefined;
  const [file = "", anchor] = link.split("#");
  const target = file === "" ? document : join(dirname(document), file);
  if (!existsSync(target)) return `${document} links to ${link}, which does not exist`;
  const isMissing = anchor !== undefined && !anchorsOf(target).includes(anchor);
  return isMissing ? `${document} links to ${link}; there is no such heading` : undefined;
}

describe("the documents", () => {
  test("every link leads somewhere", () => {
    const faults = documents.flatMap((document) =>
      [...proseOf(document).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(
        ([, link = ""]) => faultOfLink(document, link) ?? [],
      ),
    );
    expect(faults).toEqual([]);
  });

  test("every file that is named exists", () => {
    const faults = documents.flatMap((document) =>
      codeIn(readFileSync(document, "utf8"))
        .filter(
          (name) => /^(src|test|scripts|docs|bench|\.ci)\/[\w./-]*\w$/.test(name) && !name.includes("NNNN"),
        )
        .filter((name) => !existsSync(name))
        .map((name) => `${document} names ${name}`),
    );
    expect(faults).toEqual([]);
  });

  test("every script that is named can be run", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: object };
    const faults = documents.flatMap((document) =>
      [...readFileSync(document, "utf8").matchAll(/npm (?:run ([a-z]+)|(test))/g)]
        .map(([, run, plain]) => run ?? plain ?? "")
        .filter((name) => !Object.hasOwn(scripts, name))
        .map((name) => `${document} names npm run ${name}`),
    );
    expect(faults).toEqual([]);
  });

  test("each invariant is cited where it is kept", () => {
    const rows = readTable("ARCHITECTURE.md", "name");
    expect(rows.map(([name]) => name)).toEqual(Array.from({ length: 10 }, (_, index) => `A${index + 1}`));
    const faults = rows.flatMap(([name = "", , places]) =>
      codeIn(places)
        .filter((file) => file.endsWith(".ts"))
        .filter((file) => !new RegExp(`\\b${name}\\b`).test(readFileSync(file, "utf8")))
        .map((file) => `${file} does not cite ${name}`),
    );
    expect(faults).toEqual([]);
  });

  test("the table of errors is the one that the program uses", () => {
    const output = execFileSync(process.execPath, ["scripts/errors-document.mjs"], { encoding: "utf8" });
    expect(readFileSync("docs/errors.md", "utf8")).toBe(output);
  });

  test("the figures of the crash campaign are those of its reports", () => {
    const figures = execFileSync(process.execPath, ["scripts/campaign-figures.mjs"], { encoding: "utf8" });
    expect(readFileSync("README.md", "utf8")).toBe(figures);
  });

  test("each package that is shipped has a decision that names it", () => {
    const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
    const decisions = readdirSync("docs/decisions").map((name) =>
      readFileSync(`docs/decisions/${name}`, "utf8"),
    );
    const named = new Set(decisions.flatMap((text) => codeIn(text.split("\n## ", 1)[0])));
    expect(Object.keys(dependencies).filter((name) => !named.has(name))).toEqual([]);
  });
});
