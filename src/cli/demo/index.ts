export type { DemoOptions } from "./run-demo.ts";
export { runDemo } from "./run-demo.ts";
