/**
 * Checked writes: `write` and `edit`, which put new content in the place of old so that a death at any instant leaves
 * proof of whether it happened.
 *
 *     prepare   target looked at · new content staged beside it, durable ·· then the start is recorded
 *     replace   compare → rename(staged → target) → sync directory
 *     create    absent? → directories → rename(staged → staged.go) → sync → link(staged.go → target) → sync → remove .go
 *     in_place  compare → write into the target → sync
 *
 * Invariants:
 * 1. A staged file under its first name proves that the effect never began: the one step that takes this name away
 *    is the effect's first. A recovery that finds it renames it to staged.void, so that the first of the two decides,
 *    and a recovery after that one comes to the same end. Clean-up removes it once that end is on record.
 * 2. A target that is the staged file, or holds its content, proves that it happened.
 * 3. Equality with the content before proves nothing: somebody may have put it back.
 * 4. A result is reported only once file and name are durable, by perform as by prove.
 *
 * A new file whose directories are missing is staged in the deepest directory that exists; perform makes the missing
 * ones, which may stay behind empty after a death or failure. Proof does not look at them.
 *
 * A rename gives the target a new inode: mode and owner are kept, other hard links keep the old content, access
 * control lists and extended attributes are lost. Where the owner cannot be kept, the directory cannot be written or
 * the file is a mount point, the content is written in place, and only a file that holds it proves anything; not
 * where the file has other names, which may lie outside the workspace.
 *
 * perform rejects with a DiskError only where the effect has begun and its end cannot be told: then prove decides.
 */
import type { Tool } from "../../../model/agent.ts";
import type { Json } from "../../../model/values.ts";
import type { ToolArguments } from "./arguments.ts";
import { checkedOf } from "./checked-evidence.ts";
import type { ObservedFile } from "./file-bytes.ts";
import type { FileHost } from "./file-host.ts";
import { timed } from "./pure-tool.ts";
import { cleanUpWrite } from "./write-clean-up.ts";
import { performWrite } from "./write-perform.ts";
import { prepareWrite } from "./write-prepare.ts";
import { proveWrite } from "./write-proof.ts";

/** What a file is to hold, and what the model is told about it. */
export interface PlannedContent {
  readonly bytes: Uint8Array;
  readonly summary: string;
}

/** Why there is nothing to write. */
export interface ContentProblem {
  readonly problem: string;
  readonly reason: string;
}

/** A tool that writes a file, without the writing. */
export interface ContentTool<T> {
  readonly name: "write" | "edit";
  readonly description: string;
  readonly arguments: ToolArguments<T>;
  /** Bytes of the old content up to which `plan` needs it. */
  readonly readsBytesMax: number;
  /** Pure, so that it gives the same content before the start and at the effect. */
  plan(args: T, shown: string, before: ObservedFile | undefined): PlannedContent | ContentProblem;
}

/** Makes the tool. */
export function checkedWriteTool<T extends { path: string }>(host: FileHost, content: ContentTool<T>): Tool {
  return {
    name: content.name,
    description: content.description,
    parameters: content.arguments.parameters as Json,
    effect: "checked",
    capability: content.name,
    prepare: (run) => prepareWrite(host, run, content),
    perform: (run, evidence) => timed(host, () => performWrite(host, run, content, checkedOf(evidence))),
    prove: (run, evidence) => proveWrite(host, run.place.workspace, content.name, checkedOf(evidence)),
    cleanUp: (place, evidence, args) =>
      cleanUpWrite(host, place, evidence === undefined ? undefined : checkedOf(evidence), args),
  };
}
