/** Where text goes. */
export interface OutputStream {
  readonly isTerminal: boolean;
  /** Columns of the terminal; 80 where it is none. */
  readonly columns: number;
  /**
   * Resolves when the text is handed over. Where the reader has gone away it is dropped, which is no error; rejects
   * {@link StreamError} where it cannot be written.
   */
  write(text: string): Promise<void>;
}

/** A standard stream that failed. `code` is the system's name of it: ENOSPC, EIO, … */
export class StreamError extends Error {
  override readonly name = "StreamError";
  readonly code: string;
  constructor(code: string, cause: unknown) {
    super(`the output cannot be written: ${code}`, { cause });
    this.code = code;
  }
}

/** True for a {@link StreamError}. */
export function isStreamError(error: unknown): error is StreamError {
  return error instanceof StreamError;
}
