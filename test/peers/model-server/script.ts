/** What the model server answers to one request. */
export interface ModelTurn {
  reasoning?: { text: string; signature?: string };
  text?: string;
  /** `args` is JSON text, sent as it stands. */
  calls?: { id: string; name: string; args: string }[];
  usage?: { input: number; output: number; cachedInput?: number; reasoning?: number };
  /** Refuses instead. A body that is no text is sent as JSON. */
  error?: { status: number; body?: unknown; headers?: Record<string, string> };
  /** Destroys the connection after that many events. */
  cut?: number;
  /** With `cut`: ends the answer as if it were whole instead. */
  cutInGoodOrder?: true;
  /** Puts an event that is no JSON into the middle. */
  garbage?: true;
  /** Puts this event's data before the event at that index. */
  insert?: { at: number; data: string };
  /** Pause before the answer begins. */
  delayMs?: number;
  /** Pause after each event. */
  eventDelayMs?: number;
  /** Why it stops, in the words of the wire. */
  stop?: string;
}

/** One server-sent event. */
export interface WireEvent {
  name?: string;
  data: string;
}

/** An event whose name is its data's type. */
export function typed(data: { type: string } & Record<string, unknown>): WireEvent {
  return { name: data.type, data: JSON.stringify(data) };
}

/** The text in pieces, as providers send it. */
export function pieces(text: string, length = 7): string[] {
  return text.match(new RegExp(`[^]{1,${length}}`, "g")) ?? [];
}
