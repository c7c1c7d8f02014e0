/** The input of a backtest: the rules of a configuration, and a time span. */
import type { Condition, Rule } from "../health/model.ts";
import { kindOf, watchesRecordings } from "../health/recording-conditions.ts";
import type { Inventory } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";

export interface ReplaySetup {
  readonly rules: readonly Rule[];
  /** The interval of statuses, ms; sweeps are at whole multiples of it. */
  readonly statusIntervalMs: number;
  /** The interval of uptime ratios, ms; they are computed at whole multiples of it. */
  readonly uptimeIntervalMs: number;
  isWatched(recordingId: string, locationId: string): boolean;
}

/** From the first instant up to, not including, the last. */
export type TimeSpan = { readonly from: Instant; readonly to: Instant };

/** The parts that recordings and locations are replayed with. */
export interface ReplayContext {
  readonly setup: ReplaySetup;
  readonly plan: Plan;
  readonly span: TimeSpan;
  /** The present: buckets that are not complete by then are unknown. */
  readonly now: Instant;
  readonly inventory: Inventory;
}

export type Plan = ReturnType<typeof planOf>;

export interface UptimeWindow {
  readonly overMs: number;
  /** Below this, some rule's condition holds. */
  readonly below: number;
  /** From this on, no rule distinguishes ratios. */
  readonly fineFrom: number;
}

/** The rules by how history can evaluate them. */
export function planOf(rules: readonly Rule[]) {
  const counts = rules.filter(isOfCounts);
  const others = rules.filter((rule) => !isOfCounts(rule));
  const shown = others.filter(({ when }) => whyNotShown(when) === undefined);
  return {
    recording: shown.filter(({ when }) => when.kind !== "location_offline"),
    location: shown.filter(({ when }) => when.kind === "location_offline"),
    asksStatus: shown.some(({ when }) => when.kind === "status"),
    windows: windowsOf(shown),
    /** Replayed over what was counted (counts.ts). */
    counts,
    notShown: others.flatMap((rule) => {
      const why = whyNotShown(rule.when);
      return why === undefined ? [] : [{ rule, why }];
    }),
  };
}

function isOfCounts({ when }: Rule): boolean {
  return when.kind === "counts" || when.kind === "counts_together";
}

function windowsOf(rules: readonly Rule[]): UptimeWindow[] {
  const windows = new Map<number, UptimeWindow>();
  for (const { when } of rules) {
    if (when.kind !== "overall_uptime") continue;
    const { overMs, below, clearAbove } = when;
    const known = windows.get(overMs) ?? { overMs, below, fineFrom: clearAbove };
    const fineFrom = Math.max(known.fineFrom, clearAbove);
    windows.set(overMs, { overMs, below: Math.max(known.below, below), fineFrom });
  }
  return [...windows.values()];
}

function whyNotShown(when: Condition): string | undefined {
  if (watchesRecordings(when)) return kindOf(when).notInHistory(when);
  switch (when.kind) {
    case "location_offline":
      return undefined;
    case "group_offline":
      return "history is read location by location, and does not show groups of several";
    case "service":
      return "history does not show whether the service was reachable";
    case "directory":
    case "notifications":
      return "history does not show notifications";
  }
}

/** The first multiple of `stepMs` that is not before `at`. */
export function tickFrom(at: Instant, stepMs: number): Instant {
  return Math.ceil(at / stepMs) * stepMs;
}

/** The last multiple of `stepMs` before `at`. */
export function tickBefore(at: Instant, stepMs: number): Instant {
  return tickFrom(at, stepMs) - stepMs;
}
