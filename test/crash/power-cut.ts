/**
 * Power cuts as data. A cut is one letter for each change in `MemoryDisk.unsynced()`, in their order, so that it can be
 * written into the address of a case and read back from there.
 */
import { garbageFor, type Fate, type UnsyncedChange } from "./memory-node.ts";
import { courseOf, type Device } from "./power-cut-device.ts";

export type { Device } from "./power-cut-device.ts";

/** What becomes of one change. Names and truncates are kept or dropped only. */
export type Letter = "k" | "d" | "o" | "h" | "l" | "s" | "p" | "e" | "r" | "t" | "x" | "z" | "g";

/** A power cut that has a name. */
export interface NamedCut {
  readonly name: string;
  readonly letters: string;
}

type Write = Extract<UnsyncedChange, { kind: "write" }>;

interface Meaning {
  readonly says: string;
  /** Undefined where the write is too short for it, or another letter says the same of it. */
  readonly fate: (write: Write) => Fate | undefined;
}

const meanings: Readonly<Record<Letter, Meaning>> = {
  k: { says: "kept", fate: () => "kept" },
  d: { says: "dropped", fate: () => "dropped" },
  h: { says: "torn in the middle", fate: ({ bytes }) => torn(bytes, bytes.length >> 1) },
  o: { says: "torn after one byte", fate: ({ bytes }) => torn(bytes, 1) },
  l: { says: "torn before the last byte", fate: ({ bytes }) => torn(bytes, bytes.length - 1) },
  s: { says: "torn at its last sector", fate: (write) => torn(write.bytes, lastBoundary(write, 512)) },
  p: { says: "torn at its first page", fate: (write) => torn(write.bytes, firstBoundary(write, 4096)) },
  e: { says: "only its second half there", fate: ({ bytes }) => mixed(bytes, (half) => ({ from: half })) },
  r: {
    says: "only its second half there, behind garbage",
    fate: ({ bytes }) => joined(bytes, (first, second) => [garbageFor(first), second]),
  },
  t: {
    says: "only its first half there, before zeros",
    fate: ({ bytes }) => joined(bytes, (first, second) => [first, new Uint8Array(second.length)]),
  },
  x: {
    says: "only its first half there, before garbage",
    fate: ({ bytes }) => joined(bytes, (first, second) => [first, garbageFor(second)]),
  },
  z: { says: "zeros in its place", fate: ({ bytes }) => ({ instead: new Uint8Array(bytes.length) }) },
  g: { says: "garbage in its place", fate: () => "garbage" },
};

const everyLetter = Object.keys(meanings) as readonly Letter[];
const partial = everyLetter.filter((letter) => letter !== "k" && letter !== "d");

/** Stands for a cut that nothing was at stake in, since an address cannot be empty. */
const nothingAtStake = "-";

function torn(bytes: Uint8Array, count: number): Fate | undefined {
  return count > 0 && count < bytes.length ? { torn: count } : undefined;
}

function firstBoundary({ position }: Write, unit: number): number {
  return unit - (position % unit);
}

function lastBoundary({ position, bytes }: Write, unit: number): number {
  return Math.floor((position + bytes.length - 1) / unit) * unit - position;
}

function mixed(bytes: Uint8Array, fate: (half: number) => Fate): Fate | undefined {
  return bytes.length > 1 ? fate(bytes.length >> 1) : undefined;
}

function joined(
  bytes: Uint8Array,
  parts: (first: Uint8Array, second: Uint8Array) => readonly Uint8Array[],
): Fate | undefined {
  const join = (half: number): Fate => ({
    instead: new Uint8Array(Buffer.concat(parts(bytes.subarray(0, half), bytes.subarray(half)))),
  });
  return mixed(bytes, join);
}

function fateOf(change: UnsyncedChange, letter: Letter): Fate | undefined {
  if (letter === "k") return "kept";
  if (letter === "d") return "dropped";
  return change.kind === "write" ? meanings[letter].fate(change) : undefined;
}

/** The letters that make a difference to a change: of those that leave the same only the first. */
function lettersOf(change: UnsyncedChange): Letter[] {
  const counts = new Set<number>();
  return everyLetter.filter((letter) => {
    const fate = fateOf(change, letter);
    if (fate === undefined) return false;
    if (typeof fate === "string" || !("torn" in fate)) return true;
    return counts.size < counts.add(fate.torn).size;
  });
}

/** The letters that a device may give to a change when it gave `before` to those before it. */
export function lettersNext(before: string, unsynced: readonly UnsyncedChange[], device: Device): Letter[] {
  let course = courseOf(device);
  read(before, unsynced.slice(0, before.length)).forEach(({ change, fate }) => {
    course = course.after(change, fate);
  });
  const next = unsynced[before.length];
  return next === undefined ? [] : stepsOf(next, course).map(({ letter }) => letter);
}

/** True where the device may do so to these changes. Throws a RangeError where the text does not fit them at all. */
export function mayCut(letters: string, unsynced: readonly UnsyncedChange[], device: Device): boolean {
  let course = courseOf(device);
  return read(letters, unsynced).every(({ change, fate }) => {
    const may = course.may(change, fate);
    course = course.after(change, fate);
    return may;
  });
}

/** What `MemoryDisk.crash` asks for, from the text of a cut. Throws a RangeError where it does not fit the changes. */
export function fatesOf(
  letters: string,
  unsynced: readonly UnsyncedChange[],
): (change: UnsyncedChange, index: number) => Fate {
  const all = read(letters, unsynced);
  return (change, index) => {
    const chosen = all[index];
    if (chosen?.change.order !== change.order) throw new RangeError(`"${letters}" is a cut of other changes`);
    return chosen.fate;
  };
}

function read(
  letters: string,
  unsynced: readonly UnsyncedChange[],
): { readonly change: UnsyncedChange; readonly fate: Fate }[] {
  const text = letters === nothingAtStake ? "" : letters;
  if (text.length !== unsynced.length) {
    throw new RangeError(`"${letters}" has not one letter for each of ${unsynced.length} changes`);
  }
  return unsynced.map((change, index) => {
    const letter = everyLetter.find((each) => each === text[index]);
    const fate = letter === undefined ? undefined : fateOf(change, letter);
    if (fate !== undefined) return { change, fate };
    throw new RangeError(`"${letters}" says nothing of change ${index}, a ${change.kind}: "${text[index]}"`);
  });
}

type Course = ReturnType<typeof courseOf>;

interface Step {
  readonly letter: Letter;
  readonly next: Course;
}

function stepsOf(change: UnsyncedChange, course: Course, among: readonly Letter[] = everyLetter): Step[] {
  return lettersOf(change)
    .filter((letter) => among.includes(letter))
    .flatMap((letter) => {
      const fate = fateOf(change, letter) ?? "dropped";
      return course.may(change, fate) ? [{ letter, next: course.after(change, fate) }] : [];
    });
}

/**
 * All that the device may make of these changes; with `among` only with those letters. Their number rises with the
 * power of the changes: for a few changes only.
 */
export function* everyCut(
  unsynced: readonly UnsyncedChange[],
  device: Device,
  among: readonly Letter[] = everyLetter,
): Generator<string> {
  function* from(before: string, course: Course, index: number): Generator<string> {
    const change = unsynced[index];
    if (change === undefined) yield before === "" ? nothingAtStake : before;
    else {
      for (const { letter, next } of stepsOf(change, course, among)) {
        yield* from(before + letter, next, index + 1);
      }
    }
  }
  yield* from("", courseOf(device), 0);
}

/** Something that the device may do. `random` gives numbers from 0 to less than 1. */
export function randomCut(unsynced: readonly UnsyncedChange[], device: Device, random: () => number): string {
  const oneOf = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  // How much survives is drawn for the whole cut: else hardly one would leave almost all or almost nothing.
  const [survives, isWhole] = [random(), random()];
  const end = Math.floor(random() * (unsynced.length + 1));
  return wished(unsynced, device, (_change, index, may) => {
    const kept = device === "sequential" ? index < end : random() < survives;
    if (kept) return ["k"];
    return random() < isWhole ? ["d"] : [oneOf(may) ?? "d"];
  });
}

type Wish = (change: UnsyncedChange, index: number, may: readonly Letter[]) => readonly Letter[];

/** Gives each change the first of the letters wished for that the device may give; else drops it. */
function wished(unsynced: readonly UnsyncedChange[], device: Device, wish: Wish): string {
  let course = courseOf(device);
  const letters = unsynced.map((change, index) => {
    const steps = stepsOf(change, course);
    const wishes = wish(
      change,
      index,
      steps.map(({ letter }) => letter),
    );
    const found = wishes.map((each) => steps.find(({ letter }) => letter === each));
    const step = found.find((each) => each !== undefined) ?? steps.find(({ letter }) => letter === "d");
    course = step?.next ?? course;
    return step?.letter ?? "d";
  });
  return letters.join("") || nothingAtStake;
}

/** The cuts worth trying wherever something is at stake, each once, as far as the device may do it. */
export function namedCuts(unsynced: readonly UnsyncedChange[], device: Device): NamedCut[] {
  const cuts = new Map<string, string>();
  for (const [name, wish] of wishes(unsynced)) {
    const letters = wished(unsynced, device, wish);
    if (!cuts.has(letters)) cuts.set(letters, name);
  }
  return [...cuts].map(([letters, name]) => ({ name, letters }));
}

function* wishes(unsynced: readonly UnsyncedChange[]): Generator<readonly [name: string, wish: Wish]> {
  const keepIf = (keeps: (change: UnsyncedChange, index: number) => boolean): Wish => {
    return (change, index) => (keeps(change, index) ? ["k"] : ["d"]);
  };
  yield ["nothing survives", () => ["d"]];
  yield ["all survives", () => ["k"]];
  yield ["every other change survives", keepIf((_change, index) => index % 2 === 0)];
  yield ["the others survive", keepIf((_change, index) => index % 2 === 1)];
  yield ["only content survives", keepIf(({ kind }) => kind !== "name")];
  yield ["only names survive", keepIf(({ kind }) => kind === "name")];
  for (const letter of partial) {
    yield [
      `each write is ${meanings[letter].says}`,
      ({ kind }) => (kind === "write" ? [letter, "h"] : ["k"]),
    ];
  }
  for (const place of unsynced.keys()) {
    const what = `change ${place}`;
    const only = (letter: Letter, others: readonly Letter[]): Wish => {
      return (_change, index) => (index === place ? [letter] : others);
    };
    yield [`only ${what} is lost`, only("d", ["k"])];
    yield [`only ${what} survives`, only("k", ["d"])];
    yield [`what is before ${what} survives`, keepIf((_change, index) => index < place)];
    for (const letter of ["h", "l", "t", "g"] as const) {
      const frontier: Wish = (_change, index) => (index < place ? ["k"] : [index === place ? letter : "d"]);
      const says = meanings[letter].says;
      yield [`what is before ${what} survives, and that is ${says}`, frontier];
    }
  }
}
