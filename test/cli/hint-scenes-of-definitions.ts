import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { defaultDefinition } from "../../src/model/default-definition.ts";
import type { Scenes } from "./hint-scene.ts";
import { code, hintOf, newPlace, shows, suspended } from "./hint-scene.ts";

/** Messages about a definition or a policy that is not the recorded one. */

/** By name: how a message comes about. */
export const scenesOfDefinitions: Scenes = {
  "another policy": async () => {
    const { place, session } = await suspended({ text: "Done." });
    const ended = await place.call(["resume", session, "--allow-shell", "--json"]);
    const [accept = "", without = ""] = hintOf(ended).split("\n");
    expect(accept).toContain(`resume ${session} --accept-policy --allow-shell`);
    return { place, text: without, offers: `resume ${session}`, promise: code(0) };
  },
  "another definition": async () => {
    const { place, session } = await suspended({ text: "Done." });
    const spec = join(place.folder, "agent.json");
    writeFileSync(spec, JSON.stringify({ ...defaultDefinition, metadata: { name: "other" } }));
    const ended = await place.call(["resume", session, "--spec", spec, "--json"]);
    return { place, text: hintOf(ended), offers: `resume ${session}`, promise: code(0) };
  },
  "nothing that could be accepted yet": async () => {
    const place = newPlace();
    const ended = await place.call(["run", "--task", "x", "--accept-policy", "--json"]);
    return { place, text: hintOf(ended), offers: "resume --help", promise: shows(/--accept-policy/) };
  },
};
