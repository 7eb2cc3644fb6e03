import type { Mutant } from "./mutant.ts";

const work = "crash: changing, making and removing files";
const looks = "crash: looking at several things at once";
const cancel = "test/engine/cancel.test.ts";
const unknown = "test/engine/unknown.test.ts";
const interrupted = "test/engine/interrupted.test.ts";
const interruptedAnswers = "test/engine/interrupted-answers.test.ts";
const requests = "test/engine/requests.test.ts";
const nextStep = "test/model/next-step.test.ts";
const machines = "test/model/machines.test.ts";
const machineMutants: readonly [string, string, string, string][] = [
  [
    "known-outcome-replaced",
    `if (state.at !== "asked" && state.at !== "started") break;`,
    `if (state.at === "settled") break;`,
    "A known outcome stays.",
  ],
  [
    "operation-started-twice",
    `if (state.at !== "asked" || !mayStart(state)) break;`,
    `if (!mayStart(state)) break;`,
    "An operation is started once.",
  ],
  [
    "started-without-the-word-of-a-person",
    `if (state.at !== "asked" || !mayStart(state)) break;`,
    `if (state.at !== "asked") break;`,
    "What a person must allow starts only when allowed.",
  ],
  [
    "resolved-twice",
    `if (state.at !== "unknown") break;`,
    `if (state.at !== "unknown" && state.at !== "known") break;`,
    "What a person said of an unknown outcome is said once.",
  ],
  [
    "settled-before-known",
    `if (state.at !== "known") break;\n      return { ...state, at: "settled" };`,
    `return { ...state, at: "settled" } as OperationState;`,
    "Only what is known is settled.",
  ],
  [
    "known-effect-done-again-by-another",
    `return replaced?.at === "known" && replaced.result.outcome === "not_executed";`,
    `return replaced?.at === "known";`,
    "Only what provably did not happen is done by another operation.",
  ],
];

/** What must happen when. */
export const engineMutants: readonly Mutant[] = [
  {
    name: "effect-before-its-intent-is-durable",
    file: "engine/operations.ts",
    find: `await crew.worker.commit(started);\n  const ended = await Promise.allSettled(ready.map((one) => performOperation(crew, one)));`,
    replace: `const early = ready.map((one) => one.tool.perform(one.run, one.evidence));
  await Promise.allSettled(early);
  await crew.worker.commit(started);
  const after = ready.map((one, index) => ({ ...one, tool: { ...one.tool, perform: async () => await early[index]! } }));
  const ended = await Promise.allSettled(after.map((one) => performOperation(crew, one)));`,
    breaks: "An effect has its intent on disk before it.",
    killedBy: ["test/crash/run-moments.test.ts"],
  },
  {
    name: "proof-removed-before-the-outcome-is-durable",
    file: "engine/operations.ts",
    find: `await crew.worker.commit([await knownFact(crew, operation, { ...times, ...result })]);`,
    replace: `await cleanUp(tool, run.place, { evidence, args: run.args });\n  await crew.worker.commit([await knownFact(crew, operation, { ...times, ...result })]);`,
    breaks: "What proves an outcome stays until the outcome is durable.",
    killedBy: ["test/crash/run-moments.test.ts"],
  },
  {
    name: "failed-effect-told-as-known",
    file: "engine/operations.ts",
    find: `await proveAfterFailure(crew, ready, error);\n    return;`,
    replace: `const failed = { outcome: "error", output: String(error) } as const;\n    await crew.worker.commit([await knownFact(crew, operation, failed)]);\n    void proveAfterFailure;\n    return;`,
    breaks: "Of an effect that failed is told what can be proven.",
    killedBy: ["fault: changing, making and removing files"],
  },
  {
    name: "unknown-told-as-not-executed",
    file: "engine/proofs.ts",
    find: `await worker.commit([await unknownFact(crew, operation, proof)]);\n      return;`,
    replace: `await worker.commit([await knownFact(crew, operation, { outcome: "not_executed", output: proof.reason })]);\n      return;`,
    breaks: "What nobody knows is called unknown.",
    killedBy: [unknown],
  },
  {
    name: "opaque-effect-done-again",
    file: "engine/proofs.ts",
    find: `case "unknown":\n      await worker.commit`,
    replace: `case "unknown":
      if (tool.effect === "opaque" && mayRepeat(crew, operation, tool)) {
        const output = outputOf(operation, true);
        const known = await knownFact(crew, operation, { outcome: "not_executed", output });
        await worker.commit([known, replacementOf(crew, operation)]);
        return;
      }
      await worker.commit`,
    breaks: "What cannot be proven is never done again.",
    killedBy: ["test/crash/outside-tools.test.ts"],
  },
  {
    name: "keyed-effect-repeated-under-a-new-key",
    file: "engine/proofs.ts",
    find: `const run = toolRun(crew, operation, await recordedArguments(crew, operation));`,
    replace: `const again = toolRun(crew, operation, await recordedArguments(crew, operation));
  const isKeyed = tool.effect === "keyed";
  const run = isKeyed ? { ...again, place: { ...again.place, operation: crew.worker.id("op") } } : again;`,
    breaks: "An effect under a key is repeated under that key.",
    killedBy: ["test/crash/outside-tools.test.ts"],
  },
  {
    name: "not-executed-and-not-begun-anew",
    file: "engine/proofs.ts",
    find: `await worker.commit(again ? [known, replacementOf(crew, operation)] : [known]);`,
    replace: `await worker.commit([known]);\n      void replacementOf;`,
    breaks: "What provably did not happen is done by a new operation.",
    killedBy: [work],
  },
  {
    name: "failed-call-repeated-without-a-record",
    file: "engine/call-model.ts",
    find: `if (last?.type === "failed") return await fail(last.failure);`,
    replace: `if (last?.type === "failed") {
    if (last.failure.retryable && step.failed === 0) return await callModel(crew, run, { ...step, failed: 1 }, elapsedMs);
    return await fail(last.failure);
  }`,
    breaks: "Each call of a model that failed is on record before it is made again.",
    killedBy: ["test/engine/providers.test.ts"],
  },
  {
    name: "model-asked-before-that-is-durable",
    file: "engine/call-model.ts",
    find: `const { seq } = await worker.commit([...changed, requested]);\n  await worker.held.live.begin(seq);\n  const heard = await listen(crew, run.run, { call, signal });`,
    replace: `await worker.held.live.begin(worker.state.seq + 1);\n  const heard = await listen(crew, run.run, { call, signal });\n  await worker.commit([...changed, requested]);`,
    breaks: "A model is asked once it is on record that it is.",
    killedBy: [interruptedAnswers, looks],
  },
  {
    name: "blobs-of-a-call-not-stored",
    file: "engine/call-model.ts",
    find: `await worker.held.blobs.put(utf8Bytes(text));`,
    replace: `void utf8Bytes(text);`,
    breaks: "Each blob that a line names is there.",
    killedBy: ["test/crash/outside-tools.test.ts"],
  },
  {
    name: "interrupted-answer-sent-to-the-model",
    file: "model/projection.ts",
    find: `if (message.interrupted === true) continue;`,
    replace: ``,
    breaks: "What had come of an answer that was cut is sent to nobody.",
    killedBy: ["test/model/histories.test.ts", interruptedAnswers],
  },
  {
    name: "spool-of-another-answer-believed",
    file: "store/live-file.ts",
    find: `if ((value as { seq?: unknown } | null | undefined)?.seq !== seq) return [];`,
    replace: `if (seq < 0) return [];`,
    breaks: "Of a spool only the answer that is awaited is taken.",
    killedBy: [interruptedAnswers],
  },
  {
    name: "spool-kept-for-a-call-that-was-answered",
    file: "engine/interrupted-answer.ts",
    find: `if (!run.calling || requestedSeq === undefined) return [];`,
    replace: `if (requestedSeq === undefined) return [];`,
    breaks: "An answer that came whole is not kept a second time as one that was cut.",
    killedBy: ["test/crash/run-moments.test.ts"],
  },
  {
    name: "word-of-a-person-recorded-twice",
    file: "engine/record-resolution.ts",
    find: `return isUnknown && isOpen(state, run) ? [fact] : [];`,
    replace: `return isUnknown || isOpen(state, run) ? [fact] : [];`,
    breaks: "What a person says of an unknown outcome is recorded once.",
    killedBy: ["test/engine/resolve-live.test.ts", unknown],
  },
  {
    name: "same-word-of-a-person-refused",
    file: "engine/record-resolution.ts",
    find: `if (isSame) return true;`,
    replace: `if (isSame && evidence === "") return true;`,
    breaks: "The same word said again changes nothing.",
    killedBy: [unknown],
  },
  {
    name: "decision-recorded-twice",
    file: "engine/approvals.ts",
    find: `if (current === undefined || current.at !== "asked" || !awaitsDecision(current)) return [];`,
    replace: `if (current?.approval === undefined) return [];`,
    breaks: "Whoever is quicker decides, once.",
    killedBy: ["test/engine/approval-words.test.ts"],
  },
  {
    name: "person-asked-again",
    file: "model/next-step.ts",
    find: `const unasked = first.filter((one) => one.approval === undefined);`,
    replace: `const unasked = first.filter((one) => one.approval?.decided === undefined);`,
    breaks: "A person is asked once, also after a death.",
    killedBy: [nextStep],
  },
  {
    name: "person-asked-about-a-replacement",
    file: "model/operation.ts",
    find: `approval: replaced?.approval,`,
    replace: `approval: undefined,`,
    breaks: "What was allowed is allowed to the operation that stands for one which did not happen.",
    killedBy: [machines, "test/engine/approval-words.test.ts"],
  },
  {
    name: "cancel-forgets-what-runs",
    file: "model/next-step.ts",
    find: `if (started !== undefined) return { do: "prove", operation: started };`,
    replace: `if (started !== undefined && stop === undefined) return { do: "prove", operation: started };`,
    breaks: "A run is canceled when what runs has ended, and is told as it ended.",
    killedBy: [nextStep],
  },
  {
    name: "cancel-does-not-reach-the-tools",
    file: "engine/brakes.ts",
    find: `if (stop.kind !== "suspend") this.#effects.abort();\n    else`,
    replace: `if (stop.kind !== "suspend") void this.#effects;\n    else`,
    breaks: "A tool that runs is told to end when its run is canceled.",
    killedBy: [cancel, "test/engine/cancel-commands.test.ts"],
  },
  {
    name: "canceled-run-begins-something",
    file: "model/next-step.ts",
    find: `if (stop !== undefined) return nextOfStop(stop, open, asked);`,
    replace: `if (stop !== undefined && asked.length === 0) return nextOfStop(stop, open, asked);`,
    breaks: "Once a run shall stop nothing new is begun.",
    killedBy: [nextStep],
  },
  {
    name: "unknown-outcome-passed-over",
    file: "model/next-step.ts",
    find: `if (unknown.length > 0 && stop?.kind !== "abandon") {`,
    replace: `if (unknown.length > 0 && stop?.kind === "suspend") {`,
    breaks: "A run goes on after an unknown outcome only when a person has said what happened.",
    killedBy: [nextStep],
  },
  {
    name: "run-goes-on-under-another-epoch",
    file: "model/next-step.ts",
    find: `if (run.at !== "running" || run.epoch !== holder.epoch) {`,
    replace: `if (run.at !== "running") {`,
    breaks: "Whoever picks a run up puts that on record.",
    killedBy: [nextStep],
  },
  {
    name: "told-to-leave-and-writes-on",
    file: "engine/worker.ts",
    find: `this.refuseInterrupted();\n    const line =`,
    replace: `const line =`,
    breaks: "Once a process shall leave it commits nothing.",
    killedBy: [interrupted],
  },
  {
    name: "told-to-leave-and-starts-on",
    file: "engine/operations.ts",
    find: `crew.worker.refuseInterrupted();\n  const { clock }`,
    replace: `const { clock }`,
    breaks: "Once a process shall leave it begins nothing.",
    killedBy: ["test/crash/run-moments.test.ts"],
  },
  {
    name: "line-shown-before-it-is-written",
    file: "engine/worker.ts",
    find: `const { commit } = await this.held.append(row === undefined ? facts : [...facts, row]);`,
    replace: `const { ses = this.state.id, seq = this.state.seq + 1, prev = this.state.sum } = {} as Partial<Commit>;
    const early = { v: 1, ses, seq, prev, ...line, rec: 0, rev: 0, msgs: 0, row: 0, sum: "" };
    await this.observer.commit(early);
    const { commit } = await this.held.append(row === undefined ? facts : [...facts, row]);`,
    breaks: "Nobody is shown a line before it is durable.",
    killedBy: [looks],
  },
  {
    name: "row-not-in-the-line-that-changes-it",
    file: "engine/worker.ts",
    find: `const { commit } = await this.held.append(row === undefined ? facts : [...facts, row]);`,
    replace: `const { commit } = await this.held.append(row === undefined ? facts : [...facts]);`,
    breaks: "A line that changes a member of the list row carries the new row.",
    killedBy: ["test/crash/run-moments.test.ts"],
  },
  {
    name: "line-that-cannot-follow-written",
    file: "engine/worker.ts",
    find: 'if (fault !== undefined) throw new HoldfastError("internal", `a line was not written: ${fault}`);',
    replace: "if (fault === '') throw new HoldfastError(\"internal\", `a line was not written: ${fault}`);",
    breaks: "No line is written that cannot follow those before it.",
    killedBy: ["test/engine/worker.test.ts"],
  },
  {
    name: "recording-shows-what-is-not-durable",
    file: "engine/record-session.ts",
    find: `await store.settleLog(session);`,
    replace: ``,
    breaks: "A line leaves the process only when it is durable.",
    killedBy: ["test/engine/record-session.test.ts"],
  },
  {
    name: "recording-of-a-live-session-takes-its-last-line",
    file: "engine/record-session.ts",
    find: `if (active) return { recording, tornBytes: 0, active };`,
    replace: `if (active && last !== undefined) recording.take(last);\n  if (active) return { recording, tornBytes: 0, active };`,
    breaks: "A follower of a live session shows no line that may be taken back.",
    killedBy: ["test/engine/record-session.test.ts"],
  },
  {
    name: "request-answered-before-it-is-done",
    file: "engine/request-desk.ts",
    find: `await recordResolution(this.#worker, { ...request, by });\n          return done(id);`,
    replace: `await this.#worker.appendToQueue([done(id)]);\n          await recordResolution(this.#worker, { ...request, by });\n          return undefined;`,
    breaks: "A request is answered when what it asked for is durable.",
    killedBy: [requests],
  },
  {
    name: "desk-answers-after-it-let-go",
    file: "engine/request-desk.ts",
    find: `if (isReleased) this.#isClosed = true;`,
    replace: `void isReleased;`,
    breaks: "Whoever has let go of the session answers nothing.",
    explained:
      "The queue of a session that was let go takes nothing more either (QueueFile.close): with the damage an answer is tried and refused, which nobody sees.",
  },
  {
    name: "requests-not-looked-for-at-the-end",
    file: "engine/work.ts",
    find: `openRequests(worker.queue).length === 0 && (!mayTake || nextDelivery(worker.queue) === undefined);`,
    replace: `!mayTake || nextDelivery(worker.queue) === undefined;`,
    breaks: "A request that came before a holder let go is answered by him.",
    killedBy: [requests],
  },
  {
    name: "results-without-their-settling",
    file: "engine/settle-turn.ts",
    find: `...ended.map(({ operation }) => ({ kind: "op.settled", operation }) as const),\n  ]);`,
    replace: `]);\n  if (ended.length > 0) await worker.commit(ended.map(({ operation }) => ({ kind: "op.settled", operation }) as const));`,
    breaks: "The results of a turn and their settling are one line.",
    killedBy: ["test/crash/run-moments.test.ts"],
  },
  {
    name: "message-without-its-run",
    file: "engine/deliver.ts",
    find: `await worker.commit([message, { kind: "run.created", run, message: message.id }]);`,
    replace: `await worker.commit([message]);\n    await worker.commit([{ kind: "run.created", run, message: message.id }]);`,
    breaks: "A user's message and its run are one line.",
    killedBy: ["test/crash/run-moments.test.ts"],
  },
  ...machineMutants.map(([name, find, replace, breaks]): Mutant => ({
    name,
    file: "model/operation.ts",
    find,
    replace,
    breaks,
    killedBy: [machines],
  })),
  {
    name: "run-ends-while-something-runs",
    file: "model/fold.ts",
    find: `if (operation?.at !== "unknown" && operation?.at !== "started") continue;`,
    replace: `if (operation?.at !== "unknown") continue;`,
    breaks: "A run is over only when its operations are.",
    killedBy: ["test/model/together.test.ts"],
  },
];
