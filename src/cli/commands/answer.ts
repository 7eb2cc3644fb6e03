import type { Call } from "../call.ts";
import type { LightOutside } from "../outside.ts";
import { documentOf } from "../document.ts";
import type { Screen } from "../screen.ts";

/** Answers a command that went well: as a document or for people. Resolves to exit code 0 when it is written. */
export async function answer(
  call: Pick<Call<LightOutside>, "outside" | "form" | "kind">,
  data: unknown,
  forPeople: () => Screen | Promise<Screen>,
): Promise<number> {
  if (call.form === "json") {
    await call.outside.stdout.write(`${JSON.stringify(documentOf(call.kind, { data }))}\n`);
  } else {
    await (await forPeople()).flushed();
  }
  return 0;
}
