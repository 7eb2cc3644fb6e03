import type { Socket } from "node:net";
import { messageBytesMax, type Connection } from "./sockets.ts";

/** How long a closed connection waits for the other end to take what was sent. */
const closeGraceMs = 2000;

const newline = 0x0a;

/** JSON lines over a stream. Nothing is read before `onMessage`: until then the system keeps what was sent. */
export function lineConnection(socket: Socket): Connection {
  let open = true;
  const end = (): void => {
    open = false;
  };
  // An error is always followed by "close", which is all that there is to tell.
  socket.on("error", end).on("end", end).on("close", end);
  return {
    send(message) {
      const line = encode(message);
      if (!open || !socket.writable) return false;
      socket.write(line);
      return true;
    },
    onMessage(message, closed) {
      if (socket.destroyed) {
        queueMicrotask(closed);
        return;
      }
      socket.once("close", closed);
      const lines = new LineBuffer();
      socket.on("data", (bytes: Buffer) => {
        lines.add(bytes);
        while (open) {
          const next = lines.take();
          if (next === "none") return;
          if (next === "broken") {
            // What cannot be understood ends the connection: the other end is none of ours.
            end();
            socket.destroy();
            return;
          }
          message(next.value);
        }
      });
    },
    close() {
      if (open) closeGently(socket);
      open = false;
    },
  };
}

/**
 * Ends our half and drops what still comes. Destroying at once would make the system throw away what the other end
 * has not read yet, wherever something of its own stood unread here.
 */
function closeGently(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), closeGraceMs).unref();
  socket.once("close", () => clearTimeout(timer));
  socket.end(() => socket.unref());
  socket.resume();
}

function encode(message: unknown): Buffer {
  const text = JSON.stringify(message) as string | undefined; // A function, for one, has no JSON.
  if (text === undefined) throw new TypeError("This message has no form in JSON.");
  const line = Buffer.from(`${text}\n`);
  if (line.length > messageBytesMax) {
    throw new RangeError(
      `A message of ${line.length} bytes cannot be sent; the limit is ${messageBytesMax}.`,
    );
  }
  return line;
}

/** Bytes on their way to be lines. Splits on the byte 0x0A only: a string may hold other line separators. */
class LineBuffer {
  #parts: Buffer[] = [];
  #length = 0;
  #rest: Buffer = Buffer.alloc(0);
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  add(bytes: Buffer): void {
    this.#rest = bytes;
  }

  take(): { readonly value: unknown } | "none" | "broken" {
    const end = this.#rest.indexOf(newline);
    const part = end === -1 ? this.#rest : this.#rest.subarray(0, end + 1);
    this.#rest = this.#rest.subarray(part.length);
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length > messageBytesMax) return "broken";
    if (end === -1) return "none";
    const line = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    try {
      return { value: JSON.parse(this.#decoder.decode(line)) };
    } catch {
      return "broken";
    }
  }
}
