import { createContext, Script } from "node:vm";

/** How work under a limit ended. */
export type LimitedWork<T> = { readonly ended: true; readonly value: T } | { readonly ended: false };

/** Runs `work` and stops it after `limitMs`. What `work` throws is thrown; what it changed before the stop stays changed. */
export type TimeLimit = <T>(limitMs: number, work: () => T) => LimitedWork<T>;

/**
 * Starts a {@link TimeLimit}: the only way to stop synchronous code, such as a regular expression that backtracks for
 * ever. The limit is enforced by the engine, also inside one call of `RegExp.exec`. Not for untrusted code: this is no sandbox.
 */
export function startTimeLimit(): TimeLimit {
  const shared: { work?: () => unknown } = {};
  const context = createContext(shared);
  const script = new Script("work()");
  return <T>(limitMs: number, work: () => T): LimitedWork<T> => {
    let value: { result: T } | undefined;
    shared.work = () => {
      value = { result: work() };
    };
    try {
      script.runInContext(context, { timeout: limitMs });
    } catch (error) {
      if (isTimeout(error)) return { ended: false };
      throw error;
    }
    if (value === undefined) return { ended: false };
    return { ended: true, value: value.result };
  };
}

/** By its code: the error may come from the context, whose `Error` is another one. */
function isTimeout(error: unknown): boolean {
  const isObject = typeof error === "object" && error !== null;
  return isObject && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
