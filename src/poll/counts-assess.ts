/** Assessment of the counts of a shard's locations: gathers what `src/counts/` needs, and stores its conclusions. */

import { matchesAll } from "../alerting/matcher.ts";
import type { Config } from "../config/config.ts";
import { usualOfDays } from "../counts/baseline.ts";
import { closedOn } from "../counts/closed.ts";
import { assessCounts, countsOf, type LearnedSite, learnSite, type SiteAssessment } from "../counts/evaluate.ts";
import type { CountedRecording, CountedSite, CountSeries } from "../counts/series.ts";
import type { Labels } from "../health/alert.ts";
import { countsKey } from "../health/counts.ts";
import type { CountsCondition, Rule } from "../health/model.ts";
import { labelsOfLocation } from "../health/recording-evaluator.ts";
import type { RecordingState, ShardState } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import { createLocalHours, type LocalHours } from "../lib/local-hours.ts";
import type { CountedHour } from "../store/count-verdicts.ts";
import type { KeptSeries } from "../store/counts.ts";
import type { Store } from "../store/store.ts";
import type { PollContext } from "./commit.ts";
import type { CountedLocation } from "./counts.ts";
import type { PastOutages } from "./past-outages.ts";

interface AssessDeps extends Pick<PollContext, "clock"> {
  readonly store: Pick<Store, "inventory" | "countVerdicts" | "usualEntries">;
  readonly rules: readonly Rule[];
  readonly closedDays: Config["counts"]["closedDays"];
  pastOutages(shard: number, recordings: ReadonlyMap<string, RecordingState>): Promise<PastOutages>;
}

/** Conditions of rules about counts, each once. */
export function countsConditions(rules: readonly Rule[]): CountsCondition[] {
  const all = rules.flatMap(({ when }) => (when.kind === "counts" ? [when] : []));
  return [...new Map(all.map((when) => [countsKey(when), when])).values()];
}

/** Gives `begin(shard, state)`: each location is assessed as it was read, and `finish` stores what they show. */
export function createAssessCounts(deps: AssessDeps) {
  const { clock, store, rules } = deps;
  const hours = createLocalHours();
  const learned = new Map<string, { readonly at: Instant; readonly site: LearnedSite }>();
  const conditions = countsConditions(rules);

  /** Learned once an hour, with the usual entries of a day. */
  async function learn(site: CountedSite, { id, days }: CountedLocation, options: ReturnType<typeof optionsOf>) {
    const known = learned.get(id);
    if (known?.at === days.lastHour) return known.site;
    const fresh = learnSite(site, clock.now(), options);
    learned.set(id, { at: days.lastHour, site: fresh });
    const usual = fresh.entries && usualOfDays(fresh.entries);
    await store.usualEntries.save(new Map([[id, usual ?? []]]));
    return fresh;
  }

  return async (shard: number, state: ShardState) => {
    const past = await deps.pastOutages(shard, state.recordings);
    const recordings = Map.groupBy(state.recordings.values(), ({ locationId }) => locationId);
    const assessed = new Map<string, SiteAssessment[]>(conditions.map((when) => [countsKey(when), []]));
    const lastHours: CountedHour[] = [];
    return {
      async each(location: CountedLocation): Promise<void> {
        const site = siteOf(location, recordings.get(location.id) ?? [], { past, deps });
        const options = optionsOf(site, deps, hours);
        const known = await learn(site, location, options);
        lastHours.push(lastHour(site, location.days.lastHour, known, hours));
        const counts = countsOf(site, known, clock.now(), options);
        for (const when of conditions) {
          const firing = firingOf(location.id, state, rules, when);
          assessed.get(countsKey(when))?.push(assessCounts(counts, when, firing));
        }
      },
      finish: () =>
        store.countVerdicts.saveAssessed(shard, {
          at: clock.now(),
          rules: Object.fromEntries(assessed),
          hours: lastHours,
        }),
    };
  };
}

function siteOf(
  { id, counts, zones }: CountedLocation,
  recordings: readonly RecordingState[],
  { past, deps }: { past: PastOutages; deps: AssessDeps },
): CountedSite {
  const { timezone } = counts;
  const series = ({ hours, readings }: KeptSeries, zone?: string): CountSeries => {
    return { locationId: id, zone, timezone, hours, readings };
  };
  const organisations = recordings.flatMap((one) => deps.store.inventory.recording(one.id)?.organisation ?? []);
  return {
    locationId: id,
    entries: series(counts.entries),
    zones: [...counts.zones].map(([zone, kept]) => series(kept, zone)),
    sales: counts.sales && series(counts.sales),
    recordings: recordings.map((one) => countedRecording(one, zones.get(one.id) ?? [], past, deps.clock.now())),
    groups: { timezone, ...(organisations[0] !== undefined && { organisation: organisations[0] }) },
  };
}

function countedRecording(
  { id, status, since, alerts = {} }: RecordingState,
  zones: readonly string[],
  past: PastOutages,
  now: Instant,
): CountedRecording {
  const current: Interval[] = status === "offline" ? [{ from: since, to: now }] : [];
  // A missing recording keeps its last status.
  for (const { state, startsAt, facts } of Object.values(alerts))
    if (state === "firing" && facts.problem === "missing") current.push({ from: startsAt, to: now });
  return { recordingId: id, zones, outages: [...(past.get(id) ?? []), ...current] };
}

function optionsOf(site: CountedSite, { closedDays, store }: AssessDeps, hours: LocalHours) {
  return { hours, isClosed: closedAt(site, labelsOfLocation(site.locationId, store.inventory), closedDays, hours) };
}

/** True where the configuration has a location closed at a time. */
export function closedAt(
  { locationId, groups, entries }: Pick<CountedSite, "locationId" | "groups" | "entries">,
  labels: Labels,
  closedDays: Config["counts"]["closedDays"],
  hours: LocalHours,
) {
  const days = closedDaysOf({ location: locationId, ...labels, location_id: locationId, ...groups }, closedDays);
  return closedOn(days, (at) => hours.at(at, entries.timezone));
}

/** The days on which the configuration has the location with these labels closed. */
export function closedDaysOf(labels: Labels, closedDays: Config["counts"]["closedDays"]): string[] {
  return closedDays.flatMap(({ days, matchers }) => (matchesAll(matchers, labels) ? days : []));
}

function lastHour(
  { locationId, entries }: CountedSite,
  hour: Instant,
  learned: LearnedSite,
  hours: LocalHours,
): CountedHour {
  const hourAt = (at: Instant) => hours.at(at, entries.timezone);
  return {
    locationId,
    hour,
    expected: learned.entries?.usual[hourAt(hour).ofWeek],
    counted: entries.hours.get(hour) ?? undefined,
  };
}

/** Subjects with an alert of a rule with this condition. */
function firingOf(locationId: string, state: ShardState, rules: readonly Rule[], when: CountsCondition) {
  const ids = rules.flatMap((rule) =>
    rule.when.kind === "counts" && countsKey(rule.when) === countsKey(when) ? [rule.id] : [],
  );
  const firing = ({ alerts }: Pick<RecordingState, "alerts">) =>
    ids.flatMap((id) => (alerts?.[id]?.state === "firing" ? [alerts[id].startsAt] : []));
  const ofLocation = firing(state.locations.get(locationId) ?? { alerts: undefined }).map((since) => ({
    locationId,
    since,
  }));
  const ofRecordings = [...state.recordings.values()]
    .filter((one) => one.locationId === locationId && one.alerts)
    .flatMap((one) => firing(one).map((since) => ({ locationId, recordingId: one.id, since })));
  return [...ofLocation, ...ofRecordings];
}
