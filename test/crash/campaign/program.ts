import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { allPlans, nameOf } from "./catalog.ts";
import { AddressError, type Plan } from "./plan.ts";
import { repeatOf, reportOf, type CampaignReport } from "./report.ts";
import { Schedule, type Wish } from "./schedule.ts";
import { duration, tableOf } from "./table.ts";
import { addCounts, noCounts, type TaskResult } from "./task.ts";
import { TeamMember } from "./team.ts";
import { workThrough } from "./work-through.ts";

const usage = `npm run campaign -- [options]

  --seed S       chooses among what there is too much of; a random one where absent
  --only TEXT    only plans whose name holds this text, such as "crash" or "approval"
  --at ADDRESS   only this case of the one plan that --only names
  --budget MIN   minutes that it may take; 55 where absent
  --small        what every test run does: no time limit, some 60 s
  --jobs N       processes that work at the same time; 2 where absent
  --report FILE  where the report goes; campaign.json where absent
  --list         only the names of all plans
  --mutants      damages copies of the product instead, one change at a time, and
                 sees whether the tests notice; takes --only, --jobs and --report
`;

interface Options extends Wish {
  readonly only: string;
  readonly at: string | undefined;
  readonly report: string;
  readonly isListed: boolean;
}

class UsageError extends Error {}

/** True for what whoever called can mend. */
function isUsage(error: unknown): error is Error {
  if (error instanceof UsageError || error instanceof AddressError) return true;
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}

function readOptions(): Options {
  const options = {
    seed: { type: "string" },
    only: { type: "string", default: "" },
    at: { type: "string" },
    budget: { type: "string", default: "55" },
    small: { type: "boolean", default: false },
    jobs: { type: "string", default: "2" },
    report: { type: "string", default: "campaign.json" },
    list: { type: "boolean", default: false },
  } as const;
  const { values } = parseArgs({ options, args: process.argv.slice(3) });
  return {
    seed: values.seed === undefined ? Math.floor(Math.random() * 1e9) : whole("seed", values.seed, 0),
    size: values.small ? "small" : "full",
    budgetMs: number("budget", values.budget, 0.01) * 60_000,
    jobs: whole("jobs", values.jobs, 1),
    only: values.only,
    at: values.at,
    report: values.report,
    isListed: values.list,
  };
}

function number(name: string, text: string, min: number): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= min) || value === Infinity)
    throw new UsageError(`--${name} takes a number of at least ${min}, not ${JSON.stringify(text)}`);
  return value;
}

function whole(name: string, text: string, min: number): number {
  const value = number(name, text, min);
  if (Number.isInteger(value)) return value;
  throw new UsageError(`--${name} takes a whole number, not ${JSON.stringify(text)}`);
}

/** All tasks, by so many processes. */
async function runAll(plans: readonly Plan[], wish: Wish, program: string): Promise<TaskResult[]> {
  const schedule = new Schedule(plans, wish);
  const results: TaskResult[] = [];
  const tell = progress(results);
  const members = Array.from({ length: wish.jobs }, () => new TeamMember(program));
  const lane = async (member: TeamMember, isFirst: boolean): Promise<void> => {
    for (let task = schedule.next(isFirst); task !== undefined; task = schedule.next(isFirst)) {
      const result = await member.work(task);
      results.push(result);
      for (const fault of result.found)
        console.log(`found: ${fault.promise}: ${fault.message}\n  ${repeatOf(fault, wish.seed)}`);
    }
  };
  await Promise.all(members.map((member, index) => lane(member, index === 0)));
  members.forEach((member) => member.end());
  clearInterval(tell);
  return results;
}

/** Says once a minute how far it is. */
function progress(results: readonly TaskResult[]): NodeJS.Timeout {
  const start = performance.now();
  return setInterval(() => {
    const { kills, faults, powerStates } = results.reduce(
      (sum, { counts }) => addCounts(sum, counts),
      noCounts,
    );
    const numbers = [kills, faults, powerStates].map((count) => count.toLocaleString("en"));
    const found = results.reduce((sum, one) => sum + one.found.length, 0);
    console.log(
      `${duration(performance.now() - start)}: ${numbers[0]} kills, ${numbers[1]} faults, ` +
        `${numbers[2]} power cuts; ${found} found`,
    );
  }, 60_000);
}

/** One case, in this process, with all that is known of how it went wrong. */
async function runOne(plans: readonly Plan[], { at = "", seed, size, only }: Options): Promise<boolean> {
  const exact = plans.filter((plan) => nameOf(plan) === only);
  const [plan, ...others] = exact.length === 1 ? exact : plans;
  if (plan === undefined || others.length > 0)
    throw new UsageError(`--at needs the whole name of one plan in --only; ${plans.length} fit`);
  const { found, counts } = await workThrough(plan, { plan: nameOf(plan), extent: { seed, size }, at });
  if (found.length === 0 && Object.values(counts).every((count) => count === 0))
    throw new UsageError(`${nameOf(plan)} at ${at} touches nothing: is that an address of this plan?`);
  for (const { promise, message } of found) console.log(`${promise}: ${message}`);
  if (found.length === 0) console.log(`${nameOf(plan)} at ${at}: nothing found (${JSON.stringify(counts)})`);
  return found.length === 0;
}

async function runCampaign(options: Options): Promise<boolean> {
  const plans = allPlans().filter((plan) => nameOf(plan).includes(options.only));
  if (plans.length === 0)
    throw new UsageError(`no plan's name holds ${JSON.stringify(options.only)}; see --list`);
  if (options.isListed) {
    plans.forEach((plan) => console.log(nameOf(plan)));
    return true;
  }
  if (options.at !== undefined) return await runOne(plans, options);
  const startedAt = new Date();
  const start = performance.now();
  const results = await runAll(plans, options, process.argv[2] ?? "");
  const { seed, size } = options;
  const report = reportOf(results, {
    planCount: plans.length,
    seed,
    size,
    startedAt,
    durationMs: performance.now() - start,
  });
  print(report, options.report);
  return report.found.length === 0;
}

function print(report: CampaignReport, file: string): void {
  writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`);
  console.log(`${tableOf(report)}\nreport: ${file}`);
}

try {
  process.exitCode = (await runCampaign(readOptions())) ? 0 : 1;
} catch (error) {
  if (!isUsage(error)) throw error;
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
}
