import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect as connectRaw, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  isDiskError,
  messageBytesMax,
  nodeHost,
  type Connection,
  type Listener,
} from "../../src/host/index.ts";

const { sockets } = nodeHost();
const listeners: Listener[] = [];
const connections: Connection[] = [];
let root = "";
let count = 0;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "hf-sockets-"));
});
afterEach(async () => {
  connections.splice(0).forEach((connection) => connection.close());
  await Promise.all(listeners.splice(0).map((listener) => listener.close()));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const newPath = (): string => join(root, `s${(count += 1)}`);

async function refusal(effect: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await effect.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error === undefined || isDiskError(error)) return error?.code;
  throw error;
}

/** All messages of a connection in order, and a promise of its end. */
function follow(connection: Connection) {
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
async function listen(path: string) {
  let accept = (_connection: Connection): void => undefined;
  const accepted = new Promise<Connection>((resolve) => (accept = resolve));
  const listener = await sockets.listen(path, (connection) => {
    connections.push(connection);
    accept(connection);
  });
  listeners.push(listener);
  return { listener, accepted };
}

async function pair(): Promise<{ client: Connection; server: Connection }> {
  const path = newPath();
  const { accepted } = await listen(path);
  const client = await sockets.connect(path);
  connections.push(client);
  return { client, server: await accepted };
}

/** A connection whose other end speaks bytes, not messages. */
async function rawPair(): Promise<{ raw: Socket; server: Connection }> {
  const path = newPath();
  const { accepted } = await listen(path);
  const raw = connectRaw(path);
  raw.on("error", () => undefined);
  return { raw, server: await accepted };
}

describe("a connection", () => {
  test("carries any JSON value both ways, in order", async () => {
    const { client, server } = await pair();
    const values = [{ a: [1, null, "ä\u2028\n\ud83d\ude00"] }, "", 0, null, [], "x".repeat(300_000)];
    for (const value of values) {
      expect(client.send(value)).toBe(true);
      expect(server.send(value)).toBe(true);
    }
    expect(await follow(server).until(values.length)).toEqual(values);
    expect(await follow(client).until(values.length)).toEqual(values);
  });

  test("keeps what comes before anybody listens, also when the other end has left", async () => {
    const { client, server } = await pair();
    for (let index = 0; index < 100; index += 1) client.send({ index });
    client.close();
    await new Promise((resolve) => setTimeout(resolve, 30));
    const { messages, closed } = follow(server);
    await closed;
    expect(messages).toEqual(Array.from({ length: 100 }, (_, index) => ({ index })));
  });

  test("tells its end exactly once, on both sides, and takes nothing more", async () => {
    const { client, server } = await pair();
    const [atClient, atServer] = [follow(client), follow(server)];
    client.close();
    client.close();
    expect(client.send("late")).toBe(false);
    await Promise.all([atClient.closed, atServer.closed]);
    expect(server.send("late")).toBe(false);
    expect([atClient.ends(), atServer.ends()]).toEqual([1, 1]);
    await follow(server).closed; // Whoever asks after the end is told at once.
  });

  test("delivers a last message though the one who sent it closed at once and read nothing", async () => {
    const { client, server } = await pair();
    for (let index = 0; index < 50; index += 1) client.send("x".repeat(1000));
    server.send("goodbye");
    server.close();
    const atClient = follow(client);
    await atClient.closed;
    expect(atClient.messages).toEqual(["goodbye"]);
  });

  test("that is closed by its own message handler gets none of those behind", async () => {
    const { client, server } = await pair();
    for (let index = 0; index < 10; index += 1) client.send(index);
    const seen: unknown[] = [];
    await new Promise<void>((closed) =>
      server.onMessage((message) => {
        seen.push(message);
        if (message === 3) server.close();
      }, closed),
    );
    expect(seen).toEqual([0, 1, 2, 3]);
  });

  test("puts messages together that arrive byte by byte", async () => {
    const { raw, server } = await rawPair();
    const received = follow(server);
    raw.setNoDelay(true);
    for (const byte of Buffer.from('{"a":"ä€"}\n[1]\n')) {
      raw.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await received.until(2)).toEqual([{ a: "ä€" }, [1]]);
    raw.destroy();
  });

  test.each<[string, Uint8Array]>([
    ["that is no JSON", Buffer.from("hello\n")],
    ["that is empty", Buffer.from("\n")],
    ["that is no UTF-8", Buffer.from([0x22, 0xff, 0x22, 0x0a])],
    ["that is too long", Buffer.from(`"${"x".repeat(messageBytesMax)}"\n`)],
    ["that is too long and has no end", Buffer.alloc(messageBytesMax + 1, "x")],
  ])("is closed by a line %s, and what stands behind is not believed", async (_name, line) => {
    const { raw, server } = await rawPair();
    const received = follow(server);
    raw.write('"before"\n');
    raw.write(line);
    raw.write('"behind"\n');
    await received.closed;
    expect(received.messages).toEqual(["before"]);
    expect(received.ends()).toBe(1);
    raw.destroy();
  });

  test("takes a message of the greatest length and refuses to send a longer one", async () => {
    const { client, server } = await pair();
    const greatest = "x".repeat(messageBytesMax - 3);
    expect(client.send(greatest)).toBe(true);
    expect(await follow(server).until(1)).toEqual([greatest]);
    expect(() => client.send(`${greatest}x`)).toThrow(RangeError);
    expect(() => client.send(undefined)).toThrow();
    expect(client.send("still here")).toBe(true);
  });

  test("ends when the process at its other end is killed", async () => {
    const path = newPath();
    const { accepted } = await listen(path);
    const script = `require("net").connect(${JSON.stringify(path)}).write('"here"\\n'); setInterval(() => {}, 1000)`;
    const child = spawn(process.execPath, ["-e", script], { stdio: "ignore" });
    const received = follow(await accepted);
    await received.until(1);
    child.kill("SIGKILL");
    await once(child, "exit");
    await received.closed;
  });
});

describe("listening", () => {
  test("is refused where the path is too long, and so is connecting: it would reach somebody else", async () => {
    const path = join(root, "x".repeat(100 - root.length));
    expect(Buffer.byteLength(path)).toBe(101);
    expect(await refusal(sockets.listen(path, () => undefined))).toBe("ENAMETOOLONG");
    expect(await refusal(sockets.connect(path))).toBe("ENAMETOOLONG");
    const { accepted } = await listen(path.slice(0, 100));
    connections.push(await sockets.connect(path.slice(0, 100)), await accepted);
    const umlauts = join(root, "ä".repeat(Math.ceil((101 - root.length) / 2)));
    expect(umlauts.length).toBeLessThan(100);
    expect(await refusal(sockets.listen(umlauts, () => undefined))).toBe("ENAMETOOLONG");
  });

  test("is private, takes its name away at the end, and lets connections go on", async () => {
    const path = newPath();
    const { listener, accepted } = await listen(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const client = await sockets.connect(path);
    connections.push(client);
    const received = follow(await accepted);
    await listener.close();
    expect(existsSync(path)).toBe(false);
    client.send("still here");
    expect(await received.until(1)).toEqual(["still here"]);
    expect(await refusal(sockets.connect(path))).toBe("ENOENT");
  });

  test("is refused where somebody listens, and takes the place of who was killed", async () => {
    const path = newPath();
    const script = `require("net").createServer().listen(${JSON.stringify(path)}, () => console.log("listening"))`;
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    expect(await refusal(sockets.listen(path, () => undefined))).toBe("EADDRINUSE");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(existsSync(path)).toBe(true);
    expect(await refusal(sockets.connect(path))).toBe("ECONNREFUSED");
    const { accepted } = await listen(path);
    connections.push(await sockets.connect(path), await accepted);
  });

  test("never removes a file that is no socket", async () => {
    const path = newPath();
    writeFileSync(path, "mine");
    expect(await refusal(sockets.listen(path, () => undefined))).toBe("EADDRINUSE");
    expect(statSync(path).size).toBe(4);
  });

  test("is refused where there is no directory", async () => {
    expect(await refusal(sockets.listen(join(root, "none", "s"), () => undefined))).toMatch(
      /^(ENOENT|EACCES)$/,
    );
  });
});

describe("the directory of sockets", () => {
  const directoryUnder = async (runtime: string): Promise<string> =>
    nodeHost({ environment: { XDG_RUNTIME_DIR: runtime } }).sockets.directory();

  function newRuntime(): string {
    const path = newPath();
    mkdirSync(path, { mode: 0o700 });
    return path;
  }

  test("is made private below the user's runtime directory, and made private again", async () => {
    const runtime = newRuntime();
    const path = await directoryUnder(runtime);
    expect(path).toBe(join(runtime, "holdfast"));
    expect(statSync(path).mode & 0o777).toBe(0o700);
    chmodSync(path, 0o777);
    expect(await directoryUnder(runtime)).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  test("is refused where it is a link or a file", async () => {
    const [linked, filed] = [newRuntime(), newRuntime()];
    symlinkSync(newRuntime(), join(linked, "holdfast"));
    writeFileSync(join(filed, "holdfast"), "");
    await expect(directoryUnder(linked)).rejects.toThrow(/is not a directory/);
    await expect(directoryUnder(filed)).rejects.toThrow(/is not a directory/);
  });

  test.runIf(process.getuid?.() === 0)("is refused where it belongs to somebody else", async () => {
    const runtime = newRuntime();
    mkdirSync(join(runtime, "holdfast"), { mode: 0o700 });
    chownSync(join(runtime, "holdfast"), 12_345, 12_345);
    await expect(directoryUnder(runtime)).rejects.toThrow(/belongs to user 12345/);
  });

  test("is one of the user's under /tmp where no runtime directory is his", async () => {
    const expected = `/tmp/holdfast-${process.getuid?.()}`;
    expect(await sockets.directory()).toBe(expected);
    expect(await directoryUnder("relative")).toBe(expected);
    expect(await directoryUnder(join(root, "none"))).toBe(expected);
    expect(statSync(expected).mode & 0o777).toBe(0o700);
  });
});
