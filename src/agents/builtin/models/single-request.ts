import type { Clock } from "../../../host/index.ts";
import { HoldfastError } from "../../../model/errors.ts";
import type { CallLimits } from "./call-limits.ts";
import type { ProviderName } from "./choice.ts";
import { gateEvents } from "./event-gate.ts";
import { CallWatch } from "./call-watch.ts";

/** What came back over HTTP, before anything interpreted it. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  /** What a refusal said, as far as it came; of what is no stream of events, its beginning. */
  readonly text: string;
  /** Why what came cannot be read; absent where it can. */
  readonly garbled?: string;
}

/** One HTTP request and what became of it; made by {@link makeSingleRequest}. */
export interface SingleRequest {
  /** Sends it. A second use sends nothing and rejects. */
  readonly fetch: typeof fetch;
  /** True once it was handed to the network. */
  readonly sent: boolean;
  /** True once a second request was refused. */
  readonly refused: boolean;
  /** The head of the answer, once there is one, and what came after it. */
  readonly received: Received | undefined;
}

/** What it takes to make a request. */
export interface RequestOptions {
  readonly provider: ProviderName;
  readonly fetch: typeof fetch;
  readonly limits: CallLimits;
  readonly clock: Pick<Clock, "sleep">;
  /** Told what must happen in time. */
  readonly watch: CallWatch;
}

const refusalLengthMax = 64 * 1024;
const beginningLength = 8 * 1024;

/**
 * Lets exactly one request through. A call that was recorded as one must cost one: whatever the provider's package
 * would do beyond that (go on with a cut answer, look again) is refused here instead of trusted not to happen.
 * Redirects are not followed: they would carry the key to an address that nobody chose. A refusal rejects once what it
 * says was read, and of an answer only what the package can read comes through.
 */
export function makeSingleRequest(options: RequestOptions): SingleRequest {
  const { provider, limits, watch } = options;
  const state = { sent: false, refused: false, received: undefined as Received | undefined };
  const send: typeof fetch = async (input, init) => {
    if (state.sent) {
      state.refused = true;
      throw new HoldfastError("internal", "A model call tried to send a second request.");
    }
    state.sent = true;
    const signal = AbortSignal.any([watch.signal, ...(init?.signal ? [init.signal] : [])]);
    watch.expect(noHead, limits.headMs);
    const response = await options.fetch(input, { ...init, redirect: "manual", signal });
    watch.forget(noHead);
    const { status, headers } = response;
    const receive = (text: string, garbled = state.received?.garbled) => {
      state.received = { status, headers, text, ...(garbled !== undefined && { garbled }) };
      return state.received;
    };
    receive("");
    if (!response.ok) {
      receive(await readRefusal(response, options));
      throw new HoldfastError("provider_failed", `HTTP ${status}`);
    }
    if (response.body === null) return response;
    watch.expect(silence, limits.silenceMs);
    const isStream = isEventStream(headers);
    const gate = gateEvents(provider, {
      arrived: (text) => {
        watch.expect(silence, limits.silenceMs);
        const before = state.received?.text ?? "";
        if (!isStream && before.length < beginningLength) receive((before + text).slice(0, beginningLength));
      },
      garbled: (why) => void receive(state.received?.text ?? "", why),
    });
    return new Response(response.body.pipeThrough(gate), {
      status,
      statusText: response.statusText,
      headers,
    });
  };
  return Object.assign(state, { fetch: send });
}

const noHead = "sent no answer";
const silence = "sent nothing more of its answer";

/** True for what says that it is a stream of events. */
export function isEventStream(headers: Headers): boolean {
  return headers.get("content-type")?.includes("event-stream") === true;
}

/** What a refusal says, as far as it comes in time and can be read: its status says the most, and is known already. */
async function readRefusal(response: Response, { limits, clock }: RequestOptions): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const over = new AbortController();
  const tooLong = clock.sleep(limits.refusalMs, over.signal).then(() => undefined);
  const decoder = new TextDecoder();
  let text = "";
  try {
    while (text.length < refusalLengthMax) {
      const read = await Promise.race([reader.read(), tooLong]);
      if (read?.value === undefined) break;
      text += decoder.decode(read.value, { stream: true });
    }
    await reader.cancel();
  } catch {
    // It broke off, or is not packed as it says: what came must do.
    return text;
  } finally {
    over.abort();
  }
  return text;
}
