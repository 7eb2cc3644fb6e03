/** The one table of errors: code → exit code → HTTP status → worth a retry → what it means. */

interface ErrorRow {
  readonly exit: number;
  readonly http: number;
  /** True where the same request may succeed later without anybody changing anything. */
  readonly retry: boolean;
  readonly meaning: string;
}

/** Every error code with what it means at each door. `docs/errors.md` is generated from it. */
export const errorTable = {
  usage: {
    exit: 2,
    http: 400,
    retry: false,
    meaning: "The request cannot be understood or lacks something.",
  },
  input_required: {
    exit: 3,
    http: 409,
    retry: false,
    meaning: "An operation's outcome is unknown; a person must resolve it.",
  },
  already_resolved: {
    exit: 2,
    http: 409,
    retry: false,
    meaning: "The operation was resolved before, differently.",
  },
  canceled: { exit: 4, http: 409, retry: false, meaning: "The run was canceled." },
  busy: { exit: 5, http: 409, retry: true, meaning: "Another process holds the session." },
  fenced: {
    exit: 5,
    http: 409,
    retry: true,
    meaning: "Another owner took the session over; this process stopped writing.",
  },
  workspace_mismatch: {
    exit: 6,
    http: 409,
    retry: false,
    meaning: "The workspace is missing or is not the one the session is bound to.",
  },
  branch_mismatch: { exit: 6, http: 409, retry: false, meaning: "The workspace is on another git branch." },
  policy_drift: {
    exit: 6,
    http: 409,
    retry: false,
    meaning: "The given policy differs from the recorded one.",
  },
  definition_drift: {
    exit: 6,
    http: 409,
    retry: false,
    meaning: "The given agent definition differs from the recorded one.",
  },
  log_damaged: {
    exit: 7,
    http: 500,
    retry: false,
    meaning: "The session's log is damaged; it can be viewed but not written.",
  },
  queue_damaged: {
    exit: 7,
    http: 500,
    retry: false,
    meaning: "The session's queue is damaged; it can be viewed but not written.",
  },
  disk_full: { exit: 7, http: 507, retry: true, meaning: "There is no space left to record what happens." },
  io_error: {
    exit: 7,
    http: 500,
    retry: true,
    meaning: "The system refused to read or write a file of the session.",
  },
  durability_unknown: {
    exit: 7,
    http: 500,
    retry: false,
    meaning: "A write failed and could not be undone, so it is unknown what is on disk.",
  },
  rolled_back: {
    exit: 7,
    http: 409,
    retry: false,
    meaning: "The log is shorter than it was known to be, as after a restored backup.",
  },
  unsafe_storage: {
    exit: 7,
    http: 500,
    retry: false,
    meaning: "The file system does not guarantee locks and syncs.",
  },
  store_copied: {
    exit: 7,
    http: 409,
    retry: false,
    meaning: "The state directory is a copy of another one.",
  },
  unsupported_version: {
    exit: 7,
    http: 409,
    retry: false,
    meaning: "The log was written by a newer version.",
  },
  not_found: { exit: 8, http: 404, retry: false, meaning: "There is no such thing." },
  ambiguous: { exit: 8, http: 409, retry: false, meaning: "The selector fits several sessions." },
  deleted: { exit: 8, http: 410, retry: false, meaning: "The session was deleted." },
  exists: { exit: 8, http: 409, retry: false, meaning: "It is there already." },
  message_id_conflict: {
    exit: 8,
    http: 409,
    retry: false,
    meaning: "The id is taken by a message with other content.",
  },
  not_resumable: { exit: 9, http: 409, retry: false, meaning: "The session cannot be resumed." },
  provider_failed: { exit: 10, http: 502, retry: true, meaning: "The model's provider did not answer." },
  agent_missing: { exit: 10, http: 502, retry: false, meaning: "The agent's program is not installed." },
  agent_failed: { exit: 10, http: 502, retry: true, meaning: "The agent failed." },
  suspended: { exit: 11, http: 409, retry: true, meaning: "The run was suspended and can be resumed." },
  interrupted: {
    exit: 11,
    http: 409,
    retry: true,
    meaning: "The process was told to leave at once; the run can be resumed.",
  },
  run_failed: { exit: 1, http: 500, retry: false, meaning: "The run failed." },
  context_overflow: {
    exit: 1,
    http: 413,
    retry: false,
    meaning: "The conversation no longer fits the model.",
  },
  cassette_exhausted: { exit: 1, http: 500, retry: false, meaning: "The cassette has no further turn." },
  bundle_invalid: { exit: 1, http: 400, retry: false, meaning: "The bundle cannot be trusted." },
  internal: { exit: 1, http: 500, retry: false, meaning: "A fault in Holdfast." },
} as const satisfies Record<string, ErrorRow>;

/** A code of the table; scripts rely on it. */
export type ErrorCode = keyof typeof errorTable;

/** What an error may carry beside its message. */
export interface ErrorDetails {
  /** What to do now, as a sentence; commands in it work as written. */
  readonly hint?: string;
  /** For `ambiguous`: what it could have meant. */
  readonly candidates?: readonly string[];
  /** For `not_resumable`: the reason's code. */
  readonly reason?: string;
  /** Where in which file, for damage. */
  readonly at?: { readonly file: string; readonly line: number; readonly offset: number };
  readonly cause?: unknown;
}

/** The one error class. The message says what and which; the hint says what now. */
export class HoldfastError extends Error {
  override readonly name = "HoldfastError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.details = details;
  }
}

/** True for a {@link HoldfastError} with one of the given codes, or any. Judges by name and code, so it holds across bundles. */
export function isHoldfastError(error: unknown, ...codes: ErrorCode[]): error is HoldfastError {
  if (typeof error !== "object" || error === null) return false;
  const { name, code } = error as { name?: unknown; code?: unknown };
  if (name !== "HoldfastError" || typeof code !== "string" || !Object.hasOwn(errorTable, code)) return false;
  return codes.length === 0 || codes.includes(code as ErrorCode);
}

/** The process's exit code for an error of any kind. */
export function exitCodeOf(error: unknown): number {
  return isHoldfastError(error) ? errorTable[error.code].exit : errorTable.internal.exit;
}
