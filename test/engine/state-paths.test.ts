import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTask } from "../../src/engine/index.ts";
import { examine, factsOf } from "./examine.ts";
import { bundlePrograms, Home, type Programs } from "./home.ts";

let programs: Programs;
const root = realpathSync(mkdtempSync(join(tmpdir(), "hfp-")));

beforeAll(async () => {
  programs = await bundlePrograms();
});

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));

/** A home whose state directory has a path of so many bytes, and its directory for sockets one of nearly as many. */
function homeOf(bytes: number): Home {
  const probe = new Home(programs, root);
  const missing = bytes - Buffer.byteLength(probe.state) - 1;
  probe.end();
  const parent = join(root, "x".repeat(missing));
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const home = new Home(programs, parent);
  expect(Buffer.byteLength(home.state)).toBe(bytes);
  home.lingerMs = 100;
  return home;
}

// A socket's path is cut at 104 or 108 bytes by systems, and silently.
test.each([80, 100, 101, 104, 105, 108, 109, 130])(
  "a command runs, and reaches its own supervisor, where the state directory's path has %i bytes",
  async (bytes) => {
    const home = homeOf(bytes);
    const call = { tool: "exec", args: { command: `echo of ${bytes}` } };
    const model = home.cassette([{ calls: [call] }, { text: "Done." }]);
    const engine = home.engine();
    const observer = { commit: () => undefined, live: () => undefined };
    const report = await runTask(engine, home.task({ model }), observer, () => undefined);
    expect(report.ending).toBe("completed");
    const [known] = factsOf(await examine(engine, report.session), "op.known");
    expect(known).toMatchObject({ outcome: "ok" });
    expect(known?.output).toContain(`of ${bytes}`);
    home.end();
  },
);
