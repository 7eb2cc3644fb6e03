export * from "./context.ts";
export * from "./create-session.ts";
export * from "./maintain.ts";
export * from "./read-session.ts";
export * from "./resolve.ts";
export * from "./resume.ts";
export * from "./run-task.ts";
export * from "./work.ts";
