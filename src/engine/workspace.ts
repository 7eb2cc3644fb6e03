import type { Host } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import type { BindingMismatch } from "../model/binding.ts";
import { compareBinding } from "../model/binding.ts";
import { HoldfastError } from "../model/errors.ts";
import type { WorkspaceBinding } from "../model/facts.ts";
import { normaliseRemote } from "../model/remote.ts";

/** Binds a session to the directory it works in, and checks that the binding still holds. */

const gitTimeoutMs = 5000;

/** What a directory is: its canonical path, and the repository it belongs to. Rejects `workspace_mismatch` or `usage`. */
export async function bindWorkspace(
  host: Host,
  directory: string,
  environment: Readonly<Record<string, string>>,
): Promise<WorkspaceBinding> {
  return await describeWorkspace(host, await canonicalDirectory(host, directory), environment);
}

async function describeWorkspace(
  host: Host,
  root: string,
  environment: Readonly<Record<string, string>>,
): Promise<WorkspaceBinding> {
  const stat = await host.disk.stat(root);
  const identity = { root, inode: stat?.inode ?? "", birthtimeNs: stat?.birthtimeNs ?? "" };
  const git = (...args: string[]) => runGit(host, { root, args, environment });
  const prefix = await git("rev-parse", "--show-prefix");
  if (prefix === undefined) return identity;
  const [remote, branch, head, shallow] = await Promise.all([
    git("config", "--get", "remote.origin.url"),
    git("symbolic-ref", "--short", "-q", "HEAD"),
    git("rev-parse", "--verify", "-q", "HEAD"),
    git("rev-parse", "--is-shallow-repository"),
  ]);
  const roots =
    head === undefined || shallow === "true" ? undefined : await git("rev-list", "--max-parents=0", "HEAD");
  return {
    ...identity,
    pathInRepository: prefix.replace(/\/$/, ""),
    ...(roots !== undefined && { firstCommits: roots.split("\n").toSorted() }),
    ...(remote !== undefined && { remote: normaliseRemote(remote) }),
    ...(branch !== undefined && { branch }),
    ...(head !== undefined && { head }),
  };
}

/**
 * Rejects `workspace_mismatch` where the bound directory is gone or is another one, `branch_mismatch` where another
 * branch or commit is checked out; names what differs and the way out. Never creates or changes anything.
 */
export async function checkWorkspace(
  context: { readonly host: Host; readonly environment: Readonly<Record<string, string>> },
  session: string,
  binding: WorkspaceBinding,
): Promise<void> {
  const { host, environment } = context;
  const { root } = binding;
  const stat = await host.disk.stat(root);
  if (stat?.kind !== "directory") {
    const what = stat === undefined ? "does not exist" : "is no directory";
    throw mismatch({ code: "workspace_mismatch", what }, session, binding);
  }
  const found = compareBinding(binding, await describeWorkspace(host, root, environment));
  if (found !== undefined) throw mismatch(found, session, binding);
}

function mismatch(found: BindingMismatch, session: string, binding: WorkspaceBinding): HoldfastError {
  const { root, branch, head } = binding;
  const way =
    found.code === "branch_mismatch"
      ? `Go back with: git -C ${quoted(root)} switch ${branch === undefined ? `--detach ${head}` : quoted(branch)} — `
      : "Put it back at that path, ";
  return new HoldfastError(found.code, `the workspace of session ${session}, ${root}, ${found.what}`, {
    hint: `${way}then run: holdfast resume ${session}`,
  });
}

/** A word as a shell takes it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

async function canonicalDirectory(host: Host, directory: string): Promise<string> {
  const hint = "Name an existing directory with --workspace.";
  let root: string;
  try {
    root = await host.disk.realPath(directory);
  } catch (error) {
    if (!isDiskError(error)) throw error;
    const what = error.code === "ENOENT" ? "does not exist" : `cannot be entered (${error.code})`;
    throw new HoldfastError("usage", `the workspace ${directory} ${what}`, { hint, cause: error });
  }
  if ((await host.disk.stat(root))?.kind === "directory") return root;
  throw new HoldfastError("usage", `the workspace ${directory} is no directory`, { hint });
}

/** The trimmed output of git, or undefined where it fails, says nothing or is not installed. */
async function runGit(
  host: Host,
  request: { root: string; args: string[]; environment: Readonly<Record<string, string>> },
): Promise<string | undefined> {
  const { root, args, environment } = request;
  const env = { ...gitEnvironment(environment), GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" };
  try {
    const { code, stdout } = await host.processes.capture(
      { file: "git", args, cwd: root, env },
      gitTimeoutMs,
    );
    const text = stdout.replace(/\n$/, "");
    return code === 0 && (text !== "" || args.includes("--show-prefix")) ? text : undefined;
  } catch (error) {
    // Without git, or where it takes too long, a directory is bound by what it is itself.
    if (isDiskError(error)) return undefined;
    throw error;
  }
}

/**
 * What git needs, and no more: it runs programs that its configuration names, which must see no key, and an inherited
 * `GIT_DIR` would have it speak of another repository.
 */
function gitEnvironment(environment: Readonly<Record<string, string>>): Record<string, string> {
  const names = ["PATH", "HOME", "LANG"];
  return Object.fromEntries(
    names.flatMap((name) => (name in environment ? [[name, environment[name] ?? ""]] : [])),
  );
}
