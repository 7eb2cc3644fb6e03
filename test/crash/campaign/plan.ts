/** What the campaign is made of: plans, which are scenarios under one kind of mishap, and their cases. */

/** How much was done, by what it is. A case adds what it did. */
export interface Counts {
  /** Processes that were really ended by SIGKILL. */
  kills: number;
  /** Deaths in memory, of all processes of a machine at once or of one alone. */
  simulatedKills: number;
  /** Effects that were made to fail, in memory or by a real system. */
  faults: number;
  /** Machines in memory after a power cut, no two equal, on which the product was run and its answers compared. */
  powerStates: number;
  /** Machines in memory after a kill or a power cut that the work was gone on with to its end, and then compared. */
  goneOn: number;
  /** Orders in which several processes were let act. */
  orders: number;
  /** Random histories, command sequences and damaged files. */
  histories: number;
}

/** One thing that is tried. */
export interface Case {
  /** Names it in its plan, without spaces; whoever gives it to the same plan again gets the same case. */
  readonly address: string;
  /** Resolves to what was done. Rejects with a Finding where a promise does not hold; any other error is one too. */
  run(): Promise<Partial<Counts>>;
}

/** How much of a plan is wanted. */
export interface Extent {
  /** Chooses among what there is too much of. The same seed chooses the same. */
  readonly seed: number;
  /** `small`: what fits into every test run; `full`: all that can be listed; `endless`: what chance makes, for ever. */
  readonly size: "small" | "full" | "endless";
}

/** A scenario under one kind of mishap. */
export interface Plan {
  readonly scenario: string;
  /** The kind of mishap: `crash`, `fault`, `kill`, `order`, … */
  readonly mishap: string;
  /** True where chance makes cases without end. */
  readonly hasChance?: boolean;
  /** True where chance also makes up the scenario. */
  readonly makesScenarios?: boolean;
  /** True where it starts processes, mounts or waits for real time. */
  readonly isReal?: boolean;
  /** All cases of that extent, in an order that is the same each time; none where the plan has none of that extent. */
  cases(extent: Extent): AsyncIterable<Case>;
  /** One case by its address. Rejects where no case has it. */
  caseAt(address: string): Promise<Case>;
  /** Releases what the plan keeps open. */
  end?(): Promise<void>;
}

/** Thrown where an address is none of its plan's. */
export class AddressError extends Error {
  override readonly name = "AddressError";
}

/** Thrown by a case that cannot be tried on this system; its message says why. */
export class Skipped extends Error {
  override readonly name = "Skipped";
}

/** The address of a plan that numbers its cases. Throws an AddressError where it is no number. */
export function numberOf(address: string): number {
  if (/^\d{1,15}$/.test(address)) return Number(address);
  throw new AddressError(`${JSON.stringify(address)} is no number`);
}
