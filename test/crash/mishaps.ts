/**
 * What befalls the processes of a machine in memory, one thing after the other, while whoever is left goes on:
 *
 *     worker | supervisor | both | command    these die, alone
 *     kill                                    all processes die
 *     power | power-odd | power-even          a power cut; nothing, or every other change, of what was not synced is left
 *     stop | stop-worker                      the supervisor, or the worker, stops, as one does that gets no processor …
 *     go-on                                   … until then, or for some time
 *     break                                   the connections of the supervisors break
 *     fail | fail-after                       the change fails, or it happens and is told as failed; what a worker asks of
 *                                             the disk is left alone
 *     sway                                    from the start, each effect comes a little later, by chance
 */
export type MishapKind = (typeof mishapKinds)[number];

export const mishapKinds = [
  "worker",
  "supervisor",
  "both",
  "command",
  "kill",
  "power",
  "power-odd",
  "power-even",
  "stop",
  "stop-worker",
  "go-on",
  "break",
  "fail",
  "fail-after",
  "sway",
] as const;

const doubtful: readonly MishapKind[] = ["supervisor", "both", "kill", "power", "power-odd", "power-even"];

/** True where a supervisor died, or the disk failed it: without that nobody may doubt how a command ended. */
export function mayDoubtCommands(happened: ReadonlySet<MishapKind>): boolean {
  return isFailing(happened) || doubtful.some((kind) => happened.has(kind));
}

/** True where something was told as failed. */
export function isFailing(happened: ReadonlySet<MishapKind>): boolean {
  return happened.has("fail") || happened.has("fail-after");
}

/** True where a later change may have outlived an earlier one of the same folder. */
export function isReordering(happened: ReadonlySet<MishapKind>): boolean {
  return happened.has("power-odd") || happened.has("power-even");
}

/** One of them, before the `at`-th change of the machine (from 0) since the one before; of `sway`, its seed. */
export interface Mishap {
  readonly kind: MishapKind;
  readonly at: number;
}

/** `worker@12,stop@3` and back. */
export function addressOf(mishaps: readonly Mishap[]): string {
  return mishaps.map(({ kind, at }) => `${kind}@${at}`).join(",");
}

/** Throws where the text is none. */
export function mishapsAt(address: string): Mishap[] {
  return address.split(",").map((text) => {
    const [name, at = ""] = text.split("@");
    const kind = mishapKinds.find((one) => one === name);
    if (kind === undefined || !/^\d+$/.test(at)) throw new Error(`${text} is no mishap`);
    return { kind, at: Number(at) };
  });
}
