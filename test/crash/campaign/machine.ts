import type { Fate, MemoryDisk, UnsyncedChange } from "../memory-disk.ts";

/** A machine in memory: its disk, who lives on it, and what people outside know of it. */
export interface Machine<Self> {
  readonly disk: MemoryDisk;
  /** Somebody was told that it is unknown what is on disk, and will ask for a repair. */
  mayRepair: boolean;
  /** The machine after all its processes were killed. */
  killed(): Self;
  /** The machine after a power cut; see {@link MemoryDisk.crash}. */
  crashed(choose?: (change: UnsyncedChange, index: number) => Fate): Self;
  /** What is known outside, as text: machines with equal disks and equal texts need not both be looked at. */
  knows(): string;
}

/** What is done on a machine and crashed there. It must do the same each time. */
export interface MachineScenario<M extends Machine<M>> {
  readonly name: string;
  /** The machine as it stands before, all of it durable. */
  set(): Promise<M>;
  /** What is crashed, and made to fail, at each of its effects. May reject only where an effect failed. */
  act(machine: M): Promise<void>;
  /** What the same processes do next, where an effect failed and none fails any more. */
  again?(machine: M): Promise<void>;
  /** What whoever comes next does first; crashed at each of its effects too. */
  reopen(machine: M): Promise<void>;
  /** Goes on until nothing is left to do, and writes something new. Throws a Finding where that is not possible. */
  goOn(machine: M): Promise<void>;
  /** Reads what is there after a crash, before anybody has mended it, and compares; writes nothing. Throws a Finding. */
  look(machine: M): Promise<void>;
  /** Compares what is there with what people outside know; writes nothing. Throws a Finding. */
  judge(machine: M): Promise<void>;
}
