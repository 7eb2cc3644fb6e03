export type { SupervisorProgram } from "./connection.ts";
export { runSupervisor } from "./supervisor.ts";
export { execTool, type ExecToolOptions } from "./tool.ts";
