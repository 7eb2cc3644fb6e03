import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EngineContext } from "../../src/engine/index.ts";
import { nodeHost } from "../../src/host/index.ts";
import { openEngine } from "../../src/open.ts";
import type { Place } from "./program.ts";

/** The engine on the state directory of a place, in this very process. */
export function engineOn(place: Place): EngineContext {
  return openEngine({
    host: nodeHost({ environment: place.env() }),
    stateDirectory: place.state,
    singleWriter: false,
    environment: place.env(),
    version: "0.0.0-test",
    supervisorProgram: { file: process.execPath, args: [place.program] },
  });
}

/** The flags of a policy that lets a person say whether a command, or what uses another capability, may start. */
export function askFor(place: Place, ...capabilities: readonly string[]): string[] {
  const names = capabilities.length === 0 ? ["exec"] : capabilities;
  const file = join(place.folder, "policy.json");
  const approvals = Object.fromEntries(names.map((name) => [name, "ask"]));
  writeFileSync(file, JSON.stringify({ allowShell: true, approvals }));
  return ["--policy", file];
}
