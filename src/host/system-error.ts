/** True for an error in which Node says what the operating system refused: it names the call, as in `EMFILE … open`. */
export function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    "syscall" in error &&
    typeof error.syscall === "string"
  );
}
