import type { Host } from "../../../host/index.ts";

/** What the file tools use of the outside. */
export type FileHost = Pick<Host, "disk" | "clock">;
