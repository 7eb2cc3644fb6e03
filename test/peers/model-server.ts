import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { anthropicEvents } from "./model-server/anthropic.ts";
import { chatEvents } from "./model-server/chat.ts";
import { googleEvents } from "./model-server/google.ts";
import { responsesEvents } from "./model-server/responses.ts";
import type { Afterwards, ModelTurn, WireEvent } from "./model-server/script.ts";

export type { ModelTurn } from "./model-server/script.ts";

/**
 * A provider of models on the loopback: it speaks Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and
 * Google's streaming, and answers what its script says, one turn a request.
 */

/** A request as it came. */
export interface ModelRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  rawBody: string;
  /** The body as JSON. */
  body: Record<string, unknown>;
  /** True where the client closed the connection before the answer was whole. */
  cutByClient: boolean;
}

/** The running server. */
export interface ModelServer {
  /** `http://127.0.0.1:PORT`. */
  url: string;
  requests: ModelRequest[];
  /** Adds turns to the end of the script. */
  push(...turns: ModelTurn[]): void;
  close(): Promise<void>;
}

const wires: readonly (readonly [RegExp, (turn: ModelTurn) => WireEvent[]])[] = [
  [/\/messages$/, anthropicEvents],
  [/\/responses$/, responsesEvents],
  [/\/chat\/completions$/, chatEvents],
  [/:streamGenerateContent\?alt=sse$/, googleEvents],
];

/** Starts it on a free port. */
export async function startModelServer(script: readonly ModelTurn[] = []): Promise<ModelServer> {
  const turns = [...script];
  const requests: ModelRequest[] = [];
  const server = createServer((incoming, response) => {
    answer(incoming, response, requests, turns).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    push: (...more) => void turns.push(...more),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  requests: ModelRequest[],
  turns: ModelTurn[],
): Promise<void> {
  const request = await record(incoming);
  requests.push(request);
  response.on("close", () => {
    request.cutByClient = !response.writableFinished && !cut.has(response);
  });
  const wire = wires.find(([path]) => path.test(request.path));
  const turn = turns.shift();
  if (wire === undefined || turn === undefined) {
    const message = wire === undefined ? `no such path: ${request.path}` : "the script has no turn left";
    writeWhole(response, { status: 404, body: { error: { message } } });
    response.end();
    return;
  }
  if (turn.delayMs !== undefined) await delay(turn.delayMs);
  if (turn.error !== undefined) writeWhole(response, turn.error);
  else if (turn.noHead !== true) await stream(response, turn, wire[1](turn));
  const isCut = turn.cut !== undefined || turn.noHead === true;
  await goOn(response, turn.afterwards ?? (isCut ? "drop" : "end"));
}

function writeWhole(response: ServerResponse, error: NonNullable<ModelTurn["error"]>): void {
  const { status, body = { error: { message: `status ${status}` } }, headers = {} } = error;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.write(typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body));
}

/** What follows after what the script sends. */
async function goOn(response: ServerResponse, then: Afterwards): Promise<void> {
  if (response.destroyed) return;
  if (then === "end") response.end();
  if (then === "drop") {
    // What was written must arrive, or the client sees a server that never answered.
    await delay(20);
    cut.add(response);
    response.destroy();
  }
  while (then === "ping" && !response.destroyed) {
    response.write(": still here\n\n");
    await delay(5);
  }
}

async function record(incoming: IncomingMessage): Promise<ModelRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const rawBody = Buffer.concat(chunks).toString("utf8");
  const { method = "", url: path = "", headers } = incoming;
  const body = JSON.parse(rawBody) as Record<string, unknown>;
  return { method, path, headers, rawBody, body, cutByClient: false };
}

/** Responses that the script cut, so that their end is not the client's doing. */
const cut = new WeakSet<ServerResponse>();

async function stream(response: ServerResponse, turn: ModelTurn, events: WireEvent[]): Promise<void> {
  const sent = turn.events?.map((data) => ({ data })) ?? [...events];
  const { cut: cutAfter = Number.POSITIVE_INFINITY, cutBytes, insert } = turn;
  if (insert !== undefined) sent.splice(insert.at, 0, { data: insert.data });
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  for (const [index, event] of sent.entries()) {
    if (index >= cutAfter) {
      if (cutBytes !== undefined) response.write(bytesOf(event).subarray(0, cutBytes));
      return;
    }
    response.write(bytesOf(event));
    if (turn.eventDelayMs !== undefined) await delay(turn.eventDelayMs);
    if (response.destroyed) return;
  }
}

function bytesOf({ name, data }: WireEvent): Buffer {
  const head = `${name === undefined ? "" : `event: ${name}\n`}data: `;
  return Buffer.concat([Buffer.from(head), Buffer.from(data), Buffer.from("\n\n")]);
}
