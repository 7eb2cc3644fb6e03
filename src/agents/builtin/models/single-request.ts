import { HoldfastError } from "../../../model/errors.ts";

/** What came back over HTTP, before anything interpreted it. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
}

/** One HTTP request and what became of it; made by {@link makeSingleRequest}. */
export interface SingleRequest {
  /** Sends it. A second use sends nothing and rejects. */
  readonly fetch: typeof fetch;
  /** True once it was handed to the network. */
  readonly sent: boolean;
  /** True once a second request was refused. */
  readonly refused: boolean;
  /** The head of the answer, once there is one. */
  readonly received: Received | undefined;
}

/**
 * Lets exactly one request through. A call that was recorded as one must cost one: whatever the provider's package
 * would do beyond that (go on with a cut answer, look again) is refused here instead of trusted not to happen.
 * Redirects are not followed: they would carry the key to an address that nobody chose.
 */
export function makeSingleRequest(fetchOnce: typeof fetch): SingleRequest {
  const state = { sent: false, refused: false, received: undefined as Received | undefined };
  const send: typeof fetch = async (input, init) => {
    if (state.sent) {
      state.refused = true;
      throw new HoldfastError("internal", "A model call tried to send a second request.");
    }
    state.sent = true;
    const response = await fetchOnce(input, { ...init, redirect: "manual" });
    state.received = { status: response.status, headers: response.headers };
    return response;
  };
  return Object.assign(state, { fetch: send });
}
