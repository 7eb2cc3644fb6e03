import type { Json } from "../../model/values.ts";
import { isRecord } from "../../model/values.ts";
import { oneLine } from "./clean.ts";

/** What the details of a known operation say to people: how a command ended, and what proved it after a death. */

const proofs: Readonly<Record<string, string>> = {
  status: "adopted after an interruption: its own record tells how it ended",
  void: "proven after an interruption: it was never started, and now never will be",
  identity: "proven after an interruption: the very file that was prepared is in place",
  content: "proven after an interruption: the file has the new content",
  target_absent: "proven after an interruption: the file is gone",
  trash: "proven after an interruption: the file is in the trash",
  staged_file_present: "proven after an interruption: what was prepared was never put in place",
  target_present: "proven after an interruption: the file is still there",
};

/** How a command ended; undefined where nothing tells. */
export function endWords(details: Json | undefined): string | undefined {
  if (!isRecord(details)) return undefined;
  const { exitCode, signal, notStarted, stopped } = details;
  const end =
    typeof exitCode === "number"
      ? `exit code ${exitCode}`
      : typeof signal === "string"
        ? `ended by ${oneLine(signal)}`
        : typeof notStarted === "string"
          ? `not started: ${oneLine(notStarted)}`
          : undefined;
  const words = [end, typeof stopped === "string" ? `stopped: ${oneLine(stopped)}` : undefined];
  const said = words.filter((word) => word !== undefined);
  return said.length === 0 ? undefined : said.join(", ");
}

/** What proved the outcome after a death; undefined where it was simply seen. */
export function proofWords(details: Json | undefined): string | undefined {
  if (!isRecord(details)) return undefined;
  const { proof, claim, proven_by: by } = details;
  const kind = isRecord(claim) ? claim["kind"] : undefined;
  const name = [proof, kind, by].find((one) => typeof one === "string");
  if (typeof name !== "string") return undefined;
  return proofs[name] ?? `proven after an interruption: ${oneLine(name)}`;
}
