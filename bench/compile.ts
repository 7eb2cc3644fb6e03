import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";

/** Compiles `bench/c/<name>.c` into a folder and returns the program's path. Throws where there is no C compiler. */
export function compileC(name: string, folder: string): string {
  const program = join(folder, name);
  try {
    execFileSync("cc", ["-O2", "-Wall", "-Werror", "-o", program, resolve("bench/c", `${name}.c`)], {
      stdio: ["ignore", "ignore", "pipe"],
      encoding: "utf8",
    });
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw isMissing ? new Error("there is no C compiler (cc) to build what it is measured beside") : error;
  }
  return program;
}
