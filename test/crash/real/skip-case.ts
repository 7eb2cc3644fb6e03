import { Skipped, type Case } from "../campaign/plan.ts";

/** A case that says why a plan has no other. */
export function skipCase(reason: string): Case {
  return {
    address: "skipped",
    run: () => Promise.reject(new Skipped(reason)),
  };
}
