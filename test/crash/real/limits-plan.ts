import { promised } from "../campaign/finding.ts";
import type { Case, Counts, Extent, Plan } from "../campaign/plan.ts";
import { CliPlay, storageRefusals } from "./cli-play.ts";
import { draw } from "./draw.ts";
import { Room } from "./room.ts";

/** A limit of the shell: open files (`n`), or kibibytes of a file (`f`). */
interface Limit {
  readonly of: "n" | "f";
  readonly at: number;
}

/** From where Node itself does not start to where nothing is missing any more. */
const ranges = { n: [16, 64], f: [1, 48] } as const;

/** The built program runs a command and an edit where few files may be open, or none may grow beyond a size. */
export function limitsPlan(): Plan {
  const room = new Room();
  const caseOf = (limit: Limit): Case => ({
    address: `${limit.of}.${limit.at}`,
    run: () => runUnder(room, limit),
  });
  return {
    scenario: "few-files",
    mishap: "ulimit",
    isReal: true,
    async *cases(extent) {
      for (const limit of limitsOf(extent)) yield caseOf(limit);
    },
    caseAt: async (address) => {
      const [of, at] = address.split(".");
      return caseOf({ of: of === "f" ? "f" : "n", at: Number(at) });
    },
    end: () => room.end(),
  };
}

function* limitsOf({ seed, size }: Extent): Generator<Limit> {
  if (size === "small") {
    yield { of: "n", at: 24 };
    yield { of: "f", at: 5 };
    return;
  }
  for (const of of ["n", "f"] as const) {
    for (let at: number = ranges[of][0]; at <= ranges[of][1]; at++) yield { of, at };
  }
  for (let round = 0; size === "endless"; round++) {
    const of = draw(2, seed, "of", round) === 0 ? "n" : "f";
    yield { of, at: ranges[of][0] + draw(ranges[of][1] - ranges[of][0], seed, "at", round) };
  }
}

async function runUnder(room: Room, { of, at }: Limit): Promise<Partial<Counts>> {
  const play = new CliPlay(room);
  try {
    const end = await play.call({
      file: "bash",
      args: ["-c", `ulimit -${of} ${at}; exec "$@"`, "bash", ...play.words],
    });
    const failure = play.failureOf(end);
    if (failure !== undefined) {
      promised(storageRefusals.has(failure), "untyped", () => `it is told as ${failure}: ${end.stderr}`);
    }
    await play.judge(true);
    return { faults: end.code === 0 ? 0 : 1 };
  } finally {
    await play.end();
  }
}
