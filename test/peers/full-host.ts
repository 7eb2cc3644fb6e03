import { connect, type Socket } from "node:net";
import { Worker } from "node:worker_threads";

/** A port that is listened on by somebody who takes no connection, and whose queue of them is full. */

const listener = `
  const { createServer } = require("node:net");
  const { parentPort, workerData } = require("node:worker_threads");
  const server = createServer();
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(workerData, 0, 0);
    process.exit();
  });
`;

/** Starts it; resolves once no connection to it can be made any more. */
export async function startFullHost(): Promise<{ url: string; close: () => Promise<void> }> {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(listener, { eval: true, workerData: flag });
  const port = await new Promise<number>((resolve) => worker.once("message", resolve));
  const sockets: Socket[] = [];
  // The system takes some on its own, until the queue is full: then a connection is neither made nor refused.
  for (let isFull = false; !isFull;) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    sockets.push(socket);
    isFull = await new Promise<boolean>((resolve) => {
      const patience = setTimeout(() => resolve(true), 300);
      socket.once("connect", () => {
        clearTimeout(patience);
        resolve(false);
      });
    });
  }
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      Atomics.store(flag, 0, 1);
      Atomics.notify(flag, 0);
      await worker.terminate();
    },
  };
}
