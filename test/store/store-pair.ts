import { deepStrictEqual } from "node:assert";
import { Finding, promised } from "../crash/campaign/finding.ts";
import type { Fate } from "../crash/memory-disk.ts";
import { stateDirectory, World } from "../crash/world.ts";
import { canonicalJson } from "../../src/model/canonical-json.ts";
import type { Commit } from "../../src/model/commit.ts";
import type { BlobRef } from "../../src/model/values.ts";
import { readPage } from "../../src/store/page.ts";
import { type Actor, textsOf } from "./actor.ts";
import { idOf, newSession } from "./builders.ts";
import {
  countersOf,
  type ReferenceFile,
  type ReferenceLine,
  ReferenceSession,
  ReferenceStore,
} from "./reference-store.ts";
import type { Mishap, Name, StoreCommand } from "./store-commands.ts";
import { codeOf, codesOf, withMishap } from "./store-mishaps.ts";

/** The real store in memory, and the reference beside it. */
export class StorePair {
  readonly reference = new ReferenceStore();
  #world = new World();
  #actors: Record<Name, Actor>;
  #deliveries = 0;
  readonly #blobs = new Map<string, BlobRef[]>();
  /** How often which attempt came to what. */
  readonly ends = new Map<string, number>();
  /** True where a death or a power cut came just now. */
  #mayBeTorn = false;

  constructor() {
    this.#actors = this.#newActors();
  }

  /** Does it with both, and compares whatever can be seen. Throws a finding where they differ. */
  async run(command: StoreCommand): Promise<void> {
    this.#mayBeTorn = false;
    await this.#do(command);
    await this.#compare();
  }

  get #session(): string {
    return [...this.reference.sessions.keys()][0] ?? "";
  }

  get #known(): ReferenceSession {
    const known = this.reference.sessions.get(this.#session);
    if (known === undefined) throw new Error("there is no session yet");
    return known;
  }

  async #do(command: StoreCommand): Promise<void> {
    if (command.do !== "create" && this.reference.sessions.size === 0) {
      await this.#create({ by: "a", blobs: 1 });
    }
    switch (command.do) {
      case "create":
        return await this.#create(command);
      case "hold":
        return await this.#hold(command.by, command.accept);
      case "append":
        return await this.#append(command.by, command);
      case "admit":
        return await this.#admit(command.by, command.mishap);
      case "release":
        return await this.#release(command.by, command.waits);
      case "abandon":
        if (this.#holds(command.by)) await this.#actors[command.by].abandon();
        return this.#leave(command.by);
      case "kill":
        return this.#kill(command.by);
      case "kill all":
        this.#mayBeTorn = true;
        return this.#replace(this.#world.killed());
      case "power cut":
        this.#mayBeTorn = true;
        this.reference.powerCut();
        return this.#replace(this.#world.crashed(fateOf(command.fates)));
      case "repair":
        return await this.#repair(command.by);
      case "roll back":
        return this.#rollBack(command.lines);
      case "copy":
        return await this.#copy();
      case "adopt":
        await this.#actors[command.by].store.adopt();
        return this.reference.adopt();
      case "delete":
        this.#world.disk.plant(`${stateDirectory}/tombstones/${this.#session}.json`, "{}");
        this.#known.isDeleted = true;
        return this.#settle();
      case "restore":
        return await this.#restore();
    }
  }

  async #create({ by, blobs }: { by: Name; blobs: number }): Promise<void> {
    const bytes = Array.from({ length: blobs }, (_, index) => new Uint8Array(50).fill(index + 1));
    const attempt = this.#actors[by].store.create(newSession("a session", bytes));
    const code = await this.#expect("create", attempt, this.reference.isCopied ? "store_copied" : "none");
    if (code !== "none") return;
    const session = await attempt;
    this.reference.sessions.set(session, new ReferenceSession());
    this.#blobs.set(session, []);
  }

  async #hold(by: Name, accept: boolean): Promise<void> {
    const known = this.#known;
    if (this.#holds(by)) return;
    const attempt = this.#actors[by].hold(this.#session, { acceptRollback: accept });
    const code = await this.#expect("hold", attempt, this.#refusalOf(known, accept));
    if (code === "none") known.raise(by, this.reference.store);
  }

  #refusalOf(known: ReferenceSession, accept: boolean): string {
    if (this.reference.isCopied) return "store_copied";
    if (known.holder !== undefined) return "busy";
    if (known.isDeleted) return "deleted";
    if (known.log.unsure) return "durability_unknown";
    return known.refusal(accept) ?? "none";
  }

  async #append(by: Name, command: Extract<StoreCommand, { do: "append" }>): Promise<void> {
    if (!this.#holds(by)) return;
    const known = this.#known;
    const { id, content, blob, mishap } = command;
    const text = `${id}=${content}`;
    const { held } = this.#actors[by];
    const parts: object[] = [{ type: "text", text }];
    if (blob) {
      const reference = await held.blobs.put(new Uint8Array(100).fill(content));
      this.#blobs.get(this.#session)?.push(reference);
    }
    const found = known.find(`${id}`);
    const message = { kind: "message", id: idOf("msg", `${id}`), role: "user", parts } as const;
    if (found !== undefined) {
      const attempt = held.append([message as never]);
      const expected = found.text === text ? "none" : "message_id_conflict";
      if ((await this.#expect("append", attempt, expected)) === "none") {
        deepStrictEqual((await attempt).commit.seq, found.seq);
      }
      return;
    }
    const line = { kinds: ["message"], text, epoch: known.log.epoch };
    await this.#write(known.log, line, {
      by,
      file: "log.jsonl",
      mishap,
      attempt: () => held.append([message as never]),
    });
  }

  async #admit(by: Name, mishap: Mishap | undefined): Promise<void> {
    const known = this.#known;
    const text = `delivery ${this.#deliveries++}`;
    const refused =
      this.reference.isCopied && !this.#holds(by)
        ? "store_copied"
        : known.isDeleted
          ? "deleted"
          : known.queue.unsure
            ? "durability_unknown"
            : undefined;
    const attempt = () => this.#actors[by].admit(text, this.#session);
    if (refused !== undefined) return void (await this.#expect("admit", attempt(), refused));
    // What hits the mending of an end is tried elsewhere, at each of its effects.
    const isTorn = known.queue.remainder !== "none";
    const line = known.queueLine("delivery.admitted", text, by);
    await this.#write(known.queue, line, {
      by,
      file: "queue.jsonl",
      mishap: isTorn ? undefined : mishap,
      attempt,
    });
  }

  async #release(by: Name, waits: boolean): Promise<void> {
    if (!this.#holds(by)) return;
    const known = this.#known;
    const attempt = this.#actors[by].release(!waits);
    const code = await this.#expect("release", attempt, known.queue.unsure ? "durability_unknown" : "none");
    if (code !== "none") return;
    const isGone = !waits || known.isDeleted;
    deepStrictEqual(await attempt, isGone);
    known.look();
    if (isGone) known.letGo();
  }

  async #repair(by: Name): Promise<void> {
    const known = this.#known;
    const refused = this.#refusalOf(known, false);
    const expected = refused === "durability_unknown" ? (known.refusal(false) ?? "none") : refused;
    const code = await this.#expect("repair", this.#actors[by].repair(this.#session), expected);
    if (code === "none") known.repair(by, this.reference.store);
  }

  #rollBack(lines: number): void {
    const known = this.#known;
    if (known.holder !== undefined || known.log.unsure || known.log.remainder !== "none") return;
    const path = this.#path("log.jsonl");
    const bytes = Buffer.from(this.#world.disk.peek(path) ?? []);
    const kept = Math.max(1, known.log.lines.length - lines);
    let end = 0;
    for (let count = 0; count < kept; count++) end = bytes.indexOf(0x0a, end) + 1;
    this.#world.disk.plant(path, bytes.subarray(0, end));
    known.rollBack(kept);
    this.#settle();
  }

  async #copy(): Promise<void> {
    // A copy of a copy may get the inode of the original, which is free again.
    if (this.reference.isCopied) return;
    this.#mayBeTorn = true;
    this.#replace(this.#world.killed());
    const path = `${stateDirectory}/state.json`;
    this.#world.disk.plant(`${path}.copy`, this.#world.disk.peek(path) ?? "");
    await this.#world.disk.rename(`${path}.copy`, path);
    this.reference.isCopied = true;
    this.#settle();
  }

  async #restore(): Promise<void> {
    if (!this.#known.isDeleted) return;
    await this.#world.disk.remove(`${stateDirectory}/tombstones/${this.#session}.json`);
    this.#known.isDeleted = false;
    this.#settle();
  }

  /** Everything on the disk is durable now. */
  #settle(): void {
    this.#world.disk.settle();
    for (const known of this.reference.sessions.values()) known.settle();
  }

  async #write(
    file: ReferenceFile,
    line: ReferenceLine,
    writing: {
      by: Name;
      file: string;
      mishap: Mishap | undefined;
      attempt: () => Promise<unknown>;
    },
  ): Promise<void> {
    const { by, mishap } = writing;
    const code = await withMishap(this.#world.disk, writing);
    const allowed = mishap === undefined ? ["none"] : ["none", ...codesOf[mishap.kind]];
    this.#count(`${writing.file}: ${code}`);
    promised(
      allowed.includes(code),
      "untyped",
      () => `${writing.file}: ${code} where ${allowed.join()} was due`,
    );
    if (code === "none") return file.add(line);
    if (code === "died") {
      file.tried = line;
      this.#kill(by);
      return;
    }
    if (code === "disk_full" || code === "io_error") this.#known.takeBack(line, by);
    if (code === "durability_unknown") {
      file.tried = line;
      file.unsure = true;
      this.#kill(by);
    }
  }

  #kill(by: Name): void {
    this.#mayBeTorn = true;
    this.#actors[by].die();
    this.#actors[by] = this.#world.actor(by);
    this.#leave(by);
  }

  #leave(by: Name): void {
    if (this.#holds(by)) this.#known.leave();
  }

  #holds(by: Name): boolean {
    return this.#known.holder?.name === by;
  }

  #replace(world: World): void {
    this.#world = world;
    this.#actors = this.#newActors();
    this.reference.kill();
  }

  #newActors(): Record<Name, Actor> {
    return { a: this.#world.actor("a"), b: this.#world.actor("b") };
  }

  #path(file: string): string {
    return `${stateDirectory}/sessions/${this.#session}/${file}`;
  }

  #count(end: string): void {
    this.ends.set(end, (this.ends.get(end) ?? 0) + 1);
  }

  async #expect(what: string, attempt: Promise<unknown>, code: string): Promise<string> {
    const found = await codeOf(attempt);
    this.#count(`${what}: ${found}`);
    promised(found === code, "other", () => `${what}: ${found} where ${code} was due`);
    return found;
  }

  async #compare(): Promise<void> {
    const { store } = this.#world.actor("reader");
    same("the sessions", await store.ids(), [...this.reference.sessions.keys()].toSorted());
    for (const [session, known] of this.reference.sessions) {
      const commits: Commit[] = [];
      const history = await store.readStrictly(session, (commit) => void commits.push(commit));
      known.log.decide({ lines: linesOf(commits), remainder: history.remainder.state }, this.#mayBeTorn);
      same("the log", linesOf(commits), known.log.lines);
      same("the end of the log", history.remainder.state, known.log.remainder);
      const counters = commits.map(({ rec, rev, msgs }) => ({ rec, rev, msgs }));
      same("the counters", counters, countersOf(known.log.lines));
      const queue: Commit[] = [];
      await store.readQueue(session, (commit) => void queue.push(commit));
      known.queue.decide({ lines: linesOf(queue), remainder: await this.#queueEnd(queue) }, this.#mayBeTorn);
      same("the queue", linesOf(queue), known.queue.lines);
      same("whether it is held", await store.isHeld(session), known.holder !== undefined);
      await this.#comparePages(session, commits);
      for (const blob of this.#blobs.get(session) ?? []) await store.blobs(session).get(blob);
    }
  }

  /** What stands behind the queue's last line; no reader is told of it. */
  async #queueEnd(queue: readonly Commit[]): Promise<string> {
    const bytes = Buffer.from(this.#world.disk.peek(this.#path("queue.jsonl")) ?? []);
    const lines = bytes.toString("latin1").split("\n").length - 1;
    if (bytes.length === 0 || (bytes.at(-1) === 0x0a && lines === queue.length)) return "none";
    return /"sum":"[0-9a-f]{32}"\}$/.test(bytes.toString("latin1")) ? "complete" : "torn";
  }

  async #comparePages(session: string, commits: readonly Commit[]): Promise<void> {
    const { store } = this.#world.actor("reader");
    const source = await store.source(session);
    let page = await readPage(source, { recordsMin: 2 });
    let older = [...page.commits];
    while (page.hasMore) {
      page = await readPage(source, { recordsMin: 2, before: page.start });
      older = [...page.commits, ...older];
    }
    same(
      "the pages",
      older.map(({ sum }) => sum),
      commits.map(({ sum }) => sum),
    );
    const last = await store.lastRow(session);
    if ("damage" in last) throw new Finding("other", `the list finds damage: ${last.damage.reason}`);
    const { rev, msgs, facts, seq } = commits.at(-1) ?? { rev: 0, msgs: 0, facts: [], seq: 0 };
    const released = seq === 0 || facts.some(({ kind }) => kind === "lease.released");
    same(
      "the list",
      [last.row.title, last.rev, last.msgs, last.released],
      ["a session", rev, msgs, released],
    );
  }
}

function fateOf(fates: number): (change: { kind: string }, index: number) => Fate {
  return ({ kind }, index) => {
    const fate = Math.floor(fates / 3 ** (index % 10)) % 3;
    if (fate === 0) return "dropped";
    return fate === 1 || kind !== "write" ? "kept" : "garbage";
  };
}

function linesOf(commits: readonly Commit[]): ReferenceLine[] {
  return commits.map(({ facts, epoch }) => {
    const [text] = textsOf(facts);
    return { kinds: facts.map(({ kind }) => kind), ...(text !== undefined && { text }), epoch };
  });
}

function same(what: string, found: unknown, expected: unknown): void {
  const [left, right] = [canonicalJson(found), canonicalJson(expected)];
  promised(left === right, "other", () => `${what}: ${left} where the reference has ${right}`);
}
