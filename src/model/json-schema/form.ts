import type { Path, Problem } from "../problems.ts";
import { shown } from "../problems.ts";
import { isRecord } from "../values.ts";
import { formatNames } from "./format.ts";
import type { KeywordForm } from "./keywords.ts";
import { dialects, inPlaceKeywords, keywords, typeNames } from "./keywords.ts";
import { resolveReference } from "./reference.ts";

/** Is this a schema, and one that can be checked as a whole? Asked before anything relies on it. */

/** What is found while a schema is walked. */
interface Walk {
  readonly root: unknown;
  readonly problems: Problem[];
  /** Every schema with where it stands. */
  readonly schemas: Map<object, Path>;
  readonly references: { readonly from: object; readonly to: string; readonly path: Path }[];
}

/** Everything that is wrong with a schema; `path` is where it stands. */
export function problemsOfSchema(schema: unknown, { path }: { readonly path: Path }): Problem[] {
  if (!isRecord(schema)) return [{ path, text: `must be a mapping, not ${shown(schema)}` }];
  const walk: Walk = { root: schema, problems: [], schemas: new Map(), references: [] };
  walkSchema(walk, schema, path);
  for (const { to, path: at } of walk.references) {
    const target = resolveReference(schema, to);
    if (typeof target === "boolean" || (isRecord(target) && walk.schemas.has(target))) continue;
    walk.problems.push({ path: at, text: `names no schema of this one: ${shown(to)}` });
  }
  if (walk.problems.length === 0) walk.problems.push(...endlessReferences(walk));
  return walk.problems;
}

function walkSchema(walk: Walk, schema: unknown, path: Path): void {
  if (typeof schema === "boolean") return;
  if (!isRecord(schema)) {
    walk.problems.push({ path, text: `must be a schema, not ${shown(schema)}` });
    return;
  }
  walk.schemas.set(schema, path);
  for (const [name, value] of Object.entries(schema)) {
    const form = keywords.get(name);
    if (form !== undefined) walkKeyword(walk, { schema, form, value, path: [...path, name] });
    else if (!name.startsWith("x-")) walk.problems.push({ path: [...path, name], text: unknownWords(name) });
  }
}

function unknownWords(name: string): string {
  const instead: Record<string, string> = {
    additionalItems: "items says it, beside prefixItems",
    dependencies: "dependentRequired and dependentSchemas say it",
    nullable: `say type: [..., "null"]`,
  };
  return `is not a keyword that can be checked${Object.hasOwn(instead, name) ? `; ${instead[name]}` : ""}`;
}

interface Keyword {
  readonly schema: object;
  readonly form: KeywordForm;
  readonly value: unknown;
  readonly path: Path;
}

function walkKeyword(walk: Walk, keyword: Keyword): void {
  const { schema, form, value, path } = keyword;
  switch (form) {
    case "schema":
      walkSchema(walk, value, path);
      return;
    case "schemas":
      if (Array.isArray(value) && value.length > 0) {
        for (const [index, one] of value.entries()) walkSchema(walk, one, [...path, index]);
      } else walk.problems.push({ path, text: `must be a list of schemas, not ${emptyOr(value)}` });
      return;
    case "schemasByName":
    case "schemasByPattern":
      walkNamedSchemas(walk, keyword);
      return;
    case "reference":
      if (typeof value === "string") walk.references.push({ from: schema, to: value, path });
      else walk.problems.push({ path, text: `must be text, not ${shown(value)}` });
      return;
    case "dialect":
    case "identity":
      if (schema !== walk.root) walk.problems.push({ path, text: "belongs to the whole schema alone" });
      else if (form === "dialect" && !dialects.has(String(value))) {
        walk.problems.push({ path, text: `must be a draft of JSON Schema from 7 on, not ${shown(value)}` });
      }
      return;
    default: {
      const demand = demandOf(form, value);
      if (demand !== undefined)
        walk.problems.push({ path, text: `must be ${demand}, not ${emptyOr(value)}` });
    }
  }
}

function walkNamedSchemas(walk: Walk, { form, value, path }: Keyword): void {
  if (!isRecord(value)) {
    walk.problems.push({ path, text: `must be a mapping, not ${shown(value)}` });
    return;
  }
  for (const [name, one] of Object.entries(value)) {
    if (form === "schemasByPattern" && !isPattern(name)) {
      walk.problems.push({ path: [...path, name], text: "is named by no regular expression" });
    }
    walkSchema(walk, one, [...path, name]);
  }
}

function emptyOr(value: unknown): string {
  return Array.isArray(value) && value.length === 0 ? "an empty list" : shown(value);
}

/** What the value must be; undefined where it is. */
function demandOf(form: KeywordForm, value: unknown): string | undefined {
  const unless = (fits: boolean, demand: string) => (fits ? undefined : demand);
  switch (form) {
    case "names":
      return unless(isNames(value), "a list of different names");
    case "namesByName":
      return unless(isRecord(value) && Object.values(value).every(isNames), "lists of names by name");
    case "types":
      return unless(isTypes(value), `one or several of ${[...typeNames].join(", ")}`);
    case "values":
      return unless(Array.isArray(value) && value.length > 0, "a list of values");
    case "number":
      return unless(Number.isFinite(value), "a number");
    case "step":
      return unless(Number.isFinite(value) && Number(value) > 0, "a number above 0");
    case "size":
    case "count":
      return unless(Number.isSafeInteger(value) && Number(value) >= 0, "a whole number from 0 on");
    case "flag":
      return unless(typeof value === "boolean", "true or false");
    case "pattern":
      return unless(
        typeof value === "string" && isPattern(value),
        "a regular expression that takes the flag u",
      );
    case "format":
      return unless(formatNames.includes(value as string), `one of ${formatNames.join(", ")}`);
    case "text":
      return unless(typeof value === "string", "text");
    default:
      return undefined;
  }
}

function isNames(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((name) => typeof name === "string") &&
    new Set(value).size === value.length
  );
}

function isTypes(value: unknown): boolean {
  const names: unknown[] = Array.isArray(value) ? value : [value];
  return names.length > 0 && isNames(names) && names.every((name) => typeNames.has(name as string));
}

function isPattern(text: string): boolean {
  try {
    void new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}

/** So many schemas may one lead to for the very same value. */
const inPlaceMax = 500;

/** A schema that refers to itself for the very same value would never be done, and one that leads on and on hardly. */
function endlessReferences({ root, schemas, references }: Walk): Problem[] {
  const targets = new Map<object, { to: unknown; path: Path }>();
  for (const { from, to, path } of references) targets.set(from, { to: resolveReference(root, to), path });
  const done = new Set<unknown>();
  const open = new Set<unknown>();
  const visit = (schema: unknown): Path | undefined => {
    if (!isRecord(schema) || done.has(schema)) return undefined;
    if (open.has(schema) || open.size > inPlaceMax) return schemas.get(schema) ?? [];
    open.add(schema);
    let found: Path | undefined;
    for (const next of [targets.get(schema)?.to, ...inPlaceOf(schema)]) found ??= visit(next);
    open.delete(schema);
    done.add(schema);
    return found;
  };
  for (const schema of schemas.keys()) {
    const found = visit(schema);
    if (found !== undefined) return [{ path: found, text: "refers to itself, or on and on, without an end" }];
  }
  return [];
}

function inPlaceOf(schema: { [name: string]: unknown }): unknown[] {
  return inPlaceKeywords.flatMap((name): unknown[] => {
    const value = Object.hasOwn(schema, name) ? schema[name] : undefined;
    if (name === "dependentSchemas") return isRecord(value) ? Object.values(value) : [];
    return Array.isArray(value) ? value : [value];
  });
}
