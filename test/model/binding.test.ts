import { describe, expect, test } from "vitest";
import { compareBinding } from "../../src/model/binding.ts";
import type { WorkspaceBinding } from "../../src/model/facts.ts";

const directory: WorkspaceBinding = { root: "/project", inode: "7", birthtimeNs: "100" };
const elsewhere = { inode: "8", birthtimeNs: "200" };
const repository: WorkspaceBinding = {
  ...directory,
  pathInRepository: "",
  firstCommits: ["a", "b"],
  remote: "example.org/team/shop",
  branch: "main",
  head: "c",
};

const without = (binding: WorkspaceBinding, ...names: (keyof WorkspaceBinding)[]): WorkspaceBinding => {
  const copy: Partial<WorkspaceBinding> = { ...binding };
  for (const name of names) delete copy[name];
  return copy as WorkspaceBinding;
};

describe("a workspace is the same", () => {
  const shallow = without(repository, "firstCommits");
  const local = without(repository, "remote");
  const empty = without(repository, "firstCommits", "remote", "head");
  const detached = without(repository, "branch");
  test.each<[string, WorkspaceBinding, WorkspaceBinding]>([
    ["as itself", repository, repository],
    ["without git, by its inode and birth time", directory, directory],
    ["where the repository was cloned anew", repository, { ...repository, ...elsewhere }],
    ["where the branch has gone on", repository, { ...repository, head: "d" }],
    ["where another history was merged in", repository, { ...repository, firstCommits: ["a", "b", "x"] }],
    ["where a shallow clone has the remote", repository, { ...shallow, ...elsewhere }],
    ["where a remote was added", local, { ...repository, ...elsewhere }],
    ["where a remote was removed and it begins the same", repository, { ...local, ...elsewhere }],
    ["where an empty repository got its first commit", empty, repository],
    ["where a directory became a repository", directory, repository],
    ["at the same detached commit", detached, { ...detached, ...elsewhere }],
  ])("%s", (_, recorded, found) => {
    expect(compareBinding(recorded, found)).toBeUndefined();
  });
});

describe("a workspace is another one", () => {
  const bare = without(repository, "firstCommits", "remote");
  test.each<[string, WorkspaceBinding, WorkspaceBinding, RegExp]>([
    ["without git, where it was made anew", directory, { ...directory, ...elsewhere }, /another directory/],
    [
      "with its old inode and a later birth",
      directory,
      { ...directory, birthtimeNs: "200" },
      /another directory/,
    ],
    [
      "where it begins otherwise",
      repository,
      { ...repository, firstCommits: ["x"] },
      /begins with x, and began with a, b/,
    ],
    [
      "where it is a clone of another",
      repository,
      { ...repository, remote: "example.org/o" },
      /clone of example.org\/o/,
    ],
    ["where it is no repository any more", repository, directory, /in no git repository/],
    [
      "at another place in the repository",
      repository,
      { ...repository, pathInRepository: "sub" },
      /is sub in its repository, and was the top/,
    ],
    ["where nothing but the directory could say so", bare, { ...bare, ...elsewhere }, /another directory/],
  ])("%s", (_, recorded, found, words) => {
    const mismatch = compareBinding(recorded, found);
    expect(mismatch?.code).toBe("workspace_mismatch");
    expect(mismatch?.what).toMatch(words);
  });

  test.each<[string, WorkspaceBinding, WorkspaceBinding, RegExp]>([
    [
      "on another branch",
      repository,
      { ...repository, branch: "x" },
      /is on branch x, and was on branch main/,
    ],
    [
      "detached",
      repository,
      without(repository, "branch"),
      /is detached at commit c, and was on branch main/,
    ],
    [
      "on a branch instead of detached",
      without(repository, "branch"),
      repository,
      /is on branch main, and was detached/,
    ],
    [
      "detached at another commit",
      without(repository, "branch"),
      { ...without(repository, "branch"), head: "d" },
      /is detached at commit d, and was detached at commit c/,
    ],
  ])("in its head: %s", (_, recorded, found, words) => {
    const mismatch = compareBinding(recorded, found);
    expect(mismatch?.code).toBe("branch_mismatch");
    expect(mismatch?.what).toMatch(words);
  });
});
