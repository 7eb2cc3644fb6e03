import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { execute, makeCall, makeScene, prepare, runsIn, supervisorPeer, type Scene } from "./exec-kit.ts";

/** A real file system of that size; needs the right to mount. */
function mount(path: string, bytes: number): boolean {
  try {
    execFileSync("/bin/mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function unmount(path: string): void {
  execFileSync("/bin/umount", ["-l", path]);
}

function mayMount(): boolean {
  const path = mkdtempSync(join(tmpdir(), "hfx-"));
  const isMounted = mount(path, 65536);
  if (isMounted) unmount(path);
  rmdirSync(path);
  return isMounted;
}

describe("a full disk", () => {
  let scene: Scene;
  let spools: string;

  beforeEach(async (context) => {
    if (!mayMount()) context.skip("mounting a small file system needs a right that we lack");
    scene = makeScene(await supervisorPeer());
    spools = join(scene.folder, "session/spool");
    mount(spools, 128 * 1024);
  });
  afterEach(async () => {
    if (!mayMount()) return;
    await scene.supervisorsEnd();
    unmount(spools);
    scene.end();
  });

  test("neither stops a command nor loses its end; what is not kept is counted", async () => {
    const result = await execute(scene, "seq 1 200000; echo end >> witness; exit 5");
    const { outputBytes, dropped } = result.details as { outputBytes: number; dropped: number };
    expect(result.details).toMatchObject({ exitCode: 5, outputFault: "ENOSPC" });
    expect(outputBytes).toBeGreaterThan(0);
    expect(outputBytes + dropped).toBe(1_288_895);
    expect(result.output).toMatch(/^1\n2\n/);
    expect(result.output).toContain("bytes of output were not kept (ENOSPC)");
    expect(readFileSync(join(scene.workspace, "witness"), "utf8")).toBe("end\n");
  });

  test("without room for the claim starts nothing, and says so", async () => {
    const witness = join(scene.folder, "witness");
    const tool = scene.tool();
    const call = makeCall(scene.place(), { command: `echo run >> ${witness}` });
    const evidence = await prepare(tool, call);
    expect(() => writeFileSync(join(spools, "ballast"), new Uint8Array(1 << 20))).toThrow(/ENOSPC/);
    const result = await tool.perform(call, evidence);
    expect(result).toMatchObject({ outcome: "not_executed" });
    expect(result.output).toContain("ENOSPC");
    expect(existsSync(join(call.place.spool, "claim"))).toBe(false);
    expect(runsIn(witness)).toBe(0);
  });
});
