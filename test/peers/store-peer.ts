/**
 * A process that works on a store on command. Each line of its input is `{do, …}`, each line of its output the answer:
 * `{value}` or `{code, message}`. Started with `{directory, dieAt?}`; `dieAt` counts the effects that change the disk,
 * and the process kills itself before the one of that number.
 */
import { createInterface } from "node:readline";
import { type Disk, type DiskFile, type Host, nodeHost } from "../../src/host/index.ts";
import { isHoldfastError } from "../../src/model/errors.ts";
import { Actor, Oracle } from "../store/actor.ts";

interface Start {
  readonly directory: string;
  readonly dieAt?: number;
}

interface Command {
  readonly do:
    | "create"
    | "hold"
    | "say"
    | "sayMany"
    | "admit"
    | "admitMany"
    | "probe"
    | "release"
    | "seen"
    | "effects";
  readonly session?: string;
  readonly text?: string;
  readonly count?: number;
}

const { directory, dieAt } = JSON.parse(process.argv[2] ?? "{}") as Start;
let effects = 0;

/** Counts an effect, and dies where its turn has come. */
function changing<T>(effect: () => Promise<T>): Promise<T> {
  if (effects++ === dieAt) process.kill(process.pid, "SIGKILL");
  return effect();
}

function mortalFile(file: DiskFile): DiskFile {
  return {
    path: file.path,
    read: (into, position) => file.read(into, position),
    write: (bytes, position) => changing(() => file.write(bytes, position)),
    sync: () => changing(() => file.sync()),
    truncate: (size) => changing(() => file.truncate(size)),
    stat: () => file.stat(),
    close: () => file.close(),
  };
}

function mortal(disk: Disk): Disk {
  return {
    ...disk,
    open: async (path, mode, permissions) => {
      const open = () => disk.open(path, mode, permissions);
      return mortalFile(await (mode.startsWith("create") ? changing(open) : open()));
    },
    makeDirectory: (path, permissions) => changing(() => disk.makeDirectory(path, permissions)),
    rename: (from, to) => changing(() => disk.rename(from, to)),
    link: (from, to) => changing(() => disk.link(from, to)),
    remove: (path) => changing(() => disk.remove(path)),
    syncDirectory: (path) => changing(() => disk.syncDirectory(path)),
    cutTail: (cut) => changing(() => disk.cutTail(cut)),
  };
}

const real = nodeHost();
const host: Host = { ...real, disk: mortal(real.disk) };
const actor = new Actor(host, { directory, oracle: new Oracle() });

async function answer(command: Command): Promise<unknown> {
  const { session = actor.session, text = "", count = 0 } = command;
  switch (command.do) {
    case "create":
      return await actor.create();
    case "hold":
      return (await actor.hold(session)).epoch;
    case "say":
      return (await actor.say(text)).commit.seq;
    case "sayMany":
      for (let index = 0; index < count; index++) await actor.say(`${text} ${index}`);
      return count;
    case "admit":
      return (await actor.admit(text, session)).commit.seq;
    case "admitMany":
      for (let index = 0; index < count; index++) await actor.admit(`${text} ${index}`, session);
      return count;
    case "probe":
      for (let index = 0; index < count; index++) await actor.store.isHeld(session);
      return count;
    default:
      return await actor.release();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(JSON.stringify({ value: await answer(JSON.parse(line) as Command) }));
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    console.log(JSON.stringify({ code: error.code, message: error.message }));
  }
}
