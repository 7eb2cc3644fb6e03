import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Corpus } from "./entries.ts";
import { openSession } from "./opened.ts";
import type { Scene } from "./scene.ts";
import { scenes } from "./scenes.ts";
import { plant, type SessionFiles } from "./session-files.ts";

/** The program behind `node scripts/corpus.mjs`: adds to the corpus, and changes nothing that is there. */

const usage = `usage: node scripts/corpus.mjs                                  add an entry for each new scene
       node scripts/corpus.mjs add STATE_DIR SES NAME "WHAT"    add a session of a state directory
       node scripts/corpus.mjs expect NAME                      have an entry expect what it is read as now`;

const corpus = new Corpus(join(process.cwd(), "test/corpus"));

async function addEntry(scene: Scene): Promise<void> {
  const { name, what } = scene;
  const files = await scene.make();
  const opened = await openSession(plant(files), files.session);
  corpus.add(name, { what, session: files.session, opened }, files);
  console.log(`added ${name}`);
}

async function addScenes(): Promise<void> {
  for (const scene of scenes) if (!corpus.has(scene.name)) await addEntry(scene);
}

/** A session as it stands in a state directory, its locks and its trash left out. */
function filesIn(stateDirectory: string, session: string): SessionFiles {
  const folder = join(stateDirectory, "sessions", session);
  const files = new Map<string, Uint8Array>();
  for (const found of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(found.parentPath, found.name);
    const name = path.slice(folder.length + 1);
    const isLeft = /^(lease|append|trash\/.*|(spool\/.*\/)?alive)$/.test(name);
    if (found.isFile() && !isLeft) files.set(name, new Uint8Array(readFileSync(path)));
  }
  return { session, files };
}

const [command, ...words] = process.argv.slice(2);
const [first = "", session = "", name = "", what = ""] = words;
if (command === undefined) await addScenes();
else if (command === "add" && what !== "") {
  await addEntry({ name, what, make: async () => filesIn(first, session) });
} else if (command === "expect" && corpus.has(first)) {
  const { files } = corpus.read(first);
  corpus.replaceExpected(first, await openSession(plant(files), files.session));
  console.log(`${first} expects what it is read as now`);
} else {
  console.error(usage);
  process.exitCode = 2;
}
