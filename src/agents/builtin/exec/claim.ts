import * as z from "zod/mini";
import { isDiskError, type Disk, readBeginning, writeAll } from "../../../host/index.ts";
import { spoolFiles } from "./spool.ts";

const claimBytesMax = 16 * 1024;

const claimant = {
  v: z.literal(1),
  operation: z.string(),
  /** The start's nonce, from the operation's evidence. */
  nonce: z.string(),
  /** Who claimed. Shown in evidence; decides nothing. */
  pid: z.number(),
  startTime: z.string(),
  bootId: z.string(),
};

/** Who may start a command: the one supervisor that is named here, or nobody. */
export const Claim = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("start"),
    ...claimant,
    /** Where that supervisor listens, and the nonce by which it is told from another one. */
    socket: z.string(),
    supervisor: z.string(),
  }),
  /** A recovery made sure that the command never starts. */
  z.object({ kind: z.literal("void"), ...claimant }),
]);
export type Claim = z.infer<typeof Claim>;

/** A claim by which a supervisor may start the command. */
export type StartClaim = Extract<Claim, { kind: "start" }>;

/** What stands in a spool folder. */
export type FoundClaim =
  | { state: "absent" }
  /** Somebody claimed, and what it says cannot be read. */
  | { state: "unreadable"; text: string }
  | { state: "claimed"; claim: Claim };

/** Reads the claim of a folder. */
export async function readClaim(disk: Disk, folder: string): Promise<FoundClaim> {
  const bytes = await readBeginning(disk, spoolFiles(folder).claim, claimBytesMax);
  if (bytes === undefined) return { state: "absent" };
  const text = new TextDecoder().decode(bytes);
  try {
    return { state: "claimed", claim: Claim.parse(JSON.parse(text)) };
  } catch {
    return { state: "unreadable", text: text.slice(0, 1000) }; // Evidence for a person; never the end of a read.
  }
}

/**
 * Claims the command, by a hard link of a synced file: it fails where a claim stands, whoever made it. Resolves to
 * false then. The caller must sync the directory before it acts on true. `unique` names the draft. Rejects with ENOENT
 * where the folder is gone.
 */
export async function linkClaim(disk: Disk, folder: string, claim: Claim, unique: string): Promise<boolean> {
  const path = spoolFiles(folder).claim;
  const draft = `${path}.${unique}`;
  await writeDraft(disk, draft, claim);
  try {
    await disk.link(draft, path);
    return true;
  } catch (error) {
    if (isDiskError(error, "EEXIST")) return false;
    throw error;
  } finally {
    // A draft that stays is removed with the folder; failing here would hide whether the link was made.
    await disk.remove(draft).catch(() => undefined);
  }
}

async function writeDraft(disk: Disk, path: string, claim: Claim): Promise<void> {
  const file = await disk.open(path, "create");
  try {
    await writeAll(file, new TextEncoder().encode(`${JSON.stringify(claim)}\n`));
    await file.sync();
  } finally {
    await file.close();
  }
}
