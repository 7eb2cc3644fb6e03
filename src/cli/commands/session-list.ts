import { resolve } from "node:path";
import type { ListRequest, ListedSession, SessionList } from "../../engine/index.ts";
import { listSessions } from "../../engine/index.ts";
import { isDiskError } from "../../host/index.ts";
import { HoldfastError } from "../../model/errors.ts";
import type { Call } from "../call.ts";
import { screenOf, shellWord } from "../call.ts";
import type { LightOutside } from "../outside.ts";
import type { Screen } from "../screen.ts";
import { shortIds } from "../short-ids.ts";
import type { Cell } from "../table.ts";
import { writeTable } from "../table.ts";
import { oneLine } from "../text/clean.ts";
import { formatAge } from "../text/units.ts";
import { answer } from "./answer.ts";

/** The flags of `session list`. */
export interface ListFlags {
  readonly limit?: string;
  readonly cursor?: string;
  readonly active?: boolean;
  readonly archived?: boolean;
  readonly resumable?: boolean;
  readonly workspace?: string;
  readonly plain?: boolean;
}

type ListCall = Call<LightOutside>;

/** `holdfast session list`: newest first, from the ends of the logs; writes nothing. */
export async function sessionList(call: ListCall, flags: ListFlags): Promise<number> {
  const request = await requestOf(call, flags);
  const context = call.outside.openList(call.stateDirectory);
  const list = await listSessions(context, request);
  const ids = call.form === "json" || flags.plain === true ? [] : await context.store.ids();
  return await answer(call, list, () => {
    const screen = screenOf(call);
    if (flags.plain === true) writePlain(screen, list.sessions);
    else writeSessions(screen, { list, short: shortIds(ids), now: call.outside.host.clock.now() });
    if (flags.plain === true) return screen;
    const filtered = flags.active === true || flags.workspace !== undefined || flags.resumable === true;
    writeCounts(screen, call, { list, filtered, all: ids.length, again: flagWords(flags) });
    return screen;
  });
}

async function requestOf(call: ListCall, flags: ListFlags): Promise<ListRequest> {
  const { limit, cursor, active, archived, resumable, workspace } = flags;
  if (active === true && archived === true) {
    throw new HoldfastError("usage", "--active and --archived contradict each other", {
      hint: "An archived session is never active.",
    });
  }
  return {
    ...(limit !== undefined && { limit: parseLimit(limit) }),
    ...(cursor !== undefined && { cursor }),
    ...(active !== undefined && { active }),
    ...(archived !== undefined && { archived }),
    ...(resumable !== undefined && { resumable }),
    ...(workspace !== undefined && { workspace: await canonical(call, workspace) }),
  };
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (/^\d{1,6}$/.test(text) && limit >= 1) return limit;
  throw new HoldfastError("usage", `--limit is a whole number from 1 to 999999, not ${JSON.stringify(text)}`);
}

/** The path as sessions record it; of a directory that is gone, the path as it was given. */
async function canonical(call: ListCall, workspace: string): Promise<string> {
  const { outside } = call;
  const path = resolve(outside.currentDirectory, workspace);
  try {
    return await outside.host.disk.realPath(path);
  } catch (error) {
    if (isDiskError(error)) return path;
    throw error;
  }
}

function writePlain(screen: Screen, sessions: readonly ListedSession[]): void {
  for (const { id, workspace, title, damaged } of sessions) {
    const said = damaged === undefined ? oneLine(title) : `damaged: ${oneLine(damaged)}`;
    screen.line([id, oneLine(workspace), said].join("\t"));
  }
}

function writeSessions(
  screen: Screen,
  page: { readonly list: SessionList; readonly short: (id: string) => string; readonly now: number },
): void {
  const { list, short, now } = page;
  if (list.sessions.length === 0) return;
  const rows = list.sessions.map((session): Cell[] => {
    const { id, agent, updatedAt, active, resume, title, workspace, damaged } = session;
    return [
      { text: short(id), tone: "bold" },
      { text: oneLine(agent) },
      { text: formatAge(updatedAt, now), tone: "dim" },
      active ? { text: "yes", tone: "accent" } : { text: "no" },
      resume.eligible ? { text: "yes", tone: "good" } : { text: `no(${resume.code})`, tone: "warn" },
      damaged === undefined
        ? { text: oneLine(title) }
        : { text: `damaged: ${oneLine(damaged)}`, tone: "bad" },
      { text: oneLine(workspace), tone: "dim" },
    ];
  });
  const columns = [
    { title: "ID" },
    { title: "AGENT" },
    { title: "UPDATED" },
    { title: "ACTIVE" },
    { title: "RESUME" },
    { title: "TITLE", widthMin: 8 },
    { title: "PATH", widthMin: 12, cut: "start" as const },
  ];
  writeTable(screen, { columns, rows, shrinkOrder: [6, 5] });
}

/** The filters as they were given: another page is one of the same list. */
function flagWords({ active, archived, resumable, workspace, limit }: ListFlags): string {
  const words = [
    ...(active === true ? ["--active"] : []),
    ...(archived === true ? ["--archived"] : []),
    ...(resumable === true ? ["--resumable"] : []),
    ...(workspace === undefined ? [] : ["--workspace", shellWord(workspace)]),
    ...(limit === undefined ? [] : ["--limit", limit]),
  ];
  return words.map((word) => ` ${word}`).join("");
}

function writeCounts(
  screen: Screen,
  call: ListCall,
  counts: {
    readonly list: SessionList;
    readonly filtered: boolean;
    readonly all: number;
    /** The flags that the next page is to be asked for with, but for where it begins. */
    readonly again: string;
  },
): void {
  const { list, filtered, all, again } = counts;
  const shown = list.sessions.length;
  if (all === 0) {
    screen.line(`There are no sessions in ${call.stateDirectory}.`);
    screen.line(["dim", `Start one with --task TEXT and --model PROVIDER/MODEL: ${call.program} run --help`]);
  } else if (shown < list.total || filtered || shown === 0) {
    screen.line(["dim", `shown ${shown} of ${shown < list.total ? list.total : all}`]);
  }
  if (list.nextCursor !== null) {
    screen.line(["dim", `more with: ${call.program} session list${again} --cursor ${list.nextCursor}`]);
  }
}
