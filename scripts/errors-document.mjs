// Prints docs/errors.md, made from the one table of errors. `npm run fix` writes it.
import { build } from "esbuild";

const { outputFiles } = await build({
  entryPoints: ["src/model/errors.ts"],
  bundle: true,
  write: false,
  format: "esm",
  target: "node20",
});
const source = Buffer.from(outputFiles[0].contents).toString("base64");
const { errorTable } = await import(`data:text/javascript;base64,${source}`);

const rows = Object.entries(errorTable).map(
  ([code, { exit, http, retry, meaning }]) =>
    `| \`${code}\` | ${exit} | ${http} | ${retry ? "yes" : "no"} | ${meaning} |`,
);
process.stdout.write(`# Errors

Generated from \`src/model/errors.ts\` by \`npm run fix\`; do not edit.

Every failure has one code. Scripts rely on codes and exit codes, never on messages. *Retry* is yes where the same command
may succeed later without anybody changing anything. *HTTP* is the status with which a server answers.

| code | exit | HTTP | retry | meaning |
|---|---|---|---|---|
${rows.join("\n")}

A command that did what it was asked exits 0. An exit code that is none of these is that of a signal (128 and its number).
`);
