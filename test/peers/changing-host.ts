import type { Connection, Disk, DiskFile, Host } from "../../src/host/index.ts";

/** Called before each effect that somebody else can see, with its name; a promise holds the effect back. */
export type BeforeChange = (effect: string) => void | Promise<void>;

/**
 * A host that tells of each effect before it happens, but only of those that change something outside of the process:
 * a death before one that changes nothing is a death before the next that does. Synchronous ones cannot be held back.
 */
export function changingHost(host: Host, before: BeforeChange): Host {
  return {
    ...host,
    disk: changingDisk(host.disk, before),
    sockets: {
      directory: () => host.sockets.directory(),
      async listen(path, accept) {
        await before("listen");
        return host.sockets.listen(path, (connection) => accept(changingConnection(connection, before)));
      },
      async connect(path) {
        await before("connect");
        return changingConnection(await host.sockets.connect(path), before);
      },
    },
    processes: {
      get self() {
        return host.processes.self;
      },
      spawn(request) {
        void before("spawn");
        return host.processes.spawn(request);
      },
      spawnDetached(request) {
        void before("spawnDetached");
        return host.processes.spawnDetached(request);
      },
      capture: (request, timeoutMs) => host.processes.capture(request, timeoutMs),
      findByEnvironment: (name, value) => host.processes.findByEnvironment(name, value),
      isAlive: (pid) => host.processes.isAlive(pid),
      signal: (pid, signal) => host.processes.signal(pid, signal),
    },
  };
}

function changingConnection(connection: Connection, before: BeforeChange): Connection {
  return {
    send(message) {
      void before("send");
      return connection.send(message);
    },
    onMessage: (message, closed) => connection.onMessage(message, closed),
    close: () => connection.close(),
  };
}

function changingDisk(disk: Disk, before: BeforeChange): Disk {
  const telling = async <T>(name: string, effect: () => Promise<T>): Promise<T> => {
    await before(name);
    return effect();
  };
  return {
    ...disk,
    async open(path, mode, permissions) {
      if (mode.startsWith("create")) await before("create");
      return changingFile(await disk.open(path, mode, permissions), before);
    },
    makeDirectory: (path, permissions) =>
      telling("makeDirectory", () => disk.makeDirectory(path, permissions)),
    rename: (from, to) => telling("rename", () => disk.rename(from, to)),
    link: (from, to) => telling("link", () => disk.link(from, to)),
    remove: (path) => telling("remove", () => disk.remove(path)),
    removeDirectory: (path) => telling("removeDirectory", () => disk.removeDirectory(path)),
    setAttributes: (path, attributes) => telling("setAttributes", () => disk.setAttributes(path, attributes)),
    syncDirectory: (path) => telling("syncDirectory", () => disk.syncDirectory(path)),
    cutTail: (cut) => telling("cutTail", () => disk.cutTail(cut)),
  };
}

function changingFile(file: DiskFile, before: BeforeChange): DiskFile {
  return {
    path: file.path,
    read: (into, position) => file.read(into, position),
    async write(bytes, position) {
      await before("write");
      return file.write(bytes, position);
    },
    async sync() {
      await before("sync");
      return file.sync();
    },
    async truncate(size) {
      await before("truncate");
      return file.truncate(size);
    },
    stat: () => file.stat(),
    close: () => file.close(),
  };
}
