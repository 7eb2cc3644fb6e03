import type { Problem } from "./problems.ts";

/**
 * JSON Schema, as it is asked for here. The package that knows it compiles schemas to code, and is given by the room that
 * may load it.
 */
export interface SchemaChecker {
  /**
   * Everything that is wrong with a schema, by paths into it; nothing where answers can be held to the whole of it. A
   * schema in which anything would be passed over must be refused.
   */
  problemsOfSchema(schema: unknown): Problem[];
  /** What is wrong with a value by a schema that nothing is wrong with; nothing where it satisfies it. Never throws. */
  problemsOfValue(schema: unknown, value: unknown): Problem[];
}
