/** What holds for every fleet: properties of `src/counts/`, on shops whose past is made up here. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assessCounts,
  countsOf,
  type FiringCounts,
  type LearnedSite,
  learnSite,
  type SiteAssessment,
} from "../../src/counts/evaluate.ts";
import { profileOf, profileSpan, readProfile } from "../../src/counts/profile.ts";
import type { CountedSite, CountSeries } from "../../src/counts/series.ts";
import { judgeTogether } from "../../src/counts/together.ts";
import type { CountsVerdict } from "../../src/counts/verdict.ts";
import { createLocalHours } from "../../src/lib/local-hours.ts";
import { seededRandom } from "../support/random.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A Wednesday, 15:00. */
const NOW = Date.UTC(2026, 5, 17, 15);
const OPENS = 9;
const CLOSES = 18;
const hours = createLocalHours();
const NO_COUNTS = {
  source: { hours: new Map<number, number>(), readings: [] },
  baseline: undefined,
  past: { hourAt: () => ({ ofWeek: 0, slot: 0, startsAt: 0 }), outages: [] },
  now: NOW,
};

/** Of usual, by local hour of today; hours that are not named are as usual. */
type Today = Readonly<Record<number, number | null>>;

interface Shop {
  readonly id?: string;
  readonly seed?: number;
  readonly now?: number;
  /** Hours east of UTC, without DST. */
  readonly east?: number;
  readonly perHour?: number;
  readonly entries?: Today;
  readonly tills?: Today | undefined;
  /** By taxonomy; each has a recording of its name. */
  readonly zones?: Readonly<Record<string, Today>>;
  readonly outage?: { readonly recordingId: string; readonly from: number; readonly to: number };
  readonly groups?: Readonly<Record<string, string>>;
  readonly weeks?: number;
}

/** Made once, and learned from once. */
const pasts = new Map<string, Map<number, number | null>>();
const learned = new WeakMap<object, Map<string, LearnedSite>>();

const SHARE: Readonly<Record<string, number>> = { tills: 0.4, shoes: 0.5, coats: 0.3, hats: 0.4 };

function shopOf(shop: Shop): CountedSite {
  const { id = "l1", zones = {}, groups = {}, outage } = shop;
  const recordings = Object.keys(zones).map((zone) => ({
    recordingId: `r-${zone}`,
    zones: [zone],
    outages: outage?.recordingId === `r-${zone}` ? [outage] : [],
  }));
  return {
    ...{ locationId: id, groups, recordings },
    entries: seriesOf(shop, "entries", shop.entries ?? {}),
    zones: Object.entries(zones).map(([zone, today]) => ({ ...seriesOf(shop, zone, today), zone })),
    sales: shop.tills && seriesOf(shop, "tills", shop.tills),
  };
}

function seriesOf(
  { id = "l1", seed = 1, now = NOW, east = 0, perHour = 60, weeks = 8 }: Shop,
  name: string,
  today: Today,
) {
  const mean = perHour * (SHARE[name] ?? 1);
  const random = seededRandom(seed * 1_000 + name.length);
  const midnight = now - ((now + east * HOUR) % DAY);
  const key = JSON.stringify([mean, seed, name.length, midnight, weeks]);
  const past = pasts.get(key) ?? new Map<number, number | null>();
  for (let day = past.size > 0 ? 0 : weeks * 7; day >= 1; day--) {
    const busy = 0.8 + 0.4 * random();
    for (let hour = 0; hour < 24; hour++) {
      const isOpen = hour >= OPENS && hour < CLOSES;
      past.set(midnight - day * DAY + hour * HOUR, isOpen ? Math.round(mean * busy * (0.8 + 0.4 * random())) : 0);
    }
  }
  pasts.set(key, past);
  const readings: { at: number; since: number; count: number | null }[] = [];
  for (let at = midnight + HOUR / 6; at <= now; at += HOUR / 6) {
    const isNull = today[Math.floor((at - 1 - midnight) / HOUR)] === null;
    readings.push({ at, since: midnight, count: isNull ? null : countedUntil(at - midnight - HOUR / 6, mean, today) });
  }
  const timezone = east === 0 ? "Etc/UTC" : `Etc/GMT${east > 0 ? "-" : "+"}${Math.abs(east)}`;
  return { locationId: id, timezone, hours: past, readings } satisfies CountSeries;
}

function countedUntil(ms: number, mean: number, today: Today): number {
  let sum = 0;
  for (let hour = 0; hour * HOUR < ms; hour++) {
    const usual = hour >= OPENS && hour < CLOSES ? mean : 0;
    const share = Math.min(1, (ms - hour * HOUR) / HOUR);
    const factor = today[hour] ?? 1;
    // Above 100: so many people where usually none are.
    sum += share * (factor >= 100 ? factor - 100 : usual * factor);
  }
  return Math.floor(sum);
}

interface Asked {
  readonly sensitivity?: number;
  readonly firing?: readonly FiringCounts[];
  readonly now?: number;
}

function assess(site: CountedSite, { sensitivity = 30, firing = [], now = NOW }: Asked = {}): SiteAssessment {
  const known = learned.get(site.entries.hours) ?? new Map<string, LearnedSite>();
  learned.set(site.entries.hours, known);
  const key = JSON.stringify([site.zones.map(({ zone }) => zone), site.sales !== undefined, site.recordings]);
  const own = known.get(key) ?? learnSite(site, now, { hours });
  known.set(key, own);
  return assessCounts(countsOf(site, own, now, { hours }), { sensitivity }, firing);
}

function verdictOf(shop: Shop, asked: Asked = {}, recordingId?: string): CountsVerdict {
  const found = assess(shopOf(shop), asked).verdicts.find(({ subject }) => subject.recordingId === recordingId);
  if (!found) throw new Error("no verdict");
  return found.verdict;
}

const reasonOf = (verdict: CountsVerdict) => (verdict.is === "implausible" ? verdict.finding.reason : verdict.reason);

const factor = fc.double({ min: 0, max: 1.3, noNaN: true });
/** Of the hours since opening. */
const someToday = fc.record({ 9: factor, 10: factor, 11: factor, 12: factor, 13: factor, 14: factor });
const gone = { 12: 0, 13: 0, 14: 0 };
const runs = { numRuns: 20 };

describe("low counts", () => {
  test("are named with the witness, since the counts fell away", () => {
    const verdict = verdictOf({ entries: gone, tills: {} });
    if (verdict.is !== "implausible") throw new Error(JSON.stringify(verdict));
    expect(verdict.finding).toMatchObject({ reason: "witnessed", witness: { kind: "tills" } });
    expect(Math.abs(verdict.finding.since - (NOW - 3 * HOUR))).toBeLessThanOrEqual(HOUR / 3);
    expect(verdict.finding.expected).toBeGreaterThan(100);
    expect(verdict.finding.counted).toBeLessThan(10);
  });

  test("of a recording are named by the entries, and so are those of the entries by a neighbour", () => {
    expect(verdictOf({ zones: { shoes: gone, coats: {} } }, {}, "r-shoes")).toMatchObject({ is: "implausible" });
    expect(verdictOf({ entries: gone, zones: { shoes: {}, coats: {} } })).toMatchObject({
      finding: { witness: { kind: "zone", zone: "shoes", recordingId: "r-shoes" } },
    });
  });

  test("of a closed day are not contradicted by days that only the witness knows", () => {
    const closed = { 9: 0, 10: 0, 11: 0, 12: 0, 13: 0, 14: 0 };
    const site = shopOf({ entries: closed, tills: closed, zones: { shoes: closed, coats: closed } });
    const zones = site.zones.map((zone) => {
      return { ...zone, hours: new Map([...zone.hours].filter(([at]) => at < NOW - 5.625 * DAY)) };
    });
    expect(assess({ ...site, zones }).verdicts.filter(({ verdict }) => verdict.is === "implausible")).toEqual([]);
  });

  test("are no less sure where more is missing", () => {
    fc.assert(
      fc.property(
        someToday,
        fc.constantFrom(9, 10, 11, 12, 13, 14),
        factor,
        fc.boolean(),
        (today, hour, less, tills) => {
          const shop = { tills: tills ? {} : undefined };
          const before = verdictOf({ ...shop, entries: today });
          const lower = { ...today, [hour]: Math.min(less, today[hour as 9]) };
          if (before.is === "implausible") expect(verdictOf({ ...shop, entries: lower }).is).toBe("implausible");
        },
      ),
      { numRuns: 40 },
    );
  });

  test("keep firing where less is counted, and end when counts are back", () => {
    const firing = [{ locationId: "l1", since: NOW - 3 * HOUR }];
    fc.assert(
      fc.property(someToday, factor, (today, less) => {
        const before = verdictOf({ entries: today }, { firing });
        const lower = Object.fromEntries(Object.entries(today).map(([hour, own]) => [hour, Math.min(own, less)]));
        if (before.is === "implausible") expect(verdictOf({ entries: lower }, { firing }).is).toBe("implausible");
      }),
      runs,
    );
    expect(verdictOf({ entries: { 12: 0, 13: 0 } }, { firing })).toEqual({
      is: "plausible",
      reason: "counts_are_back",
    });
    expect(verdictOf({ entries: gone }, { firing })).toMatchObject({ is: "implausible" });
  });

  test("begin while visits are missing, and not at night nor on the days after that are closed", () => {
    const fell = { ...gone, 15: 0, 16: 0, 17: 0 };
    const at = (now: number, firing: readonly FiringCounts[] = []) =>
      verdictOf({ now, entries: fell, tills: {} }, { now, firing });
    const closes = NOW + 3 * HOUR;
    expect(at(closes).is).toBe("implausible");
    expect(at(closes + 4 * HOUR)).toEqual({ is: "undecided", reason: "nothing_expected" });
    expect(at(closes + 4 * HOUR, [{ locationId: "l1", since: closes }]).is).toBe("implausible");
  });

  test("are no less sure with a witness that counts", () => {
    fc.assert(
      fc.property(someToday, (entries) => {
        const alone = verdictOf({ entries });
        if (alone.is === "implausible") expect(verdictOf({ entries, tills: {} }).is).toBe("implausible");
        const one = verdictOf({ entries, zones: { shoes: {}, coats: {} } });
        if (one.is === "implausible")
          expect(verdictOf({ entries, zones: { shoes: {}, coats: {} }, tills: {} }).is).toBe("implausible");
      }),
      runs,
    );
  });

  test("are no failure where all else is silent too, nor where nothing else can be asked within the day", () => {
    const closed = { 9: 0, 10: 0, 11: 0, 12: 0, 13: 0, 14: 0 };
    const all = { entries: closed, tills: closed, zones: { shoes: closed, coats: closed } };
    expect(reasonOf(verdictOf(all))).toBe("nobody_seems_there");
    expect(reasonOf(verdictOf(all, {}, "r-shoes"))).toBe("nobody_seems_there");
    expect(reasonOf(verdictOf({ entries: closed }))).toBe("too_early");
    expect(reasonOf(verdictOf({ ...all, zones: { shoes: {}, coats: {} } }))).toBe("nobody_seems_there");
  });

  test("of a holiday are not contradicted by the evening before, nor by ghosts", () => {
    const morning = { 9: 0, 10: 0 };
    const now = NOW - 4.5 * HOUR;
    const site = shopOf({
      now,
      perHour: 14,
      entries: morning,
      tills: morning,
      zones: { shoes: morning, coats: morning },
    });
    const evening = now - 17.5 * HOUR;
    const entries = { ...site.entries, hours: new Map([...site.entries.hours, [evening, 0]]) };
    const usual = assess({ ...site, entries }, { now }).verdicts[0]?.verdict;
    expect(usual?.is).toBe("undecided");
    const closed = { 9: 0, 10: 0, 11: 0, 12: 0, 13: 0, 14: 0 };
    const ghosts = Object.fromEntries([9, 10, 11, 12, 13, 14].map((hour) => [hour, 1_000]));
    const nightly = { 1: 110, 2: 110, 3: 110 };
    const few = Object.fromEntries([9, 10, 11, 12, 13, 14].map((hour) => [hour, 2.5]));
    for (const coats of [ghosts, nightly, few])
      expect(reasonOf(verdictOf({ entries: closed, zones: { shoes: closed, coats } }))).toBe("nobody_seems_there");
    const outnumbered = { shoes: closed, hats: closed, coats: {} };
    expect(reasonOf(verdictOf({ entries: closed, zones: outnumbered }))).toBe("nobody_seems_there");
    expect(verdictOf({ entries: closed, zones: outnumbered, tills: {} }).is).toBe("implausible");
  });

  test("of the evening before a night without data are not contradicted by those that count in the morning", () => {
    const nights = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    const silent = { ...Object.fromEntries(nights.map((hour) => [hour, null])), 9: 0, 10: 0 };
    const now = NOW - 4.5 * HOUR;
    const less = { 9: 0.7, 10: 0.7 };
    const site = shopOf({ now, perHour: 20, entries: less, zones: { shoes: silent, coats: less } });
    const evening = [14, 15, 16, 17].map((hour) => NOW - (39 - hour) * HOUR);
    const fallen = (series: CountSeries) => {
      return { ...series, hours: new Map([...series.hours, ...evening.map((at) => [at, 0] as const)]) };
    };
    const byDay = (series: CountSeries) => {
      const isNight = (at: number) => at % DAY < OPENS * HOUR || at % DAY >= CLOSES * HOUR;
      return { ...series, hours: new Map([...series.hours].map(([at, n]) => [at, isNight(at) ? null : n])) };
    };
    const [shoes, coats] = site.zones as [CountSeries, CountSeries];
    const shoesOf = (given: CountedSite) => assess(given, { now }).verdicts[1]?.verdict;
    const alone = { ...site, zones: [byDay(fallen(shoes)), coats] };
    expect(shoesOf(alone)).toMatchObject({ finding: { reason: "witnessed" } });
    const closed = { ...site, entries: fallen(site.entries), zones: [byDay(fallen(shoes)), fallen(coats)] };
    expect(shoesOf(closed)?.is).toBe("undecided");
  });

  test("of the only recording are not explained by the entries, which are its own", () => {
    const closed = { 9: 0, 10: 0, 11: 0, 12: 0, 13: 0, 14: 0 };
    expect(reasonOf(verdictOf({ entries: closed, zones: { shoes: closed } }, {}, "r-shoes"))).toBe("too_early");
  });

  test("are explained by a recording that is offline, and by one's own short history", () => {
    const outage = { recordingId: "r-shoes", from: NOW - 3 * HOUR, to: NOW };
    const shop = { zones: { shoes: gone, coats: {} }, tills: {} };
    expect(reasonOf(verdictOf({ ...shop, outage }, {}, "r-shoes"))).toBe("not_recording");
    expect(reasonOf(verdictOf({ ...shop, outage, entries: gone }))).toBe("not_recording");
    expect(reasonOf(verdictOf({ ...shop, weeks: 3 }, {}, "r-shoes"))).toBe("history_too_thin");
  });

  test("are explained by an outage that has just begun, though what was counted before it is served late", () => {
    const now = NOW - HOUR / 3;
    const outage = { recordingId: "r-shoes", from: now - 1.25 * HOUR, to: now };
    const shop = { now, perHour: 600, zones: { shoes: { 14: 0 }, coats: {} }, tills: {} };
    expect(reasonOf(verdictOf({ ...shop, outage }, { now }, "r-shoes"))).toBe("not_recording");
    expect(verdictOf(shop, { now }, "r-shoes")).toMatchObject({ is: "implausible" });
  });

  test("of an outage that ended are explained by it, however many came since", () => {
    const now = NOW - (2 / 3) * HOUR;
    const outage = { recordingId: "r-shoes", from: NOW - (13 / 6) * HOUR, to: NOW - HOUR };
    const shop = { now, perHour: 150, zones: { shoes: { 13: 0, 14: 0.7 }, coats: {} }, tills: {} };
    expect(verdictOf({ ...shop, outage }, { now }, "r-shoes").is).not.toBe("implausible");
    expect(verdictOf(shop, { now }, "r-shoes").is).toBe("implausible");
  });

  test("are not explained by another recording that has been offline while they were as usual", () => {
    const outage = { recordingId: "r-coats", from: NOW - 5 * DAY, to: NOW };
    const shop = { zones: { shoes: {}, coats: gone }, tills: {}, entries: { 13: 0, 14: 0 } };
    expect(verdictOf({ ...shop, outage })).toMatchObject({ is: "implausible" });
  });

  test("need data: null is never 0", () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 14 }), fc.boolean(), (from, tills) => {
        const silent = Object.fromEntries(Array.from({ length: 15 - from }, (_, i) => [from + i, null]));
        const verdict = verdictOf({ entries: silent, tills: tills ? {} : undefined });
        expect(verdict.is).not.toBe("implausible");
      }),
      runs,
    );
    const site = shopOf({ tills: {} });
    const empty = new Map([...site.entries.hours].map(([hour]) => [hour, null]));
    const verdicts = assess({ ...site, entries: { ...site.entries, hours: empty } }).verdicts;
    expect(reasonOf(verdicts[0]?.verdict as CountsVerdict)).toBe("history_too_thin");
  });

  test("of a recording that shares a zone are nobody's", () => {
    const site = shopOf({ zones: { shoes: gone, coats: {} }, tills: {} });
    const [shoes, coats] = site.recordings;
    const shared = {
      ...site,
      recordings: [shoes, { ...coats, recordingId: "r-coats", zones: ["coats", "shoes"], outages: [] }],
    };
    const verdicts = assess(shared as CountedSite).verdicts.slice(1);
    expect(verdicts.map(({ verdict }) => reasonOf(verdict))).toEqual(["zones_shared", "zones_shared"]);
  });

  /** Nothing in the shoes on these days, so many ago; with `closed`, nor anything sold. */
  function withLulls(days: readonly number[], { closed = false } = {}): CountsVerdict {
    const site = shopOf({ zones: { shoes: gone, coats: {} }, tills: {} });
    const isLull = (at: number) => days.some((day) => at >= NOW - day * DAY && at < NOW - (day - 1) * DAY);
    const lulled = (series: CountSeries, none: number | null) => {
      return { ...series, hours: new Map([...series.hours].map(([at, n]) => [at, isLull(at) ? none : n])) };
    };
    // Other entries, so that it is learned from apart.
    const entries = closed ? lulled(site.entries, 0) : { ...site.entries, hours: new Map(site.entries.hours) };
    const sales = site.sales && closed ? lulled(site.sales, null) : site.sales;
    const zones = site.zones.map((zone) => (zone.zone === "shoes" || closed ? lulled(zone, 0) : zone));
    return assess({ ...site, entries, sales, zones }).verdicts[1]?.verdict as CountsVerdict;
  }

  test("of before they came back are no news, whatever chance does since", () => {
    const noon = NOW - 3 * HOUR;
    const site = shopOf({ now: noon, entries: { 9: 0.12, 10: 0.12, 11: 0.12 } });
    const verdictWith = (evening: readonly number[]) => {
      const fallen = [...site.entries.hours].map(([at, n]) => {
        const hour = (noon - at) / HOUR;
        return [at, hour > 18 && hour < 55 ? (evening[21 - hour] ?? 0) : n] as const;
      });
      return assess({ ...site, entries: { ...site.entries, hours: new Map(fallen) } }, { now: noon }).verdicts[0];
    };
    expect(verdictWith([0, 0, 0])?.verdict).toMatchObject({ finding: { reason: "beyond_chance" } });
    expect(verdictWith([25, 30, 10])?.verdict.is).not.toBe("implausible");
  });

  test("of the days before are no news where some are counted today, if few", () => {
    const now = NOW - 3 * HOUR;
    const some = (share: number) => {
      const site = shopOf({ now, perHour: 14, entries: { 9: 0, 10: share, 11: 0 } });
      const gone = [...site.entries.hours].map(([at, n]) => [at, at > now - 3 * DAY ? 0 : n] as const);
      return assess({ ...site, entries: { ...site.entries, hours: new Map(gone) } }, { now }).verdicts[0];
    };
    expect(some(0)?.verdict).toMatchObject({ finding: { reason: "beyond_chance" } });
    expect(some(0.6)?.verdict.is).not.toBe("implausible");
  });

  test("need more where the witness counts few, and so cannot tell how busy the day is", () => {
    // Every other day is half as busy again.
    const busy = (at: number, count: number | null) => (count ?? 0) * (Math.floor(at / DAY) % 2 === 0 ? 0.5 : 1.5);
    const ofDays = (series: CountSeries) => {
      return { ...series, hours: new Map([...series.hours].map(([at, n]) => [at, Math.round(busy(at, n))])) };
    };
    const foundAt = (sold: number) =>
      Array.from({ length: 30 }, (_, i) => NOW - 5.5 * HOUR + (i * HOUR) / 6).find((now) => {
        const site = shopOf({ now, entries: { 9: 0, 10: 0, 11: 0, 12: 0, 13: 0, 14: 0 } });
        const sales = ofDays(seriesOf({ now, perHour: sold }, "sales", {}));
        return (
          assess({ ...site, entries: ofDays(site.entries), sales }, { now }).verdicts[0]?.verdict.is === "implausible"
        );
      }) ?? Number.NaN;
    expect(foundAt(4)).toBeGreaterThan(foundAt(600));
  });

  test("that happen here are no news", () => {
    expect(reasonOf(withLulls([8, 13, 27]))).toBe("happens_here");
  });

  test("are not explained by holidays of the whole location, nor by one earlier failure of days", () => {
    expect(withLulls([8, 13, 27], { closed: true }).is).toBe("implausible");
    expect(withLulls([24, 25, 26]).is).toBe("implausible");
  });

  test("are those of the local hour, also after clocks were changed", () => {
    const timezone = "Europe/Berlin";
    // 11:00 on the Monday after.
    const now = Date.UTC(2026, 2, 30, 9);
    const midnight = Date.UTC(2026, 2, 29, 22);
    const isOpen = (at: number) => {
      const hour = hours.at(at, timezone).slot % 24;
      return hour >= OPENS && hour < CLOSES;
    };
    const past = Array.from({ length: 56 * 24 }, (_, i) => midnight - (i + 1) * HOUR);
    const seriesWith = (perHour: number): CountSeries => ({
      ...{ locationId: "l1", timezone, hours: new Map(past.map((at) => [at, isOpen(at) ? perHour || 60 : 0])) },
      readings: Array.from({ length: 66 }, (_, i) => midnight + ((i + 1) * HOUR) / 6).map((at) => {
        const open = Math.max(0, at - HOUR / 6 - (midnight + OPENS * HOUR)) / HOUR;
        return { at, since: midnight, count: Math.round(open * perHour) };
      }),
    });
    const site = { locationId: "l1", groups: {}, zones: [], recordings: [], sales: seriesWith(20) };
    const [found, usual] = [0, 60].map((perHour) => {
      return assess({ ...site, entries: seriesWith(perHour) }, { now }).verdicts[0]?.verdict as CountsVerdict;
    });
    expect(usual).toEqual({ is: "plausible", reason: "as_usual" });
    if (found?.is !== "implausible") throw new Error(JSON.stringify(found));
    // Of 9:00 to 10:40; of the hour of opening only its end is sure.
    expect(found.finding.expected).toBeGreaterThan(50);
    expect(Math.abs(found.finding.since - (midnight + OPENS * HOUR))).toBeLessThanOrEqual(HOUR);
  });
});

describe("a fleet", () => {
  test("that drops is compared with the day before, of which nothing is in the drop", () => {
    for (let long = 1; long <= 36; long += 0.5) {
      const pieces = Array.from({ length: 144 }, (_, i) => {
        const from = NOW - ((i + 1) * HOUR) / 2;
        const counted = from >= NOW - long * HOUR ? 0 : 10;
        return { from, to: from + HOUR / 2, expected: 10, counted, at: { day: 0, hour: i }, isExplained: false };
      });
      const { since, before } = readProfile(profileOf([{ ...NO_COUNTS, pieces }]), profileSpan(long * HOUR));
      expect(since.counted).toBe(0);
      expect(before.expected).toBeGreaterThan(0);
      expect(before.counted).toBe(before.expected);
    }
  });

  const fleetOf = (count: number, shop: Shop) =>
    Array.from({ length: count }, (_, i) =>
      assess(shopOf({ ...shop, id: `l${i}`, seed: i + 1, groups: { organisation: "o1", timezone: "Etc/UTC" } })),
    );

  test("that drops as a whole names no location and no recording", () => {
    const drop = fc.integer({ min: 9, max: 13 });
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 7 }), drop, fc.boolean(), (count, from, areZonesOnly) => {
        const fell = Object.fromEntries(Array.from({ length: 15 - from }, (_, i) => [from + i, 0]));
        const shop = { entries: areZonesOnly ? {} : fell, zones: { shoes: fell, coats: fell }, tills: {} };
        const { verdicts, together } = judgeTogether(fleetOf(count, shop), NOW);
        expect(verdicts.filter(({ verdict }) => verdict.is === "implausible")).toEqual([]);
        expect(together).toMatchObject([{ dropped: { length: count }, judged: count }]);
      }),
      { numRuns: 8 },
    );
  });

  test("names the one that falls alone, whatever its size and order", () => {
    const one = assess(shopOf({ id: "l9", entries: gone, tills: {}, groups: { organisation: "o1" } }));
    const others = fleetOf(4, {});
    for (const fleet of [[one], [one, ...others], [...others, one]]) {
      const { verdicts, together } = judgeTogether(fleet, NOW);
      expect(
        verdicts.flatMap(({ subject, verdict }) => (verdict.is === "implausible" ? [subject.locationId] : [])),
      ).toEqual(["l9"]);
      expect(together).toEqual([]);
    }
  });

  test("whose locations each dropped at another time is compared with itself a few times only", () => {
    const profile = Array.from({ length: 18 }, (_, i): [number, number] => [(i + 1) * 50, i < 6 ? 0 : (i + 1) * 40]);
    let compared = 0;
    const fleet = Array.from({ length: 500 }, (_, i): SiteAssessment => {
      const subject = { locationId: `l${i}` };
      const fall = { since: NOW - HOUR - i * 10_000, expected: 50, counted: 0 };
      return {
        ...{ locationId: `l${i}`, groups: { organisation: "o1", timezone: "Etc/UTC" } },
        verdicts: [{ subject, verdict: { is: "undecided", reason: "nobody_seems_there" }, fall }],
        get profiles() {
          compared++;
          return { entries: profile, zones: profile };
        },
      };
    });
    const { together } = judgeTogether(fleet, NOW);
    expect(together).toMatchObject([{ dropped: { length: 500 }, judged: 500 }]);
    expect(compared).toBeLessThan(500 * 20);
  });

  test("that is closed for days ends no alert that has been firing for longer", () => {
    const profile = Array.from({ length: 18 }, (): [number, number] => [100, 0]);
    const closed = (id: string, firingSince?: number): SiteAssessment => {
      const fall = { since: firingSince ?? NOW - 55 * HOUR, expected: 300, counted: 0 };
      const verdict = { is: "implausible", finding: { reason: "beyond_chance", ...fall } } as const;
      const verdicts = [{ subject: { locationId: id }, verdict, fall, firingSince }];
      return {
        locationId: id,
        groups: { organisation: "o1" },
        verdicts,
        profiles: { entries: profile, zones: profile },
      };
    };
    const fleet = [closed("old", NOW - 4 * DAY), closed("new", NOW - 50 * HOUR), closed("a"), closed("b"), closed("c")];
    const { verdicts } = judgeTogether(fleet, NOW);
    expect(verdicts.map(({ verdict }) => verdict.is)).toEqual(["implausible", ...Array(4).fill("plausible")]);
  });

  test("is judged alike under other names", () => {
    const named = (name: (i: number) => string) => {
      const fleet = [0, 1, 2, 3].map((i) =>
        assess(shopOf({ id: name(i), entries: i === 2 ? {} : gone, tills: {}, groups: { organisation: name(9) } })),
      );
      return judgeTogether(fleet, NOW).verdicts.map(({ verdict }) => verdict);
    };
    expect(named((i) => `z${9 - i}`)).toEqual(named((i) => `a${i}`));
  });
});

describe("any site", () => {
  test("is judged alike at another time and in another zone", () => {
    fc.assert(
      fc.property(
        someToday,
        fc.integer({ min: -300, max: 300 }),
        fc.integer({ min: -11, max: 11 }),
        (entries, weeks, east) => {
          const by = weeks * 7 * DAY - east * HOUR;
          const shop = { entries, tills: {} };
          const moved = verdictOf({ ...shop, now: NOW + by, east }, { now: NOW + by });
          const since = (verdict: CountsVerdict, at: number) =>
            JSON.stringify(verdict, (key, value) => (key === "since" ? value - at : value));
          expect(since(moved, by)).toBe(since(verdictOf(shop), 0));
        },
      ),
      { numRuns: 8 },
    );
  });

  test("is no less sure with twice the visits, and survives any figure", () => {
    fc.assert(
      fc.property(someToday, (entries) => {
        const small = verdictOf({ entries, tills: {}, perHour: 60 });
        if (small.is === "implausible") expect(verdictOf({ entries, tills: {}, perHour: 120 }).is).toBe("implausible");
      }),
      runs,
    );
    for (const perHour of [0, 0.01, 1e9]) expect(() => verdictOf({ perHour, entries: gone, tills: {} })).not.toThrow();
    const site = shopOf({ tills: {} });
    const corrected = site.entries.readings.map((one, i) => (i % 7 === 3 ? { ...one, count: -5 } : one));
    expect(() => assess({ ...site, entries: { ...site.entries, readings: corrected } })).not.toThrow();
  });
});
