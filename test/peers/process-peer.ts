/** A process that starts others and ends at once: `detached`, or `reading` one whose output it lets go of. */
import { nodeHost } from "../../src/host/index.ts";

const [mode = "", mark = "", errorFile = ""] = process.argv.slice(2);
const { processes } = nodeHost();
const request = {
  file: "sh",
  args: ["-c", "echo lost; echo kept >&2; exec sleep 60"],
  cwd: "/",
  env: { PATH: process.env["PATH"] ?? "", MARK: mark },
};
if (mode === "detached") {
  console.log(processes.spawnDetached({ ...request, errorFile }).pid);
} else {
  const child = processes.spawn(request);
  child.onOutput(
    () => {
      child.detachOutput();
      console.log(child.pid);
    },
    () => console.log("ended"),
  );
}
