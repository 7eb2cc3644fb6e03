import { chmodSync, lstatSync, mkdirSync, statSync, unlinkSync, type Stats } from "node:fs";
import { connect as connectSocket, createServer, type Server, type Socket } from "node:net";
import { isAbsolute, join } from "node:path";
import { DiskError } from "./disk.ts";
import { lineConnection } from "./line-connection.ts";
import { codeOf } from "./node-disk.ts";
import { socketPathBytesMax, type Sockets } from "./sockets.ts";

/** The local sockets of this machine. `runtimeDirectory` is the value of XDG_RUNTIME_DIR. */
export function nodeSockets(runtimeDirectory: string | undefined): Sockets {
  return {
    directory: async () => privateDirectory(directoryPath(runtimeDirectory)),
    async listen(path, accept) {
      checkLength(path, "listen on");
      await removeStale(path);
      const server = createServer((socket) => accept(lineConnection(socket)));
      await startListening(server, path);
      return {
        close: async () => {
          server.close(); // Takes the name away at once; connections that stand go on.
        },
      };
    },
    async connect(path) {
      checkLength(path, "connect to");
      return lineConnection(await openSocket(path));
    },
  };
}

/** Room for the name of a socket in the directory. */
const nameBytesMax = 32;

/** A variable left over from another user, or of a directory that is gone or too long, is as good as none. */
function directoryPath(runtimeDirectory: string | undefined): string {
  const fallback = `/tmp/holdfast-${userId()}`;
  if (runtimeDirectory === undefined || !isAbsolute(runtimeDirectory)) return fallback;
  const stats = statSync(runtimeDirectory, { throwIfNoEntry: false });
  const path = join(runtimeDirectory, "holdfast");
  const isOurs = stats?.isDirectory() === true && stats.uid === userId();
  return isOurs && Buffer.byteLength(path) + nameBytesMax <= socketPathBytesMax ? path : fallback;
}

function userId(): number {
  return process.getuid?.() ?? 0;
}

function privateDirectory(path: string): string {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw new DiskError(codeOf(error), "make directory", path, error);
  }
  const stats = lstatSync(path);
  const fault = faultOfDirectory(stats);
  if (fault !== undefined) {
    throw new Error(
      `The directory for sockets, ${path}, ${fault}. Whoever owns it could listen in, so it is not used: ` +
        "have it removed, or set XDG_RUNTIME_DIR to a private directory of yours.",
    );
  }
  if ((stats.mode & 0o777) !== 0o700) chmodSync(path, 0o700);
  return path;
}

/** Not followed: a link is somebody's choice of another place. */
function faultOfDirectory(stats: Stats): string | undefined {
  if (!stats.isDirectory()) return "is not a directory";
  return stats.uid === userId() ? undefined : `belongs to user ${stats.uid}, not to ${userId()}`;
}

function checkLength(path: string, verb: string): void {
  if (Buffer.byteLength(path) > socketPathBytesMax) throw new DiskError("ENAMETOOLONG", verb, path);
}

/** A socket file stays behind when its listener is killed, and nobody can listen on it again. */
async function removeStale(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSocket() || (await answers(path))) throw new DiskError("EADDRINUSE", "listen on", path);
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw new DiskError(codeOf(error), "remove", path, error);
  }
}

async function answers(path: string): Promise<boolean> {
  try {
    (await openSocket(path)).destroy();
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "ECONNREFUSED" || code === "ENOENT") return false;
    throw error;
  }
}

function openSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(path);
    const failed = (error: Error): void => reject(new DiskError(codeOf(error), "connect to", path, error));
    socket.once("error", failed);
    socket.once("connect", () => {
      socket.removeListener("error", failed);
      resolve(socket);
    });
  });
}

function startListening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(new DiskError(codeOf(error), "listen on", path, error)));
    server.listen(path, () => {
      // A connection that cannot be accepted (no descriptor left) is the client's to try again.
      server.on("error", () => undefined);
      try {
        chmodSync(path, 0o600);
        resolve();
      } catch (error) {
        server.close();
        reject(new DiskError(codeOf(error), "set the mode of", path, error));
      }
    });
  });
}
