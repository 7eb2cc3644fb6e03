export { execTool, type ExecToolOptions } from "./tool.ts";
export type { SupervisorProgram, WorkerHost } from "./connection.ts";
export type { SupervisorHost } from "./start.ts";
export { runSupervisor, type SupervisorOptions } from "./supervisor.ts";
