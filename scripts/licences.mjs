// The licences of the packages whose code a build contains: it may be passed on only with them.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Folders of the packages that went into a build, by its metafiles. */
function packageFolders(metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap((one) => Object.keys(one.inputs)),
  );
  const folders = inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? []);
  return [...new Set(folders)].toSorted((left, right) => (left < right ? -1 : 1));
}

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
  return [`${name} ${version} (${license})`, ...texts].join("\n\n");
}

/** One text with all of them. */
export function licencesOf(metafiles) {
  const head = "This program contains code of these packages, each under its own licence.";
  return `${[head, ...packageFolders(metafiles).map(licenceOf)].join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}
