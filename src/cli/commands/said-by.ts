import { HoldfastError } from "../../model/errors.ts";

/** The name that `--by` gives, as a member of a request. Throws `usage` where it names nobody. */
export function saidBy({ by }: { readonly by?: string }): { readonly by?: string } {
  if (by === undefined) return {};
  if (by.trim() !== "") return { by };
  throw new HoldfastError("usage", "--by names nobody", {
    hint: "Leave it out for the user of the operating system.",
  });
}
