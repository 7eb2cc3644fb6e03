import * as z from "zod/mini";

/** What a person may bound a run to. */

/** How much of something a run may use: at least one. */
export const Budget = z.int().check(z.minimum(1));

/** Milliseconds that a run may take; a timer takes no more. */
export const BudgetMs = z.int().check(z.minimum(1), z.maximum(2 ** 31 - 1));
