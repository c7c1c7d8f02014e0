/** Maintenance: times in which the problems of some recordings are expected. Pure. */
import type { Labels } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { type Interval, union } from "../lib/intervals.ts";
import { matchesAll } from "./matcher.ts";
import type { Suppression } from "./notification.ts";
import type { Matcher } from "./route.ts";
import { type NamedInterval, timesIn } from "./time-interval.ts";

export interface Maintenance {
  readonly name: string;
  /** All have to match. */
  readonly matchers: readonly Matcher[];
  readonly timeIntervals: readonly NamedInterval[];
  readonly comment: string;
}

/** The windows inside the bounds, in order and apart. */
export function windowsIn({ timeIntervals }: Maintenance, bounds: Interval): Interval[] {
  return union(timeIntervals.flatMap((named) => timesIn(named, bounds)));
}

const HOUR_MS = 3_600_000;
/** How far back and ahead the ends of a window are searched. */
const SEARCHED_MS = 8 * 24 * HOUR_MS;

/** The windows around an hour. Local time in another zone is slow to compute. */
const around = new WeakMap<Maintenance, { readonly hour: Instant; readonly windows: readonly Interval[] }>();

/** The maintenance of an alert with these labels; of several that which lasts longest. */
export function maintenanceOf(all: readonly Maintenance[], labels: Labels, now: Instant): Suppression | undefined {
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

/** An end that is further away than is searched is left out. */
function windowAt(maintenance: Maintenance, now: Instant): Pick<Suppression, "since" | "until"> | undefined {
  const hour = now - (now % HOUR_MS);
  const bounds = { from: hour - SEARCHED_MS, to: hour + SEARCHED_MS };
  const known = around.get(maintenance);
  const windows = known?.hour === hour ? known.windows : windowsIn(maintenance, bounds);
  around.set(maintenance, { hour, windows });
  const window = windows.find(({ from, to }) => from <= now && now < to);
  if (!window) return undefined;
  const { from: since, to: until } = window;
  return { ...(since > bounds.from && { since }), ...(until < bounds.to && { until }) };
}
