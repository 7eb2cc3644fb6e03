import { join } from "node:path";
import type { Mishap } from "../../peers/mishap.ts";
import type { StoreStep, StoreWorkerOptions } from "../../peers/store-worker.ts";
import { RealStage } from "../../store/real-stage.ts";
import type { Plan } from "../campaign/plan.ts";
import type { Child, ChildLine } from "./child.ts";
import { orderPlanOf, type Meeting, type MeetingKind } from "./order-plan.ts";
import { Room } from "./room.ts";
import { runMeetings } from "./run-meetings.ts";
import { expectRefused, goOnOrFind, noteToldAtOnce } from "./store-story.ts";

/** Who meets whom on a store, change by change. */

const admits = (name: string): StoreStep[] => [
  { do: "open" },
  { do: "admit", text: `${name} one` },
  { do: "admit", text: `${name} two` },
];

const works = (name: string): StoreStep[] => [
  { do: "open" },
  { do: "hold" },
  { do: "say", text: `${name} said` },
  { do: "say", text: `${name} said with a blob`, blobBytes: 40_000 },
  { do: "admit", text: `${name} admitted` },
  { do: "release" },
];

const kinds: readonly MeetingKind[] = [
  storeMeeting("admitter-and-admitter", [5, 5], 1, { first: admits("first"), second: admits("second") }),
  storeMeeting("holder-and-admitter", [30, 5], 1, { first: works("holder"), second: admits("admitter") }),
  storeMeeting("two-takers-after-a-kill", [26, 26], 6, {
    before: works("dead"),
    first: works("first"),
    second: works("second"),
  }),
];

/** The plans in which two processes meet. */
export function meetingPlans(): Plan[] {
  return [...kinds, ...runMeetings].map((kind) => orderPlanOf(kind, new Room()));
}

function storeMeeting(
  scenario: string,
  changes: readonly [number, number],
  step: number,
  who: { before?: readonly StoreStep[]; first: readonly StoreStep[]; second: readonly StoreStep[] },
): MeetingKind {
  return {
    scenario,
    changes,
    step,
    async prepare(room): Promise<Meeting> {
      const folder = room.folder();
      const stage = new RealStage(join(folder, "state"));
      const session = await stage.actor("before").create();
      const { store } = await room.programs();
      const start = (steps: readonly StoreStep[], mishap: Mishap): Child => {
        const options: StoreWorkerOptions = { directory: stage.directory, steps, mishap };
        return room.peer(store, options);
      };
      const dead: ChildLine[][] = [];
      if (who.before !== undefined) {
        // It leaves a line that nobody synced.
        const { lines } = await start(who.before, { is: "die", at: 7 }).end();
        dead.push([...lines]);
      }
      return {
        first: async (mishap) => start(who.first, mishap),
        second: async (mishap) => start(who.second, mishap),
        judge: async (ends) => {
          for (const { lines } of ends) expectRefused(lines, "busy");
          noteToldAtOnce(stage, [...dead, ...ends.map(({ lines }) => lines)]);
          stage.oracle.sessions.add(session);
          await goOnOrFind(stage);
          await goOnOrFind(stage);
        },
        end: () => room.remove(folder),
      };
    },
  };
}
