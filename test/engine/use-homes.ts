import { afterAll, beforeAll } from "vitest";
import type { ModelServer } from "../peers/model-server.ts";
import { bundlePrograms, Home, type Programs } from "./home.ts";

/** Homes for the tests of one file, and servers of models: made when a test wants one, ended with the file. */
export function useHomes(): { newHome: () => Home; servers: ModelServer[] } {
  let programs: Programs;
  const homes: Home[] = [];
  const servers: ModelServer[] = [];
  beforeAll(async () => {
    programs = await bundlePrograms();
  });
  afterAll(async () => {
    for (const home of homes) home.end();
    for (const server of servers) await server.close();
  });
  const newHome = (): Home => {
    const home = new Home(programs);
    homes.push(home);
    return home;
  };
  return { newHome, servers };
}
