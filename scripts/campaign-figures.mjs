// Prints README.md with the figures of the crash campaign, made from the reports in docs/campaign.json and
// docs/mutants.json. `npm run fix` writes it.
import { existsSync, readFileSync } from "node:fs";

const begin = "<!-- figures of docs/campaign.json and docs/mutants.json; npm run fix writes them -->";
const end = "<!-- end of the figures -->";

const read = (path) => JSON.parse(readFileSync(path, "utf8"));
/** The table, and how it came about; nothing where no campaign has been kept. */
function figuresOf() {
  if (!existsSync("docs/campaign.json")) return "";
  const { totals, plans, found, seed, durationMs, cores, node, startedAt, commit } =
    read("docs/campaign.json");
  const damages = existsSync("docs/mutants.json") ? [rowOf(read("docs/mutants.json"))] : [];

  function rowOf({ killed, explained, mutants }) {
    return `| deliberate damages to copies of the product: noticed, explained | ${killed}, ${explained} of ${mutants.length} |`;
  }

  const count = (number) => number.toLocaleString("en");
  const scenarios = new Set(plans.map(({ plan }) => plan.slice(plan.indexOf(": ") + 2))).size;
  const of = (promise) => count(found.filter((one) => one.promise === promise).length);

  const rows = [
    ["processes killed by SIGKILL", totals.kills],
    ["effects made to fail (EIO, ENOSPC, EMFILE, EACCES, short writes)", totals.faults],
    ["processes in memory that died, alone or all at once", totals.simulatedKills],
    ["machines in memory after a power cut, read and compared", totals.powerStates],
    ["of these deaths and power cuts, worked on to the end", totals.goneOn],
    ["orders of several processes", totals.orders],
    ["random histories, command sequences, damaged files", totals.histories],
  ]
    .filter(([, number]) => number > 0)
    .map(([what, number]) => `| ${what} | ${count(number)} |`);

  return `
| ${count(scenarios)} scenarios, ${count(plans.filter(({ cases }) => cases > 0).length)} plans | |
|---|---|
${[...rows, ...damages].join("\n")}
| **lost, repeated, falsely told as done** | **${of("lost")}, ${of("repeated")}, ${of("false success")}** |

${Math.round(durationMs / 60_000)} minutes on ${cores} cores, Node ${node.slice(1)}, ${startedAt.slice(0, 10)}, commit ${commit.slice(0, 12)}, seed ${seed}.

`;
}

const readme = readFileSync("README.md", "utf8");
const [from, to] = [readme.indexOf(begin), readme.indexOf(end)];
if (from === -1 || to < from) throw new Error("README.md has no place for the figures of the campaign");
process.stdout.write(`${readme.slice(0, from)}${begin}\n${figuresOf()}${readme.slice(to)}`);
