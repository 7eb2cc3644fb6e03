export { runSupervisor } from "./supervisor.ts";
export { execTool, type ExecToolOptions } from "./tool.ts";
