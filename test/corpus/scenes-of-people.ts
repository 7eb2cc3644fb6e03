import { approveOperation, send, StopSwitch } from "../../src/engine/index.ts";
import type { Fact } from "../../src/model/facts.ts";
import { EngineScene, type Beginning } from "./engine-scene.ts";
import type { Scene } from "./scene.ts";
import { everyTool } from "./scenes-of-runs.ts";
import type { SessionFiles } from "./session-files.ts";

/** What people say while a run is under way: approvals, policies, messages. */

const done = { text: "Done.", usage: { input: 12, output: 3 } };

const asking: Beginning = { ...everyTool, policy: { approvals: { write: "ask", delete: "ask" } } };

/** A session in which a person answers every question. */
async function answered(decision: "allow" | "deny", remember: boolean): Promise<SessionFiles> {
  const scene = await EngineScene.begin(asking);
  const answer = { decision, remember, reason: "I say so." };
  await scene.work({ approvals: { kind: "prompt", ask: async () => answer } });
  return scene.files();
}

/** What people say meanwhile. */
export const scenesOfPeople: readonly Scene[] = [
  {
    name: "approvals-allowed",
    what: "Each write was allowed by a person.",
    make: () => answered("allow", false),
  },
  {
    name: "approvals-remembered",
    what: "A person's word holds for later operations.",
    make: () => answered("allow", true),
  },
  {
    name: "approvals-denied",
    what: "Each write was denied by a person.",
    make: () => answered("deny", false),
  },
  {
    name: "approvals-nobody",
    what: "Nobody could be asked.",
    make: async () => {
      const scene = await EngineScene.begin(asking);
      await scene.work();
      return scene.files();
    },
  },
  {
    name: "approval-waiting",
    what: "A death while a person was asked.",
    make: async () => {
      const scene = await EngineScene.begin({ ...asking, patient: true });
      const stops = new StopSwitch();
      const onFact = (fact: Fact): void => {
        if (fact.kind === "approval.asked") stops.request({ kind: "suspend", reason: "signal" });
      };
      return (
        await scene.deathAfter("approval.asked", 1, { approvals: { kind: "wait" }, stops, onFact })
      ).files();
    },
  },
  {
    name: "approval-by-another-process",
    what: "A request to the live worker allowed an operation, and was answered.",
    make: async () => {
      const scene = await EngineScene.begin({ ...asking, patient: true });
      const other = scene.world.engine();
      let last: Promise<unknown> = Promise.resolve();
      const onFact = (fact: Fact): void => {
        if (fact.kind !== "approval.asked") return;
        const { operation } = fact;
        last = last.then(async () => {
          const { run } = await scene.newest();
          const word = { decision: "allow", remember: false, by: "ada" } as const;
          await approveOperation(other, { session: scene.session, run, operation, ...word });
        });
      };
      await scene.work({ approvals: { kind: "wait" }, onFact });
      await last;
      return scene.files();
    },
  },
  {
    name: "policy-accepted",
    what: "Another policy was accepted, by which a permission was taken back.",
    make: async () => {
      const scene = await (await EngineScene.begin(everyTool)).deathAfter("model.requested", 2);
      await scene.work({ policy: { deniedCapabilities: ["delete"] }, acceptPolicy: true });
      return scene.files();
    },
  },
  {
    name: "queue-waiting",
    what: "Messages that wait behind a run which a signal suspended.",
    make: async () => {
      const scene = await EngineScene.begin(everyTool);
      const stops = new StopSwitch();
      const onFact = (fact: Fact): void => {
        if (fact.kind === "op.started") stops.request({ kind: "suspend", reason: "signal" });
      };
      await scene.work({ stops, onFact });
      for (const [key, text] of [
        ["1", "And then?"],
        ["2", "And then?"],
        ["1", "And then?"],
      ] as const) {
        await send(scene.world.engine(), { selector: scene.session, text, key });
      }
      return scene.files();
    },
  },
  {
    name: "queue-taken",
    what: "Two messages that were taken one after the other.",
    make: async () => {
      const scene = await EngineScene.begin({ turns: [done, done, done] });
      await send(scene.world.engine(), { selector: scene.session, text: "And then?" });
      await scene.work();
      await scene.work({ task: "And at last?" });
      return scene.files();
    },
  },
];
