import type { Usage } from "../../model/values.ts";

/** Numbers as people read them. Times are milliseconds. */

const [secondMs, minuteMs, hourMs, dayMs] = [1000, 60_000, 3_600_000, 86_400_000];

/** How long something took: `12 ms`, `3.4 s`, `2 min 5 s`, `1 h 20 min`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < minuteMs - 50) return `${(ms / secondMs).toFixed(1)} s`;
  const [larger, smaller, unitMs, names] =
    ms < hourMs
      ? [minuteMs, secondMs, minuteMs, ["min", "s"] as const]
      : [hourMs, minuteMs, hourMs, ["h", "min"] as const];
  const whole = Math.floor(ms / unitMs);
  const rest = Math.floor((ms - whole * larger) / smaller);
  return rest === 0 ? `${whole} ${names[0]}` : `${whole} ${names[0]} ${rest} ${names[1]}`;
}

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: secondMs,
  "": secondMs,
  m: minuteMs,
  min: minuteMs,
  h: hourMs,
  d: dayMs,
};

/** A duration as people type it: `500ms`, `2s`, `1.5m`, `1h`, `7d`; a bare number is seconds. Undefined where it is none. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?) ?([a-z]*)$/.exec(text) ?? [];
  const unitMs = unitsMs[unit];
  return number === undefined || unitMs === undefined ? undefined : Math.round(Number(number) * unitMs);
}

/** How long ago something was, in at most eight columns: `now`, `5s ago`, `3m ago`, `2h ago`, `4d ago`, or a date. */
export function formatAge(at: number, now: number): string {
  const ms = now - at;
  if (ms < secondMs) return "now";
  if (ms < minuteMs) return `${Math.floor(ms / secondMs)}s ago`;
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)}m ago`;
  if (ms < dayMs) return `${Math.floor(ms / hourMs)}h ago`;
  if (ms < 100 * dayMs) return `${Math.floor(ms / dayMs)}d ago`;
  return formatTime(at).slice(2, 10);
}

/** Local wall clock: `2026-03-01 14:05:09`. */
export function formatTime(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}

/** A count with its noun: `1 turn`, `2 turns`. */
export function formatCount(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Tokens of a run; `≥` where some call's usage is unknown. */
export function formatUsage(usage: Usage): string {
  const { input, output, cachedInput, lowerBound } = usage;
  if (input === undefined && output === undefined) return "not reported";
  const bound = lowerBound === true ? "≥ " : "";
  const cached =
    cachedInput === undefined || cachedInput === 0 ? "" : ` (${formatNumber(cachedInput)} cached)`;
  const parts = [
    ...(input === undefined ? [] : [`${bound}${formatNumber(input)} in${cached}`]),
    ...(output === undefined ? [] : [`${bound}${formatNumber(output)} out`]),
  ];
  return parts.join(", ");
}

/** A size: `812 bytes`, `3.4 KiB`, `1.2 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return formatCount(bytes, "byte");
  const units = ["KiB", "MiB", "GiB"] as const;
  let [value, index] = [bytes / 1024, 0];
  while (value >= 1023.95 && index < units.length - 1) [value, index] = [value / 1024, index + 1];
  return `${value.toFixed(1)} ${units[index]}`;
}

function formatNumber(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, " ");
}
