export * from "./clock.ts";
export * from "./disk.ts";
export * from "./hash.ts";
export * from "./host.ts";
export * from "./ids.ts";
export * from "./locks.ts";
export * from "./processes.ts";
export * from "./sockets.ts";
