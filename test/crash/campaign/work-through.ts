import { nameOf } from "./catalog.ts";
import { Finding } from "./finding.ts";
import { Skipped, type Case, type Plan } from "./plan.ts";
import { addCounts, noCounts, type FoundFault, type Task, type TaskResult } from "./task.ts";

/** After so many findings the rest of a plan tells nothing new. */
const findingsMax = 5;

/** Tries the cases of a task, one after the other. `begins` is called with each address before its case. */
export async function workThrough(
  plan: Plan,
  task: Task,
  begins: (address: string) => void = () => undefined,
): Promise<TaskResult> {
  const start = performance.now();
  const { user, system } = process.cpuUsage();
  const endMs = start + (task.forMs ?? Infinity);
  const found: FoundFault[] = [];
  const skipped: string[] = [];
  let counts = noCounts;
  let cases = 0;
  const failed = (address: string, error: unknown): void => {
    if (error instanceof Skipped) skipped.push(error.message);
    else found.push(foundBy(plan, address, error));
  };
  try {
    for await (const one of casesOf(plan, task)) {
      begins(one.address);
      cases++;
      try {
        counts = addCounts(counts, await one.run());
      } catch (error) {
        failed(one.address, error);
      }
      if (found.length >= findingsMax || performance.now() > endMs) break;
    }
  } catch (error) {
    // The scenario itself did not come to its end, without any mishap.
    failed("", error);
  }
  await plan.end?.();
  const after = process.cpuUsage({ user, system });
  return {
    plan: nameOf(plan),
    cases,
    counts,
    durationMs: performance.now() - start,
    cpuMs: (after.user + after.system) / 1000,
    found,
    skipped,
  };
}

async function* casesOf(plan: Plan, { extent, at }: Task): AsyncIterable<Case> {
  if (at === undefined) yield* plan.cases(extent);
  else yield await plan.caseAt(at);
}

function foundBy(plan: Plan, address: string, error: unknown): FoundFault {
  const promise = error instanceof Finding ? error.promise : "other";
  const message = error instanceof Error ? `${error.message}` : String(error);
  return { plan: nameOf(plan), address, promise, message };
}
