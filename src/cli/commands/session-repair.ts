import { repairSession } from "../../engine/index.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import { formatBytes } from "../text/units.ts";
import { answer } from "./answer.ts";

/** `holdfast session repair`: mends what can be proven, and says what was done and where the original bytes are. */
export async function sessionRepair(call: Call, selector: string): Promise<number> {
  const report = await repairSession(engineOf(call), selector);
  return await answer(call, report, () => {
    const screen = screenOf(call);
    for (const { file, repaired } of report.files) {
      if (repaired === undefined) {
        screen.line(["good", "✓ "], `the ${file} is sound`);
        continue;
      }
      const { action, bytes, offset } = repaired;
      const did = {
        newline: "its last line was whole and got its end",
        cut: `${formatBytes(bytes)} from byte ${offset} on were cut off: nobody was told that they were stored`,
        copied: `its ${formatBytes(bytes)} were written to a new file`,
      }[action];
      screen.line(["warn", "! "], `the ${file} was repaired: ${did}`);
    }
    for (const path of report.saved) screen.line(["dim", "  the original bytes are in "], path);
    return screen;
  });
}
