import { adoptStore } from "../../engine/index.ts";
import type { Call } from "../call.ts";
import { engineOf, screenOf } from "../call.ts";
import { answer } from "./answer.ts";

/** `holdfast store adopt`: a copied state directory becomes a store of its own. */
export async function storeAdopt(call: Call): Promise<number> {
  const adopted = await adoptStore(engineOf(call));
  return await answer(call, adopted, () => {
    const screen = screenOf(call);
    screen.line(`${call.stateDirectory} is store ${adopted.to} now; it was a copy of ${adopted.from}.`);
    return screen;
  });
}
