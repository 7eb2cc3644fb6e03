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
import { messageBytesMax, nodeHost, type Connection, type Listener } from "../../src/host/index.ts";
import { EngineWorld } from "../crash/engine-world.ts";
import { follow, listen as listenTo, refusal, socketContract } from "./sockets.ts";

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

/** As the contract listens, and ends with the test. */
async function listen(path: string) {
  const listening = await listenTo(sockets, path);
  listeners.push(listening.listener);
  void listening.accepted.then((connection) => connections.push(connection));
  return listening;
}

/** A connection whose other end speaks bytes, not messages. */
async function rawPair(): Promise<{ raw: Socket; server: Connection }> {
  const path = newPath();
  const { accepted } = await listen(path);
  const raw = connectRaw(path);
  raw.on("error", () => undefined);
  return { raw, server: await accepted };
}

describe("the real sockets", () => {
  test.each(socketContract)("$name", async ({ run }) => {
    const directory = newPath();
    mkdirSync(directory);
    await run(sockets, directory);
  });
});

describe("the sockets in memory", () => {
  test.each(socketContract)("$name", async ({ run }) => {
    const world = new EngineWorld({ commands: true });
    world.disk.plant("/s/file", "");
    const host = world.start("process", "test").host;
    await run(host.sockets, "/s");
    world.end();
  });
});

describe("a connection", () => {
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
