// Runs named commands, two at a time, prints one line each, and the output of those that fail.
import { spawn } from "node:child_process";

/** @param {{name: string, command: string, args: string[]}} job */
function run(job) {
  return new Promise((resolve) => {
    const started = performance.now();
    const child = spawn(job.command, job.args, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("error", (error) => resolve({ job, code: 127, output: String(error), started }));
    child.on("close", (code) => resolve({ job, code, output, started }));
  });
}

/** Resolves to the names of the jobs that failed. */
export async function concurrently(jobs, width = 2) {
  const queue = [...jobs];
  const failed = [];
  const lane = async () => {
    for (let job = queue.shift(); job; job = queue.shift()) {
      const { code, output, started } = await run(job);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? "ok  " : "FAIL"} ${job.name} ${seconds}s`);
      if (code !== 0) {
        failed.push(job.name);
        console.log(output.trimEnd());
      }
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return failed;
}
