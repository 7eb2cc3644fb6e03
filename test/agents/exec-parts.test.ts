import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutAtCharacter, headOf, tailOf } from "../../src/agents/builtin/exec/excerpt.ts";
import { filterEnvironment } from "../../src/agents/builtin/exec/environment.ts";
import { OutputKeeper } from "../../src/agents/builtin/exec/output.ts";
import { decodeStatus, encodeStatus, type Status } from "../../src/agents/builtin/exec/status.ts";
import { DiskError, sha256, type DiskFile } from "../../src/host/index.ts";
import { makeRedactor } from "../../src/model/redact.ts";

const start = { operation: "op_1", nonce: "n1" };
const status: Status = {
  v: 1,
  ...start,
  end: { kind: "exited", code: 3 },
  startedAt: 1,
  endedAt: 2,
  durationMs: 1.5,
  outputBytes: 4,
  outputSha256: sha256("done"),
  dropped: 0,
  survivors: [{ pid: 7, command: "sleep 1" }],
  survivorsUnlisted: 0,
};

describe("a status record", () => {
  test("says what was written, to whoever asks for its own operation and start", () => {
    const bytes = encodeStatus(status);
    expect(bytes).toHaveLength(4096);
    expect(decodeStatus(bytes, start)).toEqual({ state: "ended", status });
    expect(decodeStatus(bytes, { ...start, nonce: "n2" }).state).toBe("invalid");
    expect(decodeStatus(bytes, { ...start, operation: "op_2" }).state).toBe("invalid");
    expect(decodeStatus(new Uint8Array(4096).fill(0x20), start).state).toBe("blank");
  });

  test("with any byte changed, or cut anywhere, is not believed", () => {
    const bytes = encodeStatus(status);
    const length = new TextDecoder().decode(bytes).trimEnd().length;
    for (let at = 0; at < length; at++) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(decodeStatus(changed, start).state).toBe("invalid");
      const cut = bytes.slice();
      cut.fill(0x20, at);
      expect(decodeStatus(cut, start).state).toBe(at === 0 ? "blank" : "invalid");
    }
  });

  test("fits its file whatever survives, and counts those that it does not list", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ pid: fc.nat(), command: fc.string({ unit: "binary" }) })),
        (survivors) => {
          const many = survivors.flatMap((survivor) => Array.from({ length: 20 }, () => survivor));
          const found = decodeStatus(encodeStatus({ ...status, survivors: many }), start);
          if (found.state !== "ended") throw new Error(found.state);
          expect(found.status.survivors.length + found.status.survivorsUnlisted).toBe(many.length);
        },
      ),
    );
  });
});

describe("an excerpt", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "é", "€", "😀", "\n"), maxLength: 60 });

  test("never cuts a character and never exceeds its limit", () => {
    fc.assert(
      fc.property(text, fc.nat(80), (value, limit) => {
        const bytes = new TextEncoder().encode(value);
        const strict = new TextDecoder("utf-8", { fatal: true });
        for (const [cut, isRight] of [
          [cutAtCharacter(bytes, limit), value.startsWith.bind(value)],
          [headOf(bytes, limit), value.startsWith.bind(value)],
          [tailOf(bytes, limit), value.endsWith.bind(value)],
        ] as const) {
          expect(cut.byteLength).toBeLessThanOrEqual(limit);
          expect(isRight(strict.decode(cut))).toBe(true);
        }
      }),
    );
  });

  test("is of whole lines where lines end near the limit", () => {
    const bytes = new TextEncoder().encode("one\ntwo\nthree\n");
    expect(new TextDecoder().decode(headOf(bytes, 9))).toBe("one\ntwo\n");
    expect(new TextDecoder().decode(tailOf(bytes, 8))).toBe("three\n");
    expect(new TextDecoder().decode(tailOf(bytes, 6))).toBe("three\n");
  });
});

/** A file in memory that takes `room` bytes, at most `step` a write. */
function memoryFile(room: number, step: number) {
  const taken: number[] = [];
  const file: DiskFile = {
    path: "/output",
    read: async () => 0,
    write: async (bytes) => {
      const count = Math.min(bytes.byteLength, step, room - taken.length);
      if (count === 0) throw new DiskError("ENOSPC", "write", "/output");
      taken.push(...bytes.subarray(0, count));
      return count;
    },
    sync: async () => undefined,
    truncate: async () => undefined,
    stat: () => Promise.reject(new Error("not asked for")),
    close: async () => undefined,
  };
  return { file, kept: () => new Uint8Array(taken) };
}

describe("the keeping of output", () => {
  const chunked = fc.array(fc.string({ unit: fc.constantFrom("x", "é", "😀", "hunter2hunter3", "\n") }));

  test("keeps all of it, redacted, however it is cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(chunked, fc.integer({ min: 1, max: 7 }), async (pieces, size) => {
        const redactor = makeRedactor(["hunter2hunter3"]);
        const { file, kept } = memoryFile(1e6, 5);
        const keeper = new OutputKeeper({ file, redactor, bytesMax: 1e6, grown: () => undefined });
        const bytes = new TextEncoder().encode(pieces.join(""));
        for (let at = 0; at < bytes.byteLength; at += size) keeper.push(bytes.subarray(at, at + size));
        const end = await keeper.end();
        expect(new TextDecoder().decode(kept())).toBe(
          pieces.join("").replaceAll("hunter2hunter3", "[redacted]"),
        );
        expect(end).toEqual({ bytes: kept().byteLength, sha256: sha256(kept()), dropped: 0 });
      }),
    );
  });

  test("on a full disk goes on taking, keeps what fits, and counts the rest", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(50), fc.nat(50), async (room, bytesMax) => {
        const { file, kept } = memoryFile(room, 7);
        const keeper = new OutputKeeper({
          file,
          redactor: makeRedactor([]),
          bytesMax,
          grown: () => undefined,
        });
        for (let count = 0; count < 10; count++) {
          keeper.push(new TextEncoder().encode("abcdefgh"));
          await Promise.resolve();
        }
        const end = await keeper.end();
        expect(end.bytes).toBe(Math.min(room, bytesMax, 80));
        expect(end.bytes + end.dropped).toBe(80);
        expect(end.sha256).toBe(sha256(kept()));
        expect(end.fault).toBe(room < Math.min(bytesMax, 80) ? "ENOSPC" : undefined);
      }),
    );
  });
});

describe("the environment of a command", () => {
  const filter = (environment: Record<string, string>, passEnv: string[] = [], secrets: string[] = []) =>
    Object.keys(filterEnvironment({ environment, passEnv, secrets }));

  test.each([
    ..."MY_API_KEY GITHUB_TOKEN client_secret DB_PASSWORD MYSQL_PASSWD GOOGLE_APPLICATION_CREDENTIALS".split(
      " ",
    ),
    ..."SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO KUBECONFIG AWS_CONFIG_FILE CLOUDSDK_CONFIG DOCKER_CONFIG".split(
      " ",
    ),
    ..."GITHUB_ENV GITHUB_OUTPUT GITHUB_STEP_SUMMARY BASH_ENV ACTIONS_RUNTIME_URL npm_config_userconfig".split(
      " ",
    ),
  ])("lacks %s, unless it was named", (name) => {
    expect(filter({ [name]: "some value" })).toEqual([]);
    expect(filter({ [name]: "some value" }, [name])).toEqual([name]);
  });

  test("has what holds no secret", () => {
    const plain = [
      "PATH",
      "HOME",
      "LANG",
      "TERM",
      "CI",
      "GITHUB_SHA",
      "NODE_OPTIONS",
      "HTTP_PROXY",
      "AUTHOR",
    ];
    expect(filter(Object.fromEntries(plain.map((name) => [name, "http://proxy:80"])))).toEqual(plain);
  });

  test.each([
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
  ])("never has the provider's %s, under no name", (name) => {
    expect(filter({ [name]: "sk-provider", COPY: "Bearer sk-provider" }, [name, "COPY"])).toEqual([]);
  });

  test("lacks what holds a known secret or a password in a URL, unless it was named", () => {
    const environment = { PLAIN: "x-known-secret-x", DATABASE_URL: "postgres://me:pass@host/db" };
    expect(filter(environment, [], ["known-secret"])).toEqual([]);
    expect(filter(environment, ["PLAIN", "DATABASE_URL"], ["known-secret"])).toEqual(
      Object.keys(environment),
    );
  });
});
