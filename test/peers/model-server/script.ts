/** What the model server answers to one request. */
export interface ModelTurn {
  reasoning?: { text: string; signature?: string };
  text?: string;
  /** `args` is JSON text, sent as it stands. */
  calls?: { id: string; name: string; args: string }[];
  usage?: { input: number; output: number; cachedInput?: number; reasoning?: number };
  /** Answers this instead of a stream: a refusal, or what is no answer. A body that is no text and no bytes is sent as JSON. */
  error?: { status: number; body?: unknown; headers?: Record<string, string> };
  /** Sends so many events. */
  cut?: number;
  /** With `cut`: sends so much of the next event, as well. */
  cutBytes?: number;
  /** Sends not even the head of an answer. */
  noHead?: true;
  /**
   * What follows after what was sent: the end in good order, the end of the connection, nothing at all, or nothing but
   * signs of life. Where it is absent, what was cut or has no head ends the connection, and all else ends in good order.
   */
  afterwards?: Afterwards;
  /** Puts this event's data before the event at that index. */
  insert?: { at: number; data: string | Uint8Array };
  /** Sends this in place of the events. */
  events?: readonly string[];
  /** Pause before the answer begins. */
  delayMs?: number;
  /** Pause after each event. */
  eventDelayMs?: number;
  /** Why it stops, in the words of the wire. */
  stop?: string;
}

/** How an answer goes on when the script has nothing more to send. */
export type Afterwards = "end" | "drop" | "hang" | "ping";

/** One server-sent event. */
export interface WireEvent {
  name?: string;
  data: string | Uint8Array;
}

/** An event whose name is its data's type. */
export function typed(data: { type: string } & Record<string, unknown>): WireEvent {
  return { name: data.type, data: JSON.stringify(data) };
}

/** The text in pieces, as providers send it. */
export function pieces(text: string, length = 7): string[] {
  return text.match(new RegExp(`[^]{1,${length}}`, "g")) ?? [];
}
