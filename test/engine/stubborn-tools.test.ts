import { describe, expect, test } from "vitest";
import { resolveOperation } from "../../src/engine/index.ts";
import type { Stop } from "../../src/model/stop.ts";
import type { Verb } from "../crash/memory-disk.ts";
import { done, expectEnding, write } from "./asking.ts";
import { expectSettledOnce, factsOf } from "./examine.ts";
import { idle, secondMs, Stage } from "./stage.ts";

const cancel: Stop = { kind: "cancel", by: "ada" };
const suspend: Stop = { kind: "suspend", reason: "signal" };

/** Has this use of a path of the workspace never come back. */
function hang(stage: Stage, verb: Verb, path: string): Promise<void> {
  return new Promise((hangs) => {
    stage.world.disk.gate = (effect) => {
      if (effect.verb !== verb || !effect.path.startsWith("/project/") || !effect.path.includes(path))
        return undefined;
      hangs();
      return new Promise(() => undefined);
    };
  });
}

describe("a tool that does not end when it is told to", () => {
  test("is not waited for for ever: where it only looked, that is canceled", async () => {
    for (const [stop, ending] of [
      [cancel, "canceled"],
      [suspend, "suspended"],
    ] as const) {
      const read = { tool: "read", args: { path: "a.txt" } };
      const other = { tool: "read", args: { path: "b.txt" } };
      const stage = await Stage.set({ turns: [{ calls: [read, other] }, done], files: { "b.txt": "b\n" } });
      const hangs = hang(stage, "open", "a.txt");
      const work = stage.work();
      await hangs;
      await idle();
      work.stops.request(stop);
      await idle();
      expect(work.count("op.known")).toBe(1);
      for (let seconds = 0; seconds < 20; seconds++) {
        stage.world.clock.advance(secondMs);
        await idle();
      }
      await expectEnding(work, ending);
      stage.world.disk.gate = undefined;
      const examined = await stage.examine();
      expect(factsOf(examined, "op.known").map(({ outcome, output }) => [outcome, output])).toEqual([
        ["ok", expect.any(String)],
        ["canceled", "canceled: it was told to end, and did not"],
      ]);
      if (ending === "suspended") await expectEnding(stage.work(), "completed");
      expectSettledOnce(await stage.examine());
    }
  });

  test("is not waited for for ever: where it may have done something, a person must say what", async () => {
    for (const stop of [cancel, suspend]) {
      const stage = await Stage.set({ turns: [{ calls: [write("a.txt"), write("b.txt")] }, done, done] });
      const hangs = hang(stage, "rename", ".holdfast-");
      const work = stage.work();
      await hangs;
      work.stops.request(stop);
      for (let seconds = 0; seconds < 20; seconds++) {
        stage.world.clock.advance(secondMs);
        await idle();
      }
      await expectEnding(work, "input_required");
      stage.world.disk.gate = undefined;
      const examined = await stage.examine();
      expect(factsOf(examined, "op.unknown")).toMatchObject([{ reason: "it was told to end, and did not" }]);
      expect(examined.state.released).toBe(true);
      const [unknown] = await stage.operations();
      const place = { run: unknown?.run ?? "", operation: unknown?.operation ?? "" };
      await resolveOperation(stage.world.engine(), { session: stage.session, ...place, outcome: "ok" });
      await expectEnding(stage.work(), "completed");
      expectSettledOnce(await stage.examine());
      expect(stage.text("b.txt")).toBe("new\n");
    }
  });
});

test("what cannot be taken away of an operation that never started keeps nobody from stopping", async () => {
  for (const call of [write("a.txt"), { tool: "exec", args: { command: "echo never" } }]) {
    for (const [stop, ending] of [
      [cancel, "canceled"],
      [suspend, "suspended"],
    ] as const) {
      const stage = await Stage.set({ turns: [{ calls: [call] }, done], policy: { allowShell: true } });
      const isPrepared = (path: string) => path.includes("/.holdfast-") || path.includes("/spool/op_");
      const work = stage.work();
      stage.world.disk.gate = ({ verb, path }) => {
        if ((verb === "create" || verb === "makeDirectory") && isPrepared(path)) work.stops.request(stop);
        return undefined;
      };
      let refused = 0;
      stage.world.disk.fault = ({ verb, path }) => {
        if ((verb !== "remove" && verb !== "rename") || !isPrepared(path)) return undefined;
        refused++;
        return { code: "EIO" };
      };
      await expectEnding(work, ending);
      expect(refused).toBeGreaterThan(0);
      expect(work.count("op.started")).toBe(0);
      stage.world.disk.gate = undefined;
      stage.world.disk.fault = undefined;
      if (call.tool === "write" && ending === "suspended") {
        await expectEnding(stage.work(), "completed");
        expect(stage.text("a.txt")).toBe("new\n");
      }
    }
  }
});
