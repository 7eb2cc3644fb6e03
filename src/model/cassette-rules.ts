import { isRecord } from "./values.ts";

/** What of a cassette's turn contradicts itself, though each member by itself is as its schema wants it. */

/** What is wrong at one place of a turn. */
export interface TurnFault {
  /** Where, from the turn on. */
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

type Mapping = { readonly [key: string]: unknown };

/** Everything in a turn that cannot stand together. */
export function contradictionsOf(turn: unknown): TurnFault[] {
  if (!isRecord(turn)) return [];
  const { error } = turn;
  const beside = ["reasoning", "text", "calls"].filter((name) => name in turn && "parts" in turn);
  return [
    ...beside.map((name) => ({ path: [name], text: "cannot stand beside parts" })),
    ...faultsOfList(turn["calls"], ["calls"], faultsOfArguments),
    ...faultsOfList(turn["parts"], ["parts"], faultsOfPart),
    ...faultsOfList(isRecord(error) ? error["parts"] : [], ["error", "parts"], faultsOfPiece),
  ];
}

function faultsOfList(
  list: unknown,
  path: readonly PropertyKey[],
  faultsOf: (item: Mapping) => string[],
): TurnFault[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item, index) =>
    isRecord(item) ? faultsOf(item).map((text) => ({ path: [...path, index], text })) : [],
  );
}

function faultsOfPiece(piece: Mapping): string[] {
  return "text" in piece === "reasoning" in piece ? ["must have one of text and reasoning"] : [];
}

function faultsOfArguments(call: Mapping): string[] {
  return "args" in call && "argsText" in call ? ["has both args and argsText"] : [];
}

function faultsOfPart(part: Mapping): string[] {
  const kinds = ["text", "reasoning", "tool"].filter((name) => name in part);
  const [kind] = kinds;
  if (kinds.length !== 1) return ["must have one of text, reasoning and tool"];
  const foreign = [
    ...(kind === "reasoning" ? [] : ["signature"]),
    ...(kind === "tool" ? [] : ["args", "argsText"]),
  ].filter((name) => name in part);
  return [
    ...foreign.map((name) => `has ${name}, which does not belong to ${kind}`),
    ...(kind === "tool" ? faultsOfArguments(part) : []),
  ];
}
