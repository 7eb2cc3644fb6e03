import type { Scene } from "./scene.ts";
import { scenesOfDisks } from "./scenes-of-disks.ts";
import { scenesOfFaults } from "./scenes-of-faults.ts";
import { scenesOfFiles } from "./scenes-of-files.ts";
import { scenesOfFormat } from "./scenes-of-format.ts";
import { scenesOfPeople } from "./scenes-of-people.ts";
import { scenesOfRuns } from "./scenes-of-runs.ts";

/** Whatever the corpus can be made of. What it holds already is never made again. */
export const scenes: readonly Scene[] = [
  ...scenesOfFormat,
  ...scenesOfRuns,
  ...scenesOfPeople,
  ...scenesOfFiles,
  ...scenesOfDisks,
  ...scenesOfFaults,
];
