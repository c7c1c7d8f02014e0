/** What is replayed: the part of a configuration that decides what fires and who is told, and the time it is held against. */
import type { InhibitRule } from "../alerting/inhibit.ts";
import type { Route } from "../alerting/route.ts";
import { kindOf, watchesRecordings } from "../health/recording-conditions.ts";
import type { Condition, Rule } from "../health/rule.ts";
import type { Instant } from "../lib/clock.ts";

export interface Setup {
  readonly rules: readonly Rule[];
  readonly route: Route;
  readonly inhibitRules: readonly InhibitRule[];
  readonly receivers: readonly Receiver[];
  /** How often statuses are read, ms; sweeps are taken to fall on whole multiples of it. */
  readonly statusIntervalMs: number;
  /** How often uptime figures are worked out, ms; at whole multiples of it. */
  readonly uptimeIntervalMs: number;
  isWatched(recordingId: string, locationId: string): boolean;
}

export interface Receiver {
  readonly name: string;
  /** Whether any of its integrations is told ends. */
  readonly sendResolved: boolean;
}

/** From the first instant up to, not including, the last. */
export interface Span {
  readonly from: Instant;
  readonly to: Instant;
}

/** The rules by what history can say about them. */
export interface Plan {
  readonly recording: readonly Rule[];
  readonly location: readonly Rule[];
  /** Some rule asks whether a recording is offline. */
  readonly asksStatus: boolean;
  /** The windows of uptime rules, each once. */
  readonly windows: readonly UptimeWindow[];
  readonly notShown: readonly { readonly rule: Rule; readonly why: string }[];
}

export interface UptimeWindow {
  readonly overMs: number;
  /** A figure below this makes some rule's condition hold. */
  readonly below: number;
  /** No rule has anything to say about a figure that is not below this. */
  readonly fineFrom: number;
}

export function planOf(rules: readonly Rule[]): Plan {
  const shown = rules.filter(({ when }) => whyNotShown(when) === undefined);
  return {
    recording: shown.filter(({ when }) => when.kind !== "location_offline"),
    location: shown.filter(({ when }) => when.kind === "location_offline"),
    asksStatus: shown.some(({ when }) => when.kind === "status"),
    windows: windowsOf(shown),
    notShown: rules.flatMap((rule) => {
      const why = whyNotShown(rule.when);
      return why === undefined ? [] : [{ rule, why }];
    }),
  };
}

function windowsOf(rules: readonly Rule[]): UptimeWindow[] {
  const windows = new Map<number, UptimeWindow>();
  for (const { when } of rules) {
    if (when.kind !== "overall_uptime") continue;
    const { overMs, below, clearAbove } = when;
    const known = windows.get(overMs) ?? { overMs, below, fineFrom: clearAbove };
    windows.set(overMs, {
      overMs,
      below: Math.max(known.below, below),
      fineFrom: Math.max(known.fineFrom, clearAbove),
    });
  }
  return [...windows.values()];
}

/** Why history says nothing about such a rule; undefined where it does. */
function whyNotShown(when: Condition): string | undefined {
  if (watchesRecordings(when)) return kindOf(when).notInHistory(when);
  switch (when.kind) {
    case "location_offline":
      return undefined;
    case "service":
      return "history says nothing of lenswatch's own sight";
    case "notifications":
      return "history says nothing of messages";
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
