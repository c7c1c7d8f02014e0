/** Plays a world of visits, its faults and what `src/counts/` says of them, every ten minutes of an accelerated clock. */
import { assessCounts, type CountsOfSite, type FiringCounts, type SiteAssessment } from "../../src/counts/evaluate.ts";
import { judgeTogether } from "../../src/counts/together.ts";
import { LATE, usualSince } from "../../src/counts/track.ts";
import type { CountsFinding, SubjectVerdict } from "../../src/counts/verdict.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { createLocalHours } from "../../src/lib/local-hours.ts";
import type { Scenario } from "../../src/simulator/scenario.ts";
import { Visits } from "../../src/simulator/visits/parameters.ts";
import { breakWorld, type Fault } from "./faults.ts";
import { SeenSite } from "./site.ts";
import { makeVisitsWorld, type VisitsWorld } from "./visits-world.ts";

export interface DetectOptions {
  readonly seed: number;
  readonly locations: number;
  readonly recordingsPerLocation: number;
  readonly weeks: number;
  readonly from: Instant;
  readonly sensitivities: readonly number[];
  readonly scenario?: Scenario | undefined;
  /** Left out: yes. */
  readonly withTills?: boolean | undefined;
  /** Each site's verdicts by themselves. */
  readonly observe?: ((assessed: SiteAssessment, sensitivity: number, now: Instant) => void) | undefined;
  readonly progress?: ((share: number) => void) | undefined;
}

/** From the first verdict to the end of it, as one alert. */
export interface Episode {
  readonly sensitivity: number;
  readonly locationId: string;
  readonly recordingId: string | undefined;
  readonly at: Instant;
  readonly finding: CountsFinding;
  /** Usual in the zones of a recording from then until the alert, whether counted yet or not. */
  readonly usualOf: (zones: readonly string[], from: Instant) => number;
  endedAt: Instant | undefined;
}

export interface Played {
  readonly world: VisitsWorld;
  readonly faults: readonly Fault[];
  readonly episodes: readonly Episode[];
  /** Days on which a group was said to have dropped together, by sensitivity. */
  readonly together: ReadonlyMap<number, ReadonlySet<string>>;
  readonly options: DetectOptions;
  readonly until: Instant;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const STEP_MS = 10 * MINUTE_MS;
const WEEK_MS = 168 * HOUR_MS;
/** Nothing goes wrong before, so that the first days are like all others. */
const CALM_MS = 2 * 24 * HOUR_MS;

export function playWorld(options: DetectOptions): Played {
  const { seed, from, weeks, scenario } = options;
  const until = from + weeks * WEEK_MS;
  const world = makeVisitsWorld({ ...options, scenario, startedAt: from - 10 * WEEK_MS });
  const { zones } = scenario?.visits ?? Visits.parse({});
  const entrances = new Set(zones.flatMap(({ entrance, taxonomy }) => (entrance ? [taxonomy] : [])));
  const faults = breakWorld(world, seed, { from: from + CALM_MS, to: until }, entrances);
  const hours = createLocalHours();
  const span = { from, to: until, every: STEP_MS };
  const sites = world.locations.map((location) => new SeenSite(world, location, faults, span, hours));
  const rules = options.sensitivities.map((sensitivity) => createRule({ sensitivity }, options.observe));
  for (let now = from + STEP_MS; now <= until; now += STEP_MS) {
    const counts = sites.filter((site) => site.read(now)).map((site) => site.counts(now, options.withTills));
    for (const rule of rules) rule.step(counts, now);
    options.progress?.((now - from) / (until - from));
  }
  const together = new Map(rules.map((rule) => [rule.sensitivity, rule.together]));
  return { world, faults, episodes: rules.flatMap((rule) => rule.episodes), together, options, until };
}

function createRule(rule: { readonly sensitivity: number }, observe: DetectOptions["observe"]) {
  const assessments = new Map<string, SiteAssessment>();
  const seen = new Map<string, CountsOfSite>();
  const active = new Map<string, Episode>();
  const episodes: Episode[] = [];
  const together = new Set<string>();
  const keyOf = ({ subject }: SubjectVerdict) => `${subject.locationId} ${subject.recordingId ?? ""}`;

  function firingAt(locationId: string): FiringCounts[] {
    return [...active.values()].flatMap((one) =>
      one.locationId === locationId ? [{ locationId, recordingId: one.recordingId, since: one.at }] : [],
    );
  }

  function note(own: SubjectVerdict, now: Instant): void {
    const { subject, verdict } = own;
    const known = active.get(keyOf(own));
    if (verdict.is === "plausible" && known) {
      known.endedAt = now;
      active.delete(keyOf(own));
    }
    if (verdict.is !== "implausible" || known) return;
    const { sensitivity } = rule;
    const { locationId, recordingId } = subject;
    const { finding } = verdict;
    const counts = seen.get(locationId);
    const usualOf = (zones: readonly string[], from: Instant) =>
      (counts?.zones ?? []).reduce((sum, zone) => {
        return zones.includes(zone.zone ?? "") ? sum + usualSince({ ...zone, now: now + LATE.mean }, from) : sum;
      }, 0);
    const about = { sensitivity, locationId, recordingId };
    const episode: Episode = { ...about, at: now, finding, usualOf, endedAt: undefined };
    active.set(keyOf(own), episode);
    episodes.push(episode);
  }

  return {
    ...{ ...rule, episodes, together },
    step(sites: readonly CountsOfSite[], now: Instant): void {
      for (const counts of sites) {
        const { locationId } = counts.site;
        seen.set(locationId, counts);
        const assessed = assessCounts(counts, rule, firingAt(locationId));
        assessments.set(locationId, assessed);
        observe?.(assessed, rule.sensitivity, now);
      }
      // Whether an alert goes on is asked once an hour.
      const isNew = [...assessments.values()].some(({ verdicts }) =>
        verdicts.some((own) => own.verdict.is === "implausible" && !active.has(keyOf(own))),
      );
      if (!isNew && now % HOUR_MS !== 0) return;
      const judged = judgeTogether([...assessments.values()], now);
      for (const verdict of judged.verdicts) note(verdict, now);
      for (const { label, value } of judged.together)
        together.add(`${label}=${value} ${new Date(now).toISOString().slice(0, 10)}`);
    },
  };
}
