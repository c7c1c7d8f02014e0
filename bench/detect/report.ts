/** How the findings compare with the ledger of the world, as the table of docs/contributing/detection.md. */
import { NATS } from "../../src/counts/implausible.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { Fault, FaultKind } from "./faults.ts";
import type { Episode, Played } from "./run.ts";
import type { VisitsWorld } from "./visits-world.ts";

export interface Row {
  readonly sensitivity: number;
  /** Wholly blind, and no other recording covers their zones. */
  readonly blind: Found;
  readonly dim: Found;
  readonly turned: Found;
  readonly wrong: readonly Episode[];
  readonly together: number;
}

export interface Found {
  readonly of: number;
  readonly found: number;
  readonly withinDay: number;
  /** Those of which even one who knows the true rates would know within a trading day, and of them those found in it. */
  readonly knowable: number;
  readonly knowableWithinDay: number;
  /** Until found, of those that were, ascending. */
  readonly hours: readonly number[];
  readonly visits: readonly number[];
  /** Usual since the fault began, whether served by then or not. */
  readonly expected: readonly number[];
  /** What of it one needs who knows the true rates and is served at once. */
  readonly needed: readonly number[];
}

export interface Months {
  readonly all: number;
  readonly withoutHolidays: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const STEP_MS = 600_000;
const MONTH_DAYS = 30;
/** An alert so long after a fault has ended was under way before it did. */
const AFTER_MS = HOUR_MS;

const EXPLAINS: readonly FaultKind[] = ["blind", "dim", "turned"];

export function rowsOf({ world, faults, episodes, together, options }: Played): Row[] {
  return options.sensitivities.map((sensitivity) => {
    const own = episodes.filter((episode) => episode.sensitivity === sensitivity);
    const wrong = own.filter((episode) => !faults.some((fault) => explains(fault, episode)));
    const foundOf = (kind: FaultKind) => {
      const sought = faults.filter((fault) => fault.kind === kind && !fault.isShared);
      return compare(sought, own, world);
    };
    return {
      sensitivity,
      blind: foundOf("blind"),
      dim: foundOf("dim"),
      turned: foundOf("turned"),
      wrong,
      together: together.get(sensitivity)?.size ?? 0,
    };
  });
}

export function explains(fault: Fault, { locationId, recordingId, at }: Episode): boolean {
  const isIts =
    recordingId === undefined ? fault.isEntrance && fault.locationId === locationId : fault.recordingId === recordingId;
  return isIts && EXPLAINS.includes(fault.kind) && at >= fault.from && at <= fault.to + AFTER_MS;
}

function compare(sought: readonly Fault[], episodes: readonly Episode[], world: VisitsWorld): Found {
  const all = sought.map((fault) => {
    const first = episodes.find((episode) => explains(fault, episode));
    const until = tradingDayAfter(world, fault);
    const { recordingId, from } = fault;
    const isKnowable = world.idealSurprise({ recordingId, from, to: until }) >= NATS;
    return { fault, first, isKnowable, isWithinDay: first !== undefined && first.at <= until };
  });
  const found = all.flatMap(({ fault, first }) => (first ? [{ fault, first, at: first.at }] : []));
  const ascending = (values: number[]) => values.sort((a, b) => a - b);
  return {
    of: sought.length,
    found: found.length,
    withinDay: all.filter(({ isWithinDay }) => isWithinDay).length,
    knowable: all.filter(({ isKnowable }) => isKnowable).length,
    knowableWithinDay: all.filter(({ isKnowable, isWithinDay }) => isKnowable && isWithinDay).length,
    hours: ascending(found.map(({ fault, at }) => (at - fault.from) / HOUR_MS)),
    expected: ascending(found.map(({ fault, first }) => first.usualOf(fault.zones, fault.from))),
    needed: ascending(
      found.map(({ fault, first }) => {
        const { recordingId, zones, from } = fault;
        let to = from;
        while (to < first.at && world.idealSurprise({ recordingId, from, to }) < NATS) to += STEP_MS;
        return first.usualOf(zones, from) - first.usualOf(zones, to);
      }),
    ),
    visits: ascending(
      found.map(
        ({ fault, at }) => world.missedBetween({ recordingId: fault.recordingId, from: fault.from, to: at }).missed,
      ),
    ),
  };
}

/** Until the location was open for as long as it is in a day. */
export function tradingDayAfter(world: VisitsWorld, { locationId, from, to }: Fault): Instant {
  const zone = world.locations.find(({ id }) => id === locationId)?.timezone ?? "utc";
  let open = 0;
  for (let at = from; at < to; at += STEP_MS) {
    const { opens, closes } = world.dayAt(locationId, at);
    const local = new Date(new Date(at).toLocaleString("en-US", { timeZone: zone }));
    const minute = local.getHours() * 60 + local.getMinutes();
    if (minute >= opens && minute < closes) open += STEP_MS / 60_000;
    if (closes > opens && open >= closes - opens) return at + STEP_MS;
  }
  return to;
}

/** Of all recordings, without those of location days on and beside holidays. */
export function monthsOf({ world, options, until }: Played): Months {
  let [all, ordinary] = [0, 0];
  for (const { id, recordings } of world.locations) {
    for (let day = options.from + DAY_MS / 2; day < until; day += DAY_MS) {
      all += recordings.length;
      if (!isHoliday(world, id, day)) ordinary += recordings.length;
    }
  }
  return { all: all / MONTH_DAYS, withoutHolidays: ordinary / MONTH_DAYS };
}

export function isHoliday(world: VisitsWorld, locationId: string, at: Instant): boolean {
  return [-1, 0, 1].some((days) => world.dayAt(locationId, at + days * DAY_MS).holiday);
}

export function quantileOf(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** Upper end of the 95 % interval of a rate per 1,000 months, for so many events (Poisson, one-sided 97.5 %). */
export function upperBound(events: number, months: number): number {
  // Wilson and Hilferty's approximation of the chi-squared quantile; for none it is exact: −ln 0.025.
  const degrees = 2 * (events + 1);
  const bound =
    events === 0 ? 3.689 : (degrees / 2) * (1 - 2 / (9 * degrees) + 1.96 * Math.sqrt(2 / (9 * degrees))) ** 3;
  return (bound / months) * 1_000;
}

const perThousand = (events: number, months: number) =>
  months > 0 ? `${((events / months) * 1_000).toFixed(2)} (≤ ${upperBound(events, months).toFixed(2)})` : "–";

export function tableOf(rows: readonly Row[], months: Months, { world }: Pick<Played, "world">): string {
  const head = [
    "sensitivity",
    "blind",
    "found",
    "within a trading day",
    "of those that can be known by then",
    "hours to find: median, p90",
    "expected visits until then: median, p90",
    "an ideal observer needs: median",
    "true visits lost: median, p90",
    "dim found",
    "turned found",
    "false alarms",
    "per 1,000 camera-months (95 % bound)",
    "without holidays",
    "shared drops",
  ];
  const lines = rows.map(({ blind, dim, turned, wrong, ...row }) => {
    const ordinary = wrong.filter(({ locationId, at }) => !isHoliday(world, locationId, at)).length;
    return [
      row.sensitivity,
      blind.of,
      `${blind.found} (${percent(blind.found, blind.of)})`,
      percent(blind.withinDay, blind.of),
      `${blind.knowableWithinDay}/${blind.knowable} (${percent(blind.knowableWithinDay, blind.knowable)})`,
      quantiles(blind.hours, 1),
      quantiles(blind.expected, 0),
      quantileOf(blind.needed, 0.5)?.toFixed(0) ?? "–",
      quantiles(blind.visits, 0),
      `${dim.found}/${dim.of}`,
      `${turned.found}/${turned.of}`,
      wrong.length,
      perThousand(wrong.length, months.all),
      perThousand(ordinary, months.withoutHolidays),
      row.together,
    ];
  });
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function quantiles(sorted: readonly number[], digits: number): string {
  return [0.5, 0.9].map((share) => quantileOf(sorted, share)?.toFixed(digits) ?? "–").join(", ");
}

function percent(part: number, whole: number): string {
  return whole > 0 ? `${((part / whole) * 100).toFixed(1)} %` : "–";
}
