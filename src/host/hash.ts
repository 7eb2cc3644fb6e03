import { createHash, hash } from "node:crypto";

/** SHA-256 of `bytes` (UTF-8 where it is a string), 64 lower-case hex digits. */
export function sha256(bytes: Uint8Array | string): string {
  return hash("sha256", bytes as Uint8Array, "hex");
}

/** A running SHA-256: `update` in order, then `digest` once. */
export interface RunningHash {
  update(bytes: Uint8Array): void;
  digest(): string;
}

/** Starts a {@link RunningHash}. */
export function startSha256(): RunningHash {
  const running = createHash("sha256");
  return { update: (bytes) => void running.update(bytes), digest: () => running.digest("hex") };
}
