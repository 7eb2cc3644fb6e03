import { expect, test } from "vitest";
import { afterKill, afterPowerCut, countChanges, delayAt, dieAt, momentsOf } from "./commands-deaths.ts";
import { askedForCommands } from "./commands-story.ts";

const stride = Number(process.env["STRIDE"] ?? 7);
test("scratch", async () => {
  const start = await askedForCommands();
  console.log(await countChanges(start));
  const { changes, supervised } = await countChanges(start);
  const failures: string[] = [];
  const attempt = async (label: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      failures.push(`${label}: ${String(error)} ${(error as Error).stack?.split("\n")[2]}`);
    }
  };
  const timed = async (label: string, work: () => Promise<number>) => {
    const from = performance.now();
    const cases = await work();
    const ms = performance.now() - from;
    console.log(label, cases, ms.toFixed(0), "ms", ((cases / ms) * 1000).toFixed(0), "/s", failures.length);
  };
  for (const victim of ["worker", "supervisor", "both"] as const)
    await timed(victim, async () => {
      let n = 0;
      for (let at = 0; at < changes; at += stride)
        await attempt(`${victim}@${at}`, async () => {
          if (await dieAt(start, victim, at)) n++;
        });
      return n;
    });
  await timed("late", async () => {
    let n = 0;
    for (let at = 0; at < supervised; at += stride > 1 ? 2 : 1)
      await attempt(`late@${at}`, async () => {
        if (await delayAt(start, at)) n++;
      });
    return n;
  });
  const moments = await momentsOf(start);
  await timed("kill", async () => {
    let n = 0;
    for (let i = 0; i < moments.length; i += stride)
      await attempt(`kill@${i} ${moments[i]!.label}`, async () => {
        await afterKill(moments[i]!);
        n++;
      });
    return n;
  });
  await timed("power", async () => {
    let n = 0;
    for (let i = 0; i < moments.length; i += stride)
      await attempt(`power@${i} ${moments[i]!.label}`, async () => {
        await afterPowerCut(moments[i]!);
        n++;
      });
    return n;
  });
  console.log(
    failures
      .map((f) => f.slice(0, 700))
      .slice(0, 12)
      .join("\n"),
  );
  expect(failures.length).toBe(0);
}, 300_000);
