export { runDemo } from "./run-demo.ts";
