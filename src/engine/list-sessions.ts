import type { Host } from "../host/index.ts";
import { isDiskError } from "../host/index.ts";
import { HoldfastError } from "../model/errors.ts";
import type { ResumeVerdict } from "../model/eligibility.ts";
import { timeOfId } from "../model/ids.ts";
import type { SessionRow } from "../model/views.ts";
import { viewRow } from "../model/views.ts";
import type { LastRow, SessionIndex } from "../store/index.ts";
import { makeResumeJudge } from "./resume-verdict.ts";

/** Which sessions are listed, and how many at once. */
export interface ListRequest {
  /** Only those that a process holds. */
  readonly active?: boolean;
  /** Archived ones instead of the others. */
  readonly archived?: boolean;
  /** Only those of this directory; a canonical path. */
  readonly workspace?: string;
  /** Only those that may be resumed. */
  readonly resumable?: boolean;
  /** At most so many rows; 50 where absent. */
  readonly limit?: number;
  /** Where the last page ended. */
  readonly cursor?: string;
}

/** A row of the list. */
export type ListedSession = SessionRow & { resume: ResumeVerdict };

/** One page of the list, newest first. */
export interface SessionList {
  sessions: ListedSession[];
  /** Names the next page; null at the end. */
  nextCursor: string | null;
  /** All that fit the filters. */
  total: number;
}

/** What a list is made with: no more of the engine, so that it can be had at once. */
export interface ListContext {
  readonly host: Pick<Host, "disk">;
  readonly store: Pick<SessionIndex, "directory" | "ids" | "lastRow" | "isHeld">;
}

const limitDefault = 50;

/** Lists sessions from the ends of their logs. Writes nothing; a damaged session is a row that says so. */
export async function listSessions(context: ListContext, request: ListRequest): Promise<SessionList> {
  const after = request.cursor === undefined ? undefined : parseCursor(request.cursor);
  const withVerdict = makeJudge(context);
  const rows: Candidate[] = [];
  for (const id of await context.store.ids()) {
    const row = await readRow(context, id);
    if (fits(row, request) && (request.resumable !== true || (await withVerdict(row)).resume.eligible))
      rows.push(row);
  }
  rows.sort(newestFirst);
  const from = after === undefined ? 0 : rows.findIndex((row) => newestFirst(row, after) > 0);
  const rest = from === -1 ? [] : rows.slice(from);
  const limit = request.limit ?? limitDefault;
  const sessions = await Promise.all(rest.slice(0, limit).map(withVerdict));
  const last = rest.length > limit ? sessions.at(-1) : undefined;
  const nextCursor = last === undefined ? null : `${last.updatedAt}-${last.id}`;
  return { sessions, nextCursor, total: rows.length };
}

type Candidate = SessionRow & { moved: boolean };

async function readRow(context: ListContext, id: string): Promise<Candidate> {
  const createdAt = timeOfId(id);
  const last = await readLastRow(context, id);
  if (typeof last === "string") {
    const unknown = { title: "", agent: "", workspace: "", archived: false, pinned: false, moved: false };
    return { id, ...unknown, createdAt, updatedAt: createdAt, active: false, messages: 0, damaged: last };
  }
  // A clean end is on record, so only the others are worth a look at the lock.
  const active = last.released ? false : await context.store.isHeld(id);
  const view = viewRow(id, last.row, { createdAt, updatedAt: last.at, active, messages: last.msgs });
  const damaged = last.remainder.state === "damaged" ? { damaged: last.remainder.damage.reason } : {};
  return { ...view, ...damaged, moved: last.row.moved === true };
}

/** The newest row; or, as a text, why there is none: one session that cannot be read hides no other. */
async function readLastRow(context: ListContext, id: string): Promise<LastRow | string> {
  try {
    const last = await context.store.lastRow(id);
    if (!("damage" in last)) return last;
    const { line, offset, reason } = last.damage;
    return `line ${line}, byte ${offset}: ${reason}`;
  } catch (error) {
    if (!isDiskError(error)) throw error;
    return `it cannot be read: ${error.code}`;
  }
}

function fits(row: Candidate, request: ListRequest): boolean {
  if (request.active === true && !row.active) return false;
  if (request.archived === true ? !row.archived : row.archived) return false;
  return request.workspace === undefined || row.workspace === request.workspace;
}

function newestFirst(
  left: Pick<SessionRow, "updatedAt" | "id">,
  right: Pick<SessionRow, "updatedAt" | "id">,
): number {
  if (left.updatedAt !== right.updatedAt) return right.updatedAt - left.updatedAt;
  return left.id < right.id ? 1 : left.id > right.id ? -1 : 0;
}

/** Adds to a row whether it may be resumed. */
function makeJudge({ host }: ListContext): (row: Candidate) => Promise<ListedSession> {
  const judge = makeResumeJudge(host);
  return async (row) => {
    const { moved: _, ...view } = row;
    return { ...view, resume: await judge(row) };
  };
}

function parseCursor(cursor: string): { updatedAt: number; id: string } {
  const match = /^(\d{1,16})-(ses_[0-9a-z]{26})$/.exec(cursor);
  if (match === null) {
    throw new HoldfastError("usage", `${JSON.stringify(cursor)} is no cursor`, {
      hint: "Take it from nextCursor of the page before, or leave it out.",
    });
  }
  return { updatedAt: Number(match[1]), id: match[2] ?? "" };
}
