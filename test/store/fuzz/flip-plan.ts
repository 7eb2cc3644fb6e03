import { scenes } from "../../corpus/scenes.ts";
import { bytesOf, linesOf, type SessionFiles, withFiles } from "../../corpus/session-files.ts";
import { readEnvelope } from "../../../src/store/line.ts";
import { Finding } from "../../crash/campaign/finding.ts";
import type { Case, Extent, Plan } from "../../crash/campaign/plan.ts";
import { examineLog } from "./log-exam.ts";
import { examineQueue } from "./queue-exam.ts";

/** Every so manyth byte. */
const steps: Readonly<Record<Extent["size"], number>> = { small: 149, full: 1, endless: 0 };

const files = ["log.jsonl", "queue.jsonl"] as const;
const masks = [0x01, 0x20, 0x80, 0xff];

/**
 * Each byte of each line of a session with every kind of fact, changed in one way or another. An address is
 * `<file>.<offset>.<mask>`.
 */
export const flipPlan: Plan = {
  scenario: "each byte of every kind of fact",
  mishap: "flip",
  cases: async function* ({ seed, size }) {
    const step = steps[size];
    if (step === 0) return;
    const session = await made();
    for (const file of files) {
      for (let offset = seed % step; offset < bytesOf(session, file).length; offset += step) {
        yield await caseAt(`${file}.${offset}.${masks[(seed + offset) % masks.length] ?? 1}`);
      }
    }
  },
  caseAt,
};

let session: Promise<SessionFiles> | undefined;

function made(): Promise<SessionFiles> {
  session ??= scenes.find(({ name }) => name === "every-kind")?.make();
  if (session === undefined) throw new Error("there is no session with every kind of fact");
  return session;
}

async function caseAt(address: string): Promise<Case> {
  const [, file, offset, mask] = /^(log\.jsonl|queue\.jsonl)\.(\d+)\.(\d+)$/.exec(address) ?? [];
  const whole = await made();
  const bytes = bytesOf(whole, file ?? "");
  const at = Number(offset);
  if (file === undefined || !(at < bytes.length)) throw new Error(`there is no case ${address}`);
  bytes[at] = (bytes[at] ?? 0) ^ Number(mask);
  const lines = files.flatMap((name) => linesOf(bytesOf(whole, name)));
  const known = { sums: new Set(lines.flatMap((line) => readEnvelope(line)?.sum ?? [])), isForged: false };
  const changed = withFiles(whole, { [file]: bytes });
  return {
    address,
    run: async () => {
      try {
        if (file === "queue.jsonl") await examineQueue(changed, known);
        else await examineLog(changed, known, at % 2 === 0 ? "holding" : "repair");
      } catch (error) {
        throw error instanceof Finding ? error : new Finding("untyped", String(error), error);
      }
      return { histories: 1 };
    },
  };
}
