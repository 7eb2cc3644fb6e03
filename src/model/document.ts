import { HoldfastError } from "./errors.ts";
import type { Path, Problem } from "./problems.ts";
import { refusal, writeProblem } from "./problems.ts";
import { isRecord } from "./values.ts";

/**
 * A document that people write, YAML or JSON, read strictly: what JSON cannot say exactly is refused, and everything
 * that is wrong is told with its place. The parser is given by the room that may load it, so that this one stays small.
 */

/** The package `yaml`, as much of it as is used. */
export interface YamlParser {
  readonly LineCounter: new () => LineCounter;
  parseDocument(text: string, options: ParseOptions): YamlDocument;
}

interface LineCounter {
  lineStarts: number[];
  addNewLine: (offset: number) => number;
  linePos: (offset: number) => { line: number; col: number };
}

interface ParseOptions {
  intAsBigInt: true;
  stringKeys: true;
  prettyErrors: false;
  lineCounter: LineCounter;
}

interface YamlDocument {
  readonly errors: readonly YamlFault[];
  readonly warnings: readonly YamlFault[];
  readonly contents: unknown;
  toJS(options: { maxAliasCount: number }): unknown;
}

interface YamlFault {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [number, number];
}

/** A document as it was read. */
export interface ReadDocument {
  /** What it says, as JSON says it. */
  readonly value: unknown;
  /** What of it JSON cannot say; the value has something else there. */
  readonly problems: readonly Problem[];
  /** The refusal of the document for these problems, in the order in which they stand in it. */
  refusal(problems: readonly Problem[]): HoldfastError;
}

/** How a document is read. */
export interface DocumentOptions {
  readonly yaml: YamlParser;
  /** What it is, as refusals name it: `The cassette demo.yaml`. */
  readonly what: string;
  /** What to do about a number that cannot be kept exactly; follows the number. */
  readonly inexact?: string;
}

/** So deep may a document be nested. */
export const nestingMax = 256;
const aliasesMax = 100;

/** Where the parser's own words speak of its options. */
const faultWords: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "this field was given before",
  MULTIPLE_DOCS: "a second document begins here",
  NON_STRING_KEY: "a field's name must be text",
};

/** Reads a document. Throws `usage` where it is no text, or no YAML and no JSON, with everything that is wrong about that. */
export function readDocument(bytes: Uint8Array, options: DocumentOptions): ReadDocument {
  const { yaml, what, inexact = "cannot be kept exactly" } = options;
  const text = textOf(bytes, what);
  const lines = new yaml.LineCounter();
  const document = parse(text, options, lines);
  const problems: Problem[] = [];
  const value = plainValue(valueOf(document, what), { path: [], problems, inexact });
  return {
    value,
    problems,
    refusal: (found) => {
      const placed = found.map((problem) => {
        const offset = offsetOf(document.contents, problem.path);
        return { offset, line: `${writeProblem(problem)}${placeOf(lines, offset)}` };
      });
      placed.sort((left, right) => left.offset - right.offset);
      return refusal(
        what,
        placed.map(({ line }) => line),
      );
    },
  };
}

function textOf(bytes: Uint8Array, what: string): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new HoldfastError("usage", `${what} is not UTF-8 text.`, { cause });
  }
  if (text.trim() === "") throw refusal(what, ["it is empty"]);
  return text;
}

/** JSON is YAML too. Whole numbers come as bigint, so that none is rounded before it is looked at. */
function parse(text: string, { yaml, what }: DocumentOptions, lines: LineCounter): YamlDocument {
  const options = { intAsBigInt: true, stringKeys: true, prettyErrors: false } as const;
  const document = yaml.parseDocument(text, { ...options, lineCounter: lines });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length === 0) return document;
  if (faults.some((fault) => fault.code === "RESOURCE_EXHAUSTION")) {
    throw refusal(what, [`it is nested deeper than ${nestingMax} levels`]);
  }
  const described = faults.map(({ pos, code, message }) => {
    const { line, col } = lines.linePos(pos[0]);
    return `line ${line}, column ${col}: ${faultWords[code] ?? message}`;
  });
  throw refusal(what, described);
}

function valueOf(document: YamlDocument, what: string): unknown {
  try {
    return document.toJS({ maxAliasCount: aliasesMax });
  } catch (cause) {
    // An alias of nothing, or aliases of aliases that would fill the memory.
    throw refusal(what, [cause instanceof Error ? cause.message : String(cause)]);
  }
}

interface Place {
  readonly path: Path;
  readonly problems: Problem[];
  readonly inexact: string;
}

/** The value as JSON can say it exactly; what JSON cannot say is a problem, not a rounding. */
function plainValue(value: unknown, place: Place): unknown {
  const { path, problems } = place;
  const at = (key: string | number): Place => ({ ...place, path: [...path, key] });
  if (path.length > nestingMax) {
    problems.push({ path: path.slice(0, 4), text: `is nested deeper than ${nestingMax} levels` });
    return null;
  }
  if (typeof value === "bigint" || typeof value === "number") return plainNumber(value, place);
  if (Array.isArray(value)) return value.map((item, index) => plainValue(item, at(index)));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainValue(item, at(key))]));
}

function plainNumber(value: bigint | number, { path, problems, inexact }: Place): number {
  const number = Number(value);
  if (!Number.isFinite(number)) problems.push({ path, text: "is no number that JSON has" });
  else if (typeof value === "bigint" && !Number.isSafeInteger(number)) {
    problems.push({ path, text: `${value} ${inexact}` });
  }
  return number;
}

/** As much of the parser's tree as tells where something stands. */
interface YamlNode {
  readonly range?: readonly number[] | null;
  readonly items?: readonly YamlPair[];
}
interface YamlPair extends YamlNode {
  readonly key?: (YamlNode & { readonly value?: unknown }) | null;
  readonly value?: YamlNode | null;
}

/** Where a path stands: at the name of the field; of what is missing, where that begins which lacks it. */
function offsetOf(contents: unknown, path: Path): number {
  let node = contents as YamlNode | null | undefined;
  let offset = node?.range?.[0] ?? 0;
  for (const name of path) {
    const items: readonly YamlPair[] = node?.items ?? [];
    const item = typeof name === "number" ? items[name] : items.find(({ key }) => key?.value === name);
    if (item === undefined) break;
    offset = (item.key ?? item).range?.[0] ?? offset;
    node = item.key === undefined ? item : item.value;
  }
  return offset;
}

function placeOf(lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return line === 0 ? "" : ` (line ${line}, column ${col})`;
}
