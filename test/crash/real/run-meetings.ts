import type { MeetingKind } from "./order-plan.ts";

/** Who meets whom on a run, change by change. */
export const runMeetings: readonly MeetingKind[] = [];
