import { isRecord } from "../../../model/values.ts";
import { parseJson } from "./json.ts";

/** Reading what packages and the HTTP client throw. Nothing here trusts its shape. */

/** An object's members; errors have them too. */
export type Members = Readonly<Record<string, unknown>>;

/** The members of a value, where it has any. */
export function membersOf(value: unknown): Members | undefined {
  return isRecord(value) ? value : undefined;
}

/** An error and its causes, outermost first. */
export function chainOf(error: unknown): Members[] {
  const links: Members[] = [];
  let next: unknown = error;
  for (let link = membersOf(next); link !== undefined && links.length < 8; link = membersOf(next)) {
    links.push(link);
    const several = link["errors"];
    next = Array.isArray(several) ? several[0] : link["cause"];
  }
  return links;
}

/** The words of the innermost cause that has any: it says what really happened. */
export function wordsOf(error: unknown): string {
  if (typeof error === "string") return error;
  const words = chainOf(error).flatMap(({ message, code }) => {
    if (typeof message === "string" && message !== "") return [message];
    return typeof code === "string" ? [code] : [];
  });
  return words.at(-1) ?? "no reason was given";
}

/** What a package kept of what it could not take, as text. */
export function bodyOf(error: unknown): string {
  const body = membersOf(error)?.["responseBody"];
  return typeof body === "string" ? body : "";
}

/** Providers wrap an error's members in `error`, or `response.error`. */
export function innermost(value: unknown): Members | undefined {
  const outer = membersOf(value);
  const inner = membersOf(outer?.["error"]) ?? membersOf(membersOf(outer?.["response"])?.["error"]);
  return inner ?? outer;
}

/** What the text of a refusal says to people; pages of markup say nothing. */
export function saidIn(body: string): string | undefined {
  const value = parseJson(body);
  const inner = innermost(value);
  const outer = membersOf(value);
  for (const said of [inner?.["message"], outer?.["error"], outer?.["detail"]]) {
    if (typeof said === "string" && said !== "") return said;
  }
  const text = body.trim();
  return text === "" || text.startsWith("<") ? undefined : text;
}
