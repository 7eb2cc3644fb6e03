import { expect, test } from "vitest";
import { PayloadWriter } from "../../src/engine/payloads.ts";
import { sha256 } from "../../src/host/index.ts";

test("a value of no fixed form that is too long for a line becomes a blob that its place names", async () => {
  const kept: Uint8Array[] = [];
  const put = async (bytes: Uint8Array) => {
    kept.push(bytes);
    return { sha256: sha256(bytes), bytes: bytes.length };
  };
  const writer = new PayloadWriter({ blobs: { put }, redact: (text) => text });
  const small = { survivors: [{ pid: 1, command: "sleep" }] };
  expect(await writer.loose(small)).toEqual(small);
  expect(kept).toEqual([]);
  const large = { survivors: Array.from({ length: 3000 }, (_, pid) => ({ pid, command: "sleep" })) };
  const text = JSON.stringify(large);
  expect(await writer.loose(large)).toEqual({ blob: { sha256: sha256(text), bytes: text.length } });
  expect(kept.map((bytes) => new TextDecoder().decode(bytes))).toEqual([text]);
});
