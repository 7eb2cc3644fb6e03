import type { DeliveryView, QueueView } from "../../engine/index.ts";
import { listQueue } from "../../engine/index.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import type { Screen, Tone } from "../screen.ts";
import { shortIds } from "../short-ids.ts";
import type { Cell } from "../table.ts";
import { writeTable } from "../table.ts";
import { oneLine } from "../text/clean.ts";
import { whyOf, withCommands } from "../text/queue.ts";
import { formatAge } from "../text/units.ts";
import { answer } from "./answer.ts";
import { writeCommand, writeFields } from "./fields.ts";

/** `holdfast queue list`: the messages that wait for a session, the next one first, and why they do. */
export async function queueList(call: Call, selector: string, all: boolean): Promise<number> {
  const view = withCommands(await listQueue(engineOf(call), { selector, all }), call.program);
  return await answer(call, view, () => {
    const screen = screenOf(call);
    const { deliveries } = view;
    if (deliveries.length === 0) {
      screen.line(
        all
          ? `Session ${view.session} had no messages yet.`
          : `No message waits for session ${view.session}.`,
      );
      return screen;
    }
    writeDeliveries(screen, deliveries, call.outside.host.clock.now());
    writeHold(screen, view);
    return screen;
  });
}

const tones: Readonly<Record<DeliveryView["state"], Tone>> = {
  admitted: "plain",
  claimed: "accent",
  acknowledged: "good",
  blocked: "bad",
  removed: "dim",
};

function writeDeliveries(screen: Screen, deliveries: readonly DeliveryView[], now: number): void {
  const short = shortIds(deliveries.map(({ id }) => id));
  const rows = deliveries.map(({ id, at, source, state, text }): Cell[] => [
    { text: short(id), tone: "bold" },
    { text: formatAge(at, now), tone: "dim" },
    { text: source },
    { text: state, tone: tones[state] },
    { text: oneLine(text) },
  ]);
  const columns = ["ID", "SENT", "FROM", "STATE"].map((title) => ({ title }));
  writeTable(screen, { columns: [...columns, { title: "TEXT", widthMin: 12 }], rows, shrinkOrder: [4] });
}

/** Why what waits is not taken, why single messages cannot be, and what leads on. */
function writeHold(screen: Screen, view: QueueView): void {
  const { session, deliveries, next } = view;
  const troubled = deliveries.filter(({ reason }) => reason !== undefined);
  const waits = deliveries.some(({ state }) => state === "admitted" || state === "claimed");
  const fields: [string, string][] = [
    ...(waits ? [["waiting", whyOf(view)] as [string, string]] : []),
    ...troubled.map(({ id, state, reason = "" }): [string, string] => [
      state === "blocked" ? "blocked" : "trouble",
      `${id}: ${oneLine(reason)}`,
    ]),
  ];
  if (fields.length === 0) return;
  screen.line();
  writeFields(screen, fields);
  if (waits && next !== undefined) writeCommand(screen, "next", next);
  if (troubled.some(({ state }) => state === "blocked")) {
    screen.line([
      "dim",
      `  A blocked message is not delivered. What it says can be sent again to ${session}.`,
    ]);
  }
}
