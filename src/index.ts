/** Holdfast as a library: the engine's verbs on a store, and the outside as it really is. */

export * from "./engine/index.ts";
export { nodeHost } from "./host/index.ts";
export type { Host } from "./host/index.ts";
export { HoldfastError, exitCodeOf, isHoldfastError } from "./model/errors.ts";
export { openEngine } from "./open.ts";
export type { CallLimits, OpenOptions } from "./open.ts";
