// Builds the package in a temporary folder, as it would be published, and looks whether it keeps its word.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));

function node(...args) {
  return execFileSync(process.execPath, args, { encoding: "utf8" });
}

/** What the manifest promises and the files do not keep. */
async function lint(folder) {
  const { messages } = await publint({ pkgDir: folder, pack: false, strict: true });
  return messages.map((message) => formatMessage(message, manifest, { color: false }) ?? message.code);
}

/** Starts program and library; their dependencies lie there as npm would have installed them. */
function start(folder) {
  const faults = [];
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  const version = node(join(folder, manifest.bin.holdfast), "--version").trim();
  if (version !== manifest.version)
    faults.push(`holdfast --version says ${version}, not ${manifest.version}`);
  const library = JSON.stringify(join(folder, manifest.exports["."].default));
  const names = node("-e", `import(${library}).then((it) => console.log(Object.keys(it).join()))`);
  if (!names.includes("openEngine")) faults.push(`the library exports ${names.trim()}, and no openEngine`);
  return faults;
}

const folder = mkdtempSync(join(tmpdir(), "holdfast-package-"));
try {
  for (const file of ["package.json", "README.md", "CHANGELOG.md", "LICENSE"]) {
    copyFileSync(file, join(folder, file));
  }
  mkdirSync(join(folder, "dist"));
  node("scripts/build.mjs", "--to", join(folder, "dist"));
  let faults = await lint(folder);
  if (faults.length === 0) faults = start(folder);
  for (const fault of faults) console.log(fault);
  if (faults.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
