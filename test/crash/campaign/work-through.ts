import { nameOf } from "./catalog.ts";
import { Finding } from "./finding.ts";
import { AddressError, Skipped, type Case, type Plan } from "./plan.ts";
import { addCounts, noCounts, type FoundFault, type Task, type TaskResult } from "./task.ts";

/** After so many findings the rest of a plan tells nothing new. */
const findingsMax = 5;

/** So often at most it is told how far the work is. */
const tellEveryMs = 1000;

/** What is told while the work goes on. */
export interface Progress {
  /** Called with each address before its case. */
  readonly begins?: (address: string) => void;
  /** Called with what it came to so far: with each thing that is found, and about once a second. */
  readonly tells?: (soFar: TaskResult) => void;
}

/** Tries the cases of a task, one after the other. */
export async function workThrough(
  plan: Plan,
  task: Task,
  { begins, tells }: Progress = {},
): Promise<TaskResult> {
  const start = performance.now();
  const { user, system } = process.cpuUsage();
  const endMs = start + (task.forMs ?? Infinity);
  const found: FoundFault[] = [];
  const skipped: string[] = [];
  let counts = noCounts;
  let cases = 0;
  let toldMs = start;
  const soFar = (): TaskResult => {
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
  };
  const tell = (isNew: boolean): void => {
    if (!isNew && performance.now() - toldMs < tellEveryMs) return;
    toldMs = performance.now();
    tells?.(soFar());
  };
  const failed = (address: string, error: unknown): void => {
    if (error instanceof AddressError) throw error;
    if (error instanceof Skipped) skipped.push(error.message);
    else found.push(foundBy(plan, address, error));
  };
  try {
    for await (const one of casesOf(plan, task)) {
      begins?.(one.address);
      cases++;
      const before = found.length;
      try {
        counts = addCounts(counts, await one.run());
      } catch (error) {
        failed(one.address, error);
      }
      tell(found.length > before);
      if (found.length >= findingsMax || performance.now() > endMs) break;
    }
  } catch (error) {
    // The scenario itself did not come to its end, without any mishap.
    failed("", error);
  }
  await plan.end?.();
  return soFar();
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
