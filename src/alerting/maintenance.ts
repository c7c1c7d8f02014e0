/** Maintenance: times in which the problems of some recordings are expected. Pure. */
import type { Alert, Labels } from "../health/alert.ts";
import { DAY_MS, type Instant } from "../lib/clock.ts";
import { type Interval, union } from "../lib/intervals.ts";
import { type Matcher, matchesAll } from "./matcher.ts";
import type { Suppression } from "./model.ts";
import { type NamedInterval, timesIn } from "./time-interval.ts";
import { type Viewed, viewsOf } from "./views.ts";

export interface Maintenance {
  readonly name: string;
  /** All have to match. */
  readonly matchers: readonly Matcher[];
  readonly timeIntervals: readonly NamedInterval[];
  readonly comment: string;
}

/** The windows inside the bounds, in order and apart. */
export function windowsIn({ timeIntervals }: Maintenance, bounds: Interval): readonly Interval[] {
  return union(timeIntervals.flatMap((named) => timesIn(named, bounds)));
}

/** The time back and ahead in which the ends of a window are searched. */
const SEARCHED_MS = 8 * DAY_MS;
const DAYS_CACHED = 100;

/** The windows around days. Local time in another zone is slow to compute. */
const around = new WeakMap<Maintenance, Map<Instant, readonly Interval[]>>();

/** The maintenance of an alert about shops with these labels, if each has one: that of the shop where it ends first. */
export function maintenanceOf(
  all: readonly Maintenance[],
  views: readonly Labels[],
  now: Instant,
): Suppression | undefined {
  const found = views.map((labels) => maintenanceAt(all, labels, now));
  const endOf = (one: Suppression | undefined) => one?.until ?? Number.POSITIVE_INFINITY;
  return found.every((one) => one) ? found.reduce((a, b) => (endOf(b) < endOf(a) ? b : a)) : undefined;
}

/** The window that lasts longest of those in force. */
function maintenanceAt(all: readonly Maintenance[], labels: Labels, now: Instant): Suppression | undefined {
  return all
    .flatMap((one) => {
      const window = windowAt(one, now);
      const { name: by, comment } = one;
      return window && matchesAll(one.matchers, labels)
        ? [{ reason: "maintenance", by, comment, ...window } as const]
        : [];
    })
    .reduce<Suppression | undefined>(
      (a, b) => (a && (a.until ?? Infinity) >= (b.until ?? Infinity) ? a : b),
      undefined,
    );
}

/** The windows that last now, with their ends. */
export function maintenanceNow(all: readonly Maintenance[], now: Instant) {
  return all.flatMap((one) => {
    const window = windowAt(one, now);
    return window ? [{ name: one.name, until: window.until }] : [];
  });
}

/** An end that is further away than is searched is left out. */
function windowAt(maintenance: Maintenance, now: Instant): Pick<Suppression, "since" | "until"> | undefined {
  const day = now - (now % DAY_MS);
  const bounds = { from: day - SEARCHED_MS, to: day + SEARCHED_MS };
  const known = around.get(maintenance) ?? new Map<Instant, readonly Interval[]>();
  if (known.size >= DAYS_CACHED) known.clear();
  const windows = known.get(day) ?? windowsIn(maintenance, bounds);
  around.set(maintenance, known.set(day, windows));
  const window = windows.find(({ from, to }) => from <= now && now < to);
  if (!window) return undefined;
  const { from: since, to: until } = window;
  return { ...(since > bounds.from && { since }), ...(until < bounds.to && { until }) };
}

/** The name of a maintenance in which an episode began, or else ended. */
export function plannedBy(
  all: readonly Maintenance[],
  alert: Viewed & Pick<Alert, "startsAt" | "endsAt">,
): string | undefined {
  const { startsAt, endsAt } = alert;
  const nameAt = (at: Instant) => maintenanceOf(all, viewsOf(alert), at)?.by;
  return nameAt(startsAt) ?? (endsAt === undefined ? undefined : nameAt(endsAt - 1));
}
