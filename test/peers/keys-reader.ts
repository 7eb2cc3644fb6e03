import { setTimeout as delay } from "node:timers/promises";
import { openNodeKeys } from "../../src/host/index.ts";

/** Says what is typed at its terminal, from when it opened that for keys until a `q`. */

// As it is for a moment before a question is shown: what is typed now is no line, and nobody has read it yet.
process.stdin.setRawMode(true);
process.stdout.write("ready\n");
await delay(1000);
const keys = await openNodeKeys();
process.stdout.write("open\n");
for await (const chunk of keys.stream) {
  const text = String(chunk);
  process.stdout.write(`got ${JSON.stringify(text)}\n`);
  if (text.includes("q")) break;
}
keys.close();
