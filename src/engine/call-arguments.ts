import type { Json } from "../model/values.ts";
import { isDeep, mapTexts } from "./json-texts.ts";

/** Arguments of a call as a model wrote them, made fit to be stored, shown and sent back. */
export interface CallArguments {
  /**
   * What is shown and sent back: secrets masked, lone surrogates replaced, since providers refuse a conversation with
   * one. The text itself where it is no object, or one that is too deep to be written again.
   */
  readonly shown: Json;
  /** What is executed, where `shown` written out is not that very text: well-formed, secrets masked. */
  readonly raw?: string;
  /** True where a secret was masked, so that only a process that has the text itself can execute it. */
  readonly redacted: boolean;
}

/** Reads the text of a call's arguments; an empty one means none. */
export function readArguments(argsText: string, redact: (text: string) => string): CallArguments {
  const text = escapeSurrogates(argsText);
  const value = parseObject(text);
  const masked = maskText(text, redact);
  if (value === undefined || isDeep(value)) {
    return {
      shown: masked ?? "[redacted]",
      ...(masked !== undefined && { raw: masked }),
      redacted: masked !== text,
    };
  }
  const maskedValue = mapTexts(value, redact);
  const redacted = masked !== text || JSON.stringify(maskedValue) !== JSON.stringify(value);
  const shown = mapTexts(maskedValue, (one) => one.toWellFormed());
  const says = masked !== undefined && text.trim() !== "" && JSON.stringify(shown) !== masked;
  return { shown, ...(says && { raw: masked }), redacted };
}

/** The arguments in a text; undefined where it holds no JSON object. */
function parseObject(text: string): { [key: string]: Json } | undefined {
  if (text.trim() === "") return {};
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * The text with its secrets masked. A secret may also stand there with escapes, which is seen only in the value: then
 * there is no text that could be kept.
 */
function maskText(text: string, redact: (text: string) => string): string | undefined {
  const masked = redact(text);
  let hidden = false;
  const value = parseJson(masked);
  if (value !== undefined) {
    mapTexts(value, (one) => {
      hidden ||= redact(one) !== one;
      return one;
    });
  }
  return hidden ? undefined : masked;
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Lone surrogates have no UTF-8; inside a JSON string the escape means the same. */
function escapeSurrogates(text: string): string {
  if (text.isWellFormed()) return text;
  return text.replaceAll(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}
