import { EngineScene } from "./engine-scene.ts";
import type { Scene } from "./scene.ts";
import { everyTool } from "./scenes-of-runs.ts";
import type { SessionFiles } from "./session-files.ts";

/** What failing disks leave, and what mending them does. */

const log = "log.jsonl";
const queue = "queue.jsonl";

/** What failing disks leave, and their mending. */
export const scenesOfDisks: readonly Scene[] = [
  {
    name: "unsure-log",
    what: "A failed sync whose bytes could be neither synced nor cut: nobody may append in this boot.",
    make: () => unsure(log),
  },
  {
    name: "unsure-queue",
    what: "The same for the queue.",
    make: () => unsure(queue),
  },
  {
    name: "repaired-anew",
    what: "The first of these after its repair: the log is a copy, and says so.",
    make: async () => {
      const { scene } = await failed(log);
      await repair(scene);
      return scene.files();
    },
  },
  {
    name: "adopted",
    what: "A session of a store that was copied and adopted: it has moved.",
    make: async () => {
      const scene = await EngineScene.begin(everyTool);
      const death = await scene.deathAfter("op.known", 2);
      const { disk } = death.world;
      disk.plant("/state/copy", disk.peek("/state/state.json") ?? "");
      await disk.rename("/state/copy", "/state/state.json");
      await death.world.engine().store.adopt();
      await death.work();
      return death.files();
    },
  },
  {
    name: "recovered-torn",
    what: "A torn log and a torn queue after their recovery: both say what was cut.",
    make: () => recovered((bytes) => bytes.subarray(0, -60)),
  },
  {
    name: "recovered-newline",
    what: "A log and a queue that lacked a newline, after their recovery.",
    make: () => recovered((bytes) => bytes.subarray(0, -1)),
  },
];

async function failed(file: string): Promise<{ scene: EngineScene }> {
  const scene = await EngineScene.begin(everyTool);
  let isFailing = false;
  scene.world.disk.fault = ({ verb, path }) => {
    const isHit = isFailing && path.endsWith(file) && (verb === "sync" || verb === "cutTail");
    return isHit ? { code: "EIO" } : undefined;
  };
  const onFact = (fact: { kind: string }): void => {
    if (fact.kind === (file === log ? "op.started" : "run.created")) isFailing = true;
  };
  await scene.work({ onFact }).catch(() => undefined);
  scene.world.disk.fault = undefined;
  return { scene: scene.killed() };
}

async function unsure(file: string): Promise<SessionFiles> {
  return (await failed(file)).scene.files();
}

async function repair(scene: EngineScene): Promise<void> {
  const { store } = scene.world.engine();
  const ignore = (): undefined => undefined;
  await store.repair(scene.session, { version: "0.1.0", visit: ignore, visitQueue: ignore });
}

async function recovered(cut: (bytes: Buffer) => Uint8Array): Promise<SessionFiles> {
  const scene = await EngineScene.begin(everyTool);
  const death = await scene.deathAfter("op.settled", 1);
  for (const file of [log, queue]) {
    const path = `/state/sessions/${death.session}/${file}`;
    death.world.disk.plant(path, cut(Buffer.from(death.world.disk.peek(path) ?? [])));
  }
  const next = death.killed();
  await next.work();
  return next.files();
}
