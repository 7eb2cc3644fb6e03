import { isDiskError, readAt } from "../../../host/index.ts";
import type { Proof } from "../../../model/agent.ts";
import type { Json } from "../../../model/values.ts";
import { linkClaim, readClaim, type Claim, type FoundClaim } from "./claim.ts";
import { connectClaimant, followToEnd, type Following } from "./follow.ts";
import { survivorsMax } from "./command.ts";
import { operationVariable } from "./environment.ts";
import { tailOf } from "./excerpt.ts";
import { resultOf } from "./result.ts";
import { spoolFiles } from "./spool.ts";
import { readStatus } from "./status.ts";

const tailBytesMax = 4096;
const commandCharactersMax = 300;

/**
 * What happened to a command whose worker died, in this order:
 *
 *     no claim → link the void one    not executed, and never will be
 *     claim void                      not executed, unless something shows that it began: a claim was taken away then
 *     a valid status                  known
 *     `alive` locked                  wait on, then known
 *     else                            unknown
 *
 * Process ids, start times and boot ids are shown and decide nothing.
 */
export async function proveCommand(following: Following): Promise<Proof> {
  const { disk } = following.host;
  const { spool } = following.run.place;
  let found = await readClaim(disk, spool);
  if (found.state === "absent") {
    // The preparation made the folder durable: whoever took it away may have taken a claim with it.
    if (!(await linkVoid(following))) return unknown(following, found, "The command's folder is gone.");
    found = await readClaim(disk, spool);
  }
  if (found.state === "claimed" && found.claim.kind === "void") {
    // Whoever linked it may have died before its name was durable.
    await disk.syncDirectory(spool);
    return (
      (await contradictionOf(following, found)) ?? { proven: "not_executed", details: { claim: found.claim } }
    );
  }
  return proveClaimed(following, found);
}

/** What a void claim cannot explain: the folder is the user's own, and a command may have removed its claim from it. */
async function contradictionOf(following: Following, found: FoundClaim): Promise<Proof | undefined> {
  const { host, run, nonce } = following;
  const { operation, spool } = run.place;
  const files = spoolFiles(spool);
  const status = await readStatus(host.disk, spool, { operation, nonce });
  if (status.state === "ended") {
    const result = await resultOf(host.disk, spool, status.status);
    return { proven: "known", result: { ...result, details: { ...result.details, proof: "status" } } };
  }
  const output = await host.disk.stat(files.output);
  // Whoever starts a command makes the status before the output, and neither holds a byte before its claim.
  const began =
    output !== undefined && (output.size > 0 || (await host.disk.stat(files.status)) === undefined);
  if (began)
    return await unknown(following, found, "It began, and its claim is gone: somebody took it away.");
  const alive = await host.processes.findByEnvironment(operationVariable, operation);
  return alive.length === 0 ? undefined : await unknown(following, found, "It runs, and its claim is gone.");
}

/** Makes sure that there is a claim, ours or another; false where there is no folder. */
async function linkVoid({ host, run, nonce }: Following): Promise<boolean> {
  const { pid, startTime, bootId } = host.processes.self;
  const { operation, spool } = run.place;
  const claim: Claim = { kind: "void", v: 1, operation, nonce, pid, startTime, bootId };
  try {
    await linkClaim(host.disk, spool, claim, Buffer.from(host.ids.random(8)).toString("hex"));
    return true;
  } catch (error) {
    if (isDiskError(error, "ENOENT")) return false;
    throw error;
  }
}

async function proveClaimed(following: Following, found: FoundClaim): Promise<Proof> {
  const { host, run } = following;
  const connection = await connectClaimant(following);
  try {
    const ending = await followToEnd({ ...following, connection });
    if (ending.state === "lost") return await unknown(following, found, ending.reason);
    const result = await resultOf(host.disk, run.place.spool, ending.status);
    return { proven: "known", result: { ...result, details: { ...result.details, proof: "status" } } };
  } finally {
    connection?.close();
  }
}

async function unknown(following: Following, found: FoundClaim, reason: string): Promise<Proof> {
  const { host, run, nonce } = following;
  const { operation, spool } = run.place;
  const status = await readStatus(host.disk, spool, { operation, nonce });
  const survivors = await host.processes.findByEnvironment(operationVariable, operation);
  const listed = survivors.slice(0, survivorsMax);
  const evidence: Json = {
    claim: found.state === "claimed" ? found.claim : found.state === "unreadable" ? found.text : null,
    supervisor: supervisorEvidence(following, found),
    status: status.state,
    output: await outputEvidence(following),
    survivors: listed.map(({ pid, command }) => ({ pid, command: command.slice(0, commandCharactersMax) })),
    ...(survivors.length > listed.length && { survivorsUnlisted: survivors.length - listed.length }),
  };
  return { proven: "unknown", reason, evidence };
}

function supervisorEvidence({ host }: Following, found: FoundClaim): Json {
  if (found.state !== "claimed") return null;
  const { pid, startTime, bootId } = found.claim;
  const isSameBoot = bootId === host.processes.self.bootId;
  return { pid, startTime, bootId, isSameBoot, pidExists: isSameBoot && host.processes.isAlive(pid) };
}

/** The end of what was kept; it is redacted already. */
async function outputEvidence({ host, run }: Following): Promise<Json> {
  const { output } = spoolFiles(run.place.spool);
  const stat = await host.disk.stat(output);
  if (stat === undefined) return null;
  const file = await host.disk.open(output, "read");
  try {
    const from = Math.max(0, stat.size - tailBytesMax - 1);
    const tail = tailOf(await readAt(file, from, tailBytesMax + 1), tailBytesMax);
    return { bytes: stat.size, tail: new TextDecoder().decode(tail) };
  } finally {
    await file.close();
  }
}
