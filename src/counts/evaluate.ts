/** Evaluates the counts of a fleet: each site by itself, then all of them together (`together.ts`). */
import type { CountsCondition } from "../health/model.ts";
import { HOUR_MS, type Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import type { LocalHours } from "../lib/local-hours.ts";
import { addBaselines, type Baseline, learnBaseline, type PastOptions } from "./baseline.ts";
import { judgeCounts } from "./implausible.ts";
import { type Profile, profileOf } from "./profile.ts";
import type { CountedRecording, CountedSite, CountSeries } from "./series.ts";
import { addSources, type Counted, countedSince, LATE, track } from "./track.ts";
import type { CountsSubject, SubjectVerdict } from "./verdict.ts";
import { hear, type Testimony, type Witness } from "./witness.ts";

/** Baselines of a site, learned once an hour. */
export interface LearnedSite {
  readonly entries: Baseline | undefined;
  /** By taxonomy. */
  readonly zones: ReadonlyMap<string, Baseline>;
  readonly sales: Baseline | undefined;
}

export interface SiteOptions {
  readonly hours: LocalHours;
  readonly isClosed?: ((at: Instant) => boolean) | undefined;
}

/** The verdicts on a site by itself: plain data, stored until the fleet is judged. */
export interface SiteAssessment {
  readonly locationId: string;
  readonly groups: Readonly<Record<string, string>>;
  readonly verdicts: readonly SubjectVerdict[];
  /** Profiles of its entries, and of all of its zones. */
  readonly profiles: { readonly entries: Profile; readonly zones: Profile };
}

/** A subject with an alert of this rule, and since when. */
export type FiringCounts = CountsSubject & { readonly since: Instant };

/** An outage during which a series counted at least half of what is usual in a day or less is none of its own. */
const LASTING_MS = 24 * HOUR_MS;
const ENOUGH = 10;
/** Outages that ended before explain nothing now, ms. */
const RECENT_MS = 12 * LASTING_MS;

/** Costly: once an hour, and after the first reading. */
export function learnSite(site: CountedSite, now: Instant, options: SiteOptions): LearnedSite {
  const learn = (series: CountSeries, recordings: readonly CountedRecording[], busyDays?: ReadonlySet<number>) =>
    learnBaseline(series, now, { ...pastOf(series, recordings, options), busyDays });
  // Tills sell without a camera.
  const sales = site.sales && learn(site.sales, []);
  const entries = learn(site.entries, site.recordings, sales?.usualDays);
  const zones = site.zones.flatMap((series) => {
    const baseline = learn(series, covering(site, series.zone), (sales ?? entries)?.usualDays);
    return baseline && series.zone !== undefined ? [[series.zone, kept(baseline)] as const] : [];
  });
  return { entries: entries && kept(entries), zones: new Map(zones), sales: sales && kept(sales) };
}

/** Without what only learning needs: the rest is in memory for each location. */
function kept({ usualDays: _, ...baseline }: NonNullable<ReturnType<typeof learnBaseline>>): Baseline {
  return baseline;
}

/** Counts of a site as served at an instant, for every rule about them. */
export interface CountsOfSite {
  readonly site: CountedSite;
  readonly now: Instant;
  readonly entries: Witness;
  readonly tills: readonly Witness[];
  readonly zones: readonly Witness[];
  readonly profiles: SiteAssessment["profiles"];
}

/** `firing`: their counts have to come back before they end. */
export function assessCounts(
  counts: CountsOfSite,
  { sensitivity }: Pick<CountsCondition, "sensitivity">,
  firing: readonly FiringCounts[],
): SiteAssessment {
  const { site, now, entries, tills, zones } = counts;
  const { locationId, groups } = site;
  const judge = (own: Counted, witnesses: readonly Witness[], recordingId?: string): SubjectVerdict => {
    const known = firing.find((one) => one.locationId === locationId && one.recordingId === recordingId);
    const heard = new Map<Instant, Testimony>();
    const testimony = (since: Instant) => {
      const said = heard.get(since) ?? hear(witnesses, since);
      heard.set(since, said);
      return said;
    };
    const judged = judgeCounts(own, { sensitivity, now, firingSince: known?.since, testimony });
    return { subject: { locationId, recordingId }, ...judged, firingSince: known?.since };
  };
  // One recording is no witness for itself.
  const [inside, whole] = site.recordings.length > 1 ? [zones, [entries]] : [[], []];
  const verdicts = [judge(entries, [...tills, ...inside])];
  for (const { recordingId, zones: covered } of site.recordings) {
    const own = zones.filter(({ zone }) => covered.includes(zone ?? ""));
    if (own.length === 0) continue;
    const others = zones.filter((zone) => !own.includes(zone));
    const isShared = own.some((zone) => zone.recordingId !== recordingId);
    verdicts.push(
      isShared
        ? { subject: { locationId, recordingId }, verdict: { is: "undecided", reason: "zones_shared" } }
        : judge(addCounted(own), [...tills, ...whole, ...others], recordingId),
    );
  }
  return {
    ...{ locationId, groups, verdicts },
    // Not computed where nobody asks.
    get profiles() {
      return counts.profiles;
    },
  };
}

export function countsOf(site: CountedSite, learned: LearnedSite, now: Instant, options: SiteOptions): CountsOfSite {
  const counted = (series: CountSeries, baseline: Baseline | undefined, recordings: readonly CountedRecording[]) => {
    const past = pastOf(series, recordings, options);
    const recent = past.outages.filter(({ to }) => to > now - RECENT_MS);
    const own = track({ source: series, baseline, past: { ...past, outages: [] }, now });
    const outages = recent.filter((outage) => !hasCountedIn(outage, own));
    return outages.length === 0 ? own : track({ ...own, past: { ...past, outages } });
  };
  const entries: Witness = { kind: "entries", ...counted(site.entries, learned.entries, site.recordings) };
  const tills: Witness[] = site.sales ? [{ kind: "tills", ...counted(site.sales, learned.sales, []) }] : [];
  const zones = site.zones.map((series): Witness => {
    const recordings = covering(site, series.zone);
    const recordingId = recordings.length === 1 ? recordings[0]?.recordingId : undefined;
    const baseline = learned.zones.get(series.zone ?? "");
    return { kind: "zone", zone: series.zone, recordingId, ...counted(series, baseline, recordings) };
  });
  let profiles: SiteAssessment["profiles"] | undefined;
  return {
    ...{ site, now, entries, tills, zones },
    get profiles() {
      profiles ??= { entries: profileOf([entries]), zones: profileOf(zones) };
      return profiles;
    },
  };
}

/** True where it counted on in an outage that lasts: then it does not need what is out. Visits before it are served late. */
function hasCountedIn(outage: Interval, counted: Counted): boolean {
  if (outage.to < counted.now - HOUR_MS) return false;
  const sum = countedSince(counted, Math.max(outage.from + HOUR_MS, counted.now - LASTING_MS));
  // Visits once it was over are no part of it.
  const after = countedSince(counted, outage.to - LATE.most);
  const [expected, came] = [sum.expected - after.expected, sum.counted - after.counted];
  return expected >= ENOUGH && came >= expected / 2;
}

function addCounted(all: readonly Counted[]): Counted {
  const [first, ...rest] = all;
  if (!first) return NOTHING;
  if (rest.length === 0) return first;
  const baseline = addBaselines(all.map((one) => one.baseline));
  const outages = all.flatMap(({ past }) => past.outages);
  const source = addSources(all.map((one) => one.source));
  return track({ source, baseline, past: { ...first.past, outages }, now: first.now });
}

const NOTHING: Counted = {
  source: { hours: new Map(), readings: [] },
  baseline: undefined,
  past: { hourAt: () => ({ ofWeek: 0, slot: 0, startsAt: 0 }), outages: [] },
  now: 0,
  pieces: [],
};

function covering(site: CountedSite, zone: string | undefined): CountedRecording[] {
  return site.recordings.filter(({ zones }) => zones.includes(zone ?? ""));
}

function pastOf({ timezone }: CountSeries, recordings: readonly CountedRecording[], options: SiteOptions): PastOptions {
  const hourAt = (at: Instant) => options.hours.at(at, timezone);
  return { hourAt, outages: recordings.flatMap(({ outages }) => outages), isClosed: options.isClosed };
}
