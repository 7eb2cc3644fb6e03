import { writeFileSync } from "node:fs";
import { DiskError, type Connection, type Disk, type DiskFile, type Host } from "../../src/host/index.ts";

/** Called before each effect with its name, such as `disk.link`; a promise holds the effect back. */
export type Before = (effect: string) => void | Promise<void>;

/** A host that tells of each effect before it happens. Synchronous effects are told of, and cannot be held back. */
export function watchedHost(host: Host, before: Before): Host {
  return {
    ...host,
    disk: watchedDisk(host.disk, before),
    locks: watched("locks", host.locks, before),
    sockets: {
      directory: () => host.sockets.directory(),
      async listen(path, accept) {
        await before("sockets.listen");
        return host.sockets.listen(path, (connection) => accept(watchedConnection(connection, before)));
      },
      async connect(path) {
        await before("sockets.connect");
        return watchedConnection(await host.sockets.connect(path), before);
      },
    },
    processes: {
      get self() {
        return host.processes.self;
      },
      spawn(request) {
        void before("processes.spawn");
        return host.processes.spawn(request);
      },
      spawnDetached(request) {
        void before("processes.spawnDetached");
        return host.processes.spawnDetached(request);
      },
      capture: (request, options) => host.processes.capture(request, options),
      findByEnvironment: (name, value) => host.processes.findByEnvironment(name, value),
      isAlive: (pid) => host.processes.isAlive(pid),
      signal: (pid, signal) => host.processes.signal(pid, signal),
    },
  };
}

function watchedConnection(connection: Connection, before: Before): Connection {
  return {
    send(message) {
      void before("connection.send");
      return connection.send(message);
    },
    onMessage: (message, closed) => connection.onMessage(message, closed),
    close: () => connection.close(),
  };
}

function watchedDisk(disk: Disk, before: Before): Disk {
  return {
    ...watched("disk", disk, before),
    async open(path, mode, permissions) {
      await before("disk.open");
      return watched<DiskFile>("file", await disk.open(path, mode, permissions), before);
    },
    watch: (path, changed) => disk.watch(path, changed),
  };
}

/** Wraps each method of `target`, all of which return promises. */
function watched<T extends object>(name: string, target: T, before: Before): T {
  return new Proxy(target, {
    get(object, key) {
      const member: unknown = Reflect.get(object, key);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        await before(`${name}.${String(key)}`);
        return Reflect.apply(member, object, args) as unknown;
      };
    },
  });
}

/** Kills this process, beyond any handler, before its `count`-th effect, whose name it writes to `file` first. */
export function dieBefore(count: number, file: string): Before {
  let seen = 0;
  return (effect) => {
    seen++;
    if (seen !== count) return;
    writeFileSync(file, effect);
    process.kill(process.pid, "SIGKILL");
  };
}

/** Makes the `count`-th effect fail as the system would, noting its name in `file`; with `isLasting` all later ones too. */
export function failAt(count: number, code: string, file: string, isLasting: boolean): Before {
  let seen = 0;
  return (effect) => {
    seen++;
    if (seen < count || (seen > count && !isLasting)) return;
    if (seen === count) writeFileSync(file, effect);
    throw new DiskError(code, effect, "(a fault of the test)");
  };
}
