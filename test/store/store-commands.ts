/** What may happen to a store, as numbers: each number is one command, small ones are simple ones. */

/** The processes. */
export type Name = "a" | "b";

/** What happens in the middle of an append, at its n-th write or sync of the file. */
export interface Mishap {
  readonly kind: "dies" | "write is short" | "disk is full" | "sync fails" | "nothing helps";
  readonly at: number;
}

/** One thing that happens. */
export type StoreCommand =
  | { readonly do: "create"; readonly by: Name; readonly blobs: number }
  | { readonly do: "hold"; readonly by: Name; readonly accept: boolean }
  | {
      readonly do: "append";
      readonly by: Name;
      readonly id: number;
      readonly content: number;
      readonly blob: boolean;
      readonly mishap: Mishap | undefined;
    }
  | { readonly do: "admit"; readonly by: Name; readonly mishap: Mishap | undefined }
  | { readonly do: "release"; readonly by: Name; readonly waits: boolean }
  | { readonly do: "abandon" | "kill" | "repair" | "adopt"; readonly by: Name }
  | { readonly do: "kill all" | "copy" | "delete" | "restore" }
  | { readonly do: "power cut"; readonly fates: number }
  | { readonly do: "roll back"; readonly lines: number };

const mishaps: readonly Mishap["kind"][] = [
  "dies",
  "write is short",
  "disk is full",
  "sync fails",
  "nothing helps",
];

/** How often each of them comes. */
const weights = {
  hold: 12,
  append: 16,
  admit: 12,
  release: 6,
  create: 2,
  abandon: 2,
  kill: 3,
  repair: 5,
  "roll back": 3,
  "power cut": 3,
  "kill all": 2,
  adopt: 4,
  copy: 1,
  restore: 3,
  delete: 1,
} as const;

const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);

/** The command that a number stands for. */
export function commandOf(number: number): StoreCommand {
  let rest = number;
  const take = (below: number): number => {
    const taken = rest % below;
    rest = Math.floor(rest / below);
    return taken;
  };
  let left = take(total);
  const chosen = Object.entries(weights).find(([, weight]) => (left -= weight) < 0)?.[0] ?? "hold";
  const by = take(2) === 0 ? "a" : "b";
  const mishap = (): Mishap | undefined => {
    const kind = mishaps[take(10)];
    return kind === undefined ? undefined : { kind, at: take(3) };
  };
  switch (chosen as keyof typeof weights) {
    case "create":
      return { do: "create", by, blobs: take(3) };
    case "hold":
      return { do: "hold", by, accept: take(4) === 3 };
    case "append":
      return { do: "append", by, id: take(12), content: take(2), blob: take(4) === 3, mishap: mishap() };
    case "admit":
      return { do: "admit", by, mishap: mishap() };
    case "release":
      return { do: "release", by, waits: take(4) === 3 };
    case "power cut":
      return { do: "power cut", fates: take(3 ** 10) };
    case "roll back":
      return { do: "roll back", lines: take(6) };
    default:
      return { do: chosen, by } as StoreCommand;
  }
}

/** Numbers up to this one stand for all commands. */
export const commandsMax = 2 ** 31;
