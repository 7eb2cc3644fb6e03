/** What all sockets promise, as data: those in memory and the real ones must keep the same promises. */
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import {
  isDiskError,
  messageBytesMax,
  socketPathBytesMax,
  type Connection,
  type Sockets,
} from "../../src/host/index.ts";

/** One promise. `directory` exists and belongs to this run; its path is short. */
export interface SocketPromise {
  readonly name: string;
  readonly run: (sockets: Sockets, directory: string) => Promise<void>;
}

/** The code with which an effect was refused, or undefined where it was not. */
export async function refusal(effect: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await effect.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error === undefined || isDiskError(error)) return error?.code;
  throw error;
}

/** All messages of a connection in order, and a promise of its end. */
export function follow(connection: Connection) {
  const messages: unknown[] = [];
  let wake = (): void => undefined;
  let ends = 0;
  const closed = new Promise<void>((resolve) =>
    connection.onMessage(
      (message) => {
        messages.push(message);
        wake();
      },
      () => {
        ends += 1;
        resolve();
      },
    ),
  );
  const until = async (length: number): Promise<unknown[]> => {
    while (messages.length < length) await new Promise<void>((resolve) => (wake = resolve));
    return messages;
  };
  return { messages, closed, until, ends: () => ends };
}

/** Listens at `path` and resolves, at `accepted`, to the other end of the first connection. */
export async function listen(sockets: Sockets, path: string) {
  let accept = (_connection: Connection): void => undefined;
  const accepted = new Promise<Connection>((resolve) => (accept = resolve));
  const listener = await sockets.listen(path, (connection) => accept(connection));
  return { listener, accepted };
}

/** Both ends of a connection while they are used. */
async function usingPair(
  sockets: Sockets,
  directory: string,
  use: (ends: { client: Connection; server: Connection }) => Promise<void>,
): Promise<void> {
  const path = `${directory}/pair`;
  const { listener, accepted } = await listen(sockets, path);
  const client = await sockets.connect(path);
  const server = await accepted;
  try {
    await use({ client, server });
  } finally {
    client.close();
    server.close();
    await listener.close();
  }
}

const onPair = (
  name: string,
  use: (ends: { client: Connection; server: Connection }) => Promise<void>,
): SocketPromise => ({ name, run: (sockets, directory) => usingPair(sockets, directory, use) });

const connections: readonly SocketPromise[] = [
  onPair("a connection carries any JSON value both ways, in order", async ({ client, server }) => {
    const values = [{ a: [1, null, "ä\u2028\n\ud83d\ude00"] }, "", 0, null, [], "x".repeat(300_000)];
    for (const value of values) {
      expect(client.send(value)).toBe(true);
      expect(server.send(value)).toBe(true);
    }
    expect(await follow(server).until(values.length)).toEqual(values);
    expect(await follow(client).until(values.length)).toEqual(values);
  }),
  onPair(
    "a connection keeps what comes before anybody listens, also when the other end has left",
    async ({ client, server }) => {
      for (let index = 0; index < 100; index += 1) client.send({ index });
      client.close();
      await pause(30);
      const { messages, closed } = follow(server);
      await closed;
      expect(messages).toEqual(Array.from({ length: 100 }, (_, index) => ({ index })));
    },
  ),
  onPair(
    "a connection tells its end exactly once, on both sides, and takes nothing more",
    async ({ client, server }) => {
      const [atClient, atServer] = [follow(client), follow(server)];
      client.close();
      client.close();
      expect(client.send("late")).toBe(false);
      await Promise.all([atClient.closed, atServer.closed]);
      expect(server.send("late")).toBe(false);
      expect([atClient.ends(), atServer.ends()]).toEqual([1, 1]);
      await follow(server).closed; // Whoever asks after the end is told at once.
    },
  ),
  onPair(
    "a connection delivers a last message though the one who sent it closed at once and read nothing",
    async ({ client, server }) => {
      for (let index = 0; index < 50; index += 1) client.send("x".repeat(1000));
      server.send("goodbye");
      server.close();
      const atClient = follow(client);
      await atClient.closed;
      expect(atClient.messages).toEqual(["goodbye"]);
    },
  ),
  onPair(
    "a connection that is closed by its own message handler gets none of those behind",
    async ({ client, server }) => {
      for (let index = 0; index < 10; index += 1) client.send(index);
      const seen: unknown[] = [];
      await new Promise<void>((closed) =>
        server.onMessage((message) => {
          seen.push(message);
          if (message === 3) server.close();
        }, closed),
      );
      expect(seen).toEqual([0, 1, 2, 3]);
    },
  ),
  onPair(
    "a connection takes a message of the greatest length and refuses to send a longer one",
    async ({ client, server }) => {
      const greatest = "x".repeat(messageBytesMax - 3);
      expect(client.send(greatest)).toBe(true);
      expect(await follow(server).until(1)).toEqual([greatest]);
      expect(() => client.send(`${greatest}x`)).toThrow(RangeError);
      expect(() => client.send(undefined)).toThrow();
      expect(client.send("still here")).toBe(true);
    },
  ),
];

const listening: readonly SocketPromise[] = [
  {
    name: "listening is refused where the path is too long, and so is connecting: it would reach somebody else",
    async run(sockets, directory) {
      const room = socketPathBytesMax - directory.length;
      const path = `${directory}/${"x".repeat(room)}`;
      expect(Buffer.byteLength(path)).toBe(socketPathBytesMax + 1);
      expect(await refusal(sockets.listen(path, () => undefined))).toBe("ENAMETOOLONG");
      expect(await refusal(sockets.connect(path))).toBe("ENAMETOOLONG");
      const longest = path.slice(0, socketPathBytesMax);
      const { listener, accepted } = await listen(sockets, longest);
      (await sockets.connect(longest)).close();
      (await accepted).close();
      await listener.close();
      const umlauts = `${directory}/${"ä".repeat(Math.ceil(room / 2))}`;
      expect(umlauts.length).toBeLessThan(socketPathBytesMax);
      expect(await refusal(sockets.listen(umlauts, () => undefined))).toBe("ENAMETOOLONG");
    },
  },
  {
    name: "listening takes its name away at the end, and lets connections go on",
    async run(sockets, directory) {
      const path = `${directory}/name`;
      const { listener, accepted } = await listen(sockets, path);
      const client = await sockets.connect(path);
      const server = await accepted;
      const received = follow(server);
      await listener.close();
      client.send("still here");
      expect(await received.until(1)).toEqual(["still here"]);
      expect(await refusal(sockets.connect(path))).toBe("ENOENT");
      client.close();
      server.close();
    },
  },
  {
    name: "listening is refused where somebody listens already",
    async run(sockets, directory) {
      const path = `${directory}/taken`;
      const { listener } = await listen(sockets, path);
      expect(await refusal(sockets.listen(path, () => undefined))).toBe("EADDRINUSE");
      await listener.close();
    },
  },
  {
    name: "listening is refused where there is no directory",
    async run(sockets, directory) {
      const code = await refusal(sockets.listen(`${directory}/none/s`, () => undefined));
      expect(code).toMatch(/^(ENOENT|EACCES)$/);
    },
  },
];

/** All of them. */
export const socketContract: readonly SocketPromise[] = [...connections, ...listening];
