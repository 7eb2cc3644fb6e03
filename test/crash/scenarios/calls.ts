/** What a recorded model answers in the scenarios. Each effect can be told from every other one by what it leaves. */

/** An answer that asks for these. */
export const asks = (...calls: readonly unknown[]): unknown => ({ calls });

/** An answer in words, which ends the run. */
export const done: unknown = { text: "Done." };

/** A look, which changes nothing. */
export const read = (path = "readme.txt"): unknown => ({ tool: "read", args: { path } });

/** A file of that content; of one that is there, another one. */
export const write = (path: string, content = `${path} as it is now\n`): unknown => ({
  tool: "write",
  args: { path, content },
});

/** Adds a `+` behind the first `n`; done twice it adds two. */
export const edit = (path: string): unknown => ({ tool: "edit", args: { path, old: "n", new: "n+" } });

/** Removes a file. */
export const remove = (path: string): unknown => ({ tool: "delete", args: { path } });
