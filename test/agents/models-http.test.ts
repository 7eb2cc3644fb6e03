import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ModelServer, type ModelTurn, startModelServer } from "../peers/model-server.ts";
import { callOver, wires, type Wire } from "./wire.ts";
let server: ModelServer;
beforeEach(async () => { server = await startModelServer(); });
afterEach(() => server.close());
const turn: ModelTurn = { reasoning: {text: "Let me think.", signature: "c2ln+/=="}, text: "Héllo wörld ✓", calls: [
 { id: "call_a", name: "read", args: '{"b": 12345678901234567890,  "a":1}' }, { id: "call_b", name: "glob", args: '{"pattern":"*"}' } ], usage: { input: 100, output: 20, cachedInput: 40, reasoning: 5 } };
test.each(Object.keys(wires) as Wire[])("%s x", async (wire) => {
  server.push(turn);
  const events = await callOver(wire, server.url);
  console.log(JSON.stringify(events, null, 1));
  console.log(server.requests.map(r => r.path + JSON.stringify(r.headers) + r.rawBody));
});
