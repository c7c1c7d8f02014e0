/**
 * Replays rules about counts: each hour of a span is evaluated as the daemon evaluates every few minutes, with what was
 * known at that time.
 */

import {
  assessCounts,
  countsOf,
  type FiringCounts,
  type LearnedSite,
  learnSite,
  type SiteOptions,
} from "../counts/evaluate.ts";
import type { CountedSite, CountSeries } from "../counts/series.ts";
import { judgeTogether } from "../counts/together.ts";
import { LATE } from "../counts/track.ts";
import { evidenceBySubject, subjectKey } from "../counts/verdict.ts";
import type { AlertStates } from "../health/alert-machine.ts";
import { applyRules, type Evaluator } from "../health/apply-rules.ts";
import { type CountsEvidence, type CountsLookup, countsKey } from "../health/counts.ts";
import { withCounts } from "../health/counts-evaluator.ts";
import { evaluateGroups } from "../health/evaluate-groups.ts";
import { locationEvaluator } from "../health/evaluate-locations.ts";
import type { Outcomes, Transition } from "../health/evaluation.ts";
import type { CountsCondition } from "../health/model.ts";
import { GAP_INTERVALS } from "../health/rhythm.ts";
import { compileRules } from "../health/rule.ts";
import { HOUR_MS, type Instant } from "../lib/clock.ts";
import { createLocalHours, type LocalHours } from "../lib/local-hours.ts";
import { evaluatorAt } from "./recording.ts";
import type { ReplayContext } from "./setup.ts";

interface CountsReplay extends Pick<ReplayContext, "setup" | "plan" | "span" | "inventory"> {
  /** With all hours of the span and of the eight weeks before it. */
  readonly sites: readonly CountedSite[];
  isClosed(site: CountedSite, hours: LocalHours): SiteOptions["isClosed"];
}

const DAY_MS = 24 * HOUR_MS;

/** Yields after each hour of the span: it takes some milliseconds for each location. */
export function* replayCounts(replay: CountsReplay): Generator<void, readonly Transition[]> {
  const { plan, span, inventory, isClosed } = replay;
  const hours = createLocalHours();
  const out: Outcomes = { transitions: [], decisions: [] };
  const alerts = new Map<string, AlertStates | undefined>();
  const groups = new Map<string, AlertStates | undefined>();
  const sites = replay.sites.map((past) => ({ past, options: { hours, isClosed: isClosed(past, hours) } }));
  let learned: readonly LearnedSite[] = [];
  for (let now = span.from + LATE.most; now < span.to; now += HOUR_MS) {
    // Usual counts change slowly, and learning them is most of the work.
    if ((now - span.from) % DAY_MS < HOUR_MS)
      learned = sites.map(({ past, options }) => learnSite(past, now - LATE.most, options));
    const known = sites.map(({ past, options }, i) =>
      countsOf(siteAt(past, now), learned[i] ?? learnSite(past, now - LATE.most, options), now, options),
    );
    const judge = (when: CountsCondition) => {
      const firing = firingIn(alerts, replay, when);
      const assessed = known.map((counts) => assessCounts(counts, when, firing(counts.site)));
      return judgeTogether(assessed, now);
    };
    const { byCondition, together } = judgeAll(compileRules(plan.counts).counts, judge);
    for (const evaluator of evaluatorsOf(replay, byCondition, now)) {
      const { kind, id } = evaluator.subject;
      const key = `${kind}/${id}`;
      const moment = { now, maxGapMs: GAP_INTERVALS * HOUR_MS };
      const rules = plan.counts.filter(({ when }) => when.kind === "counts");
      alerts.set(key, applyRules(evaluator, alerts.get(key), rules, moment, out));
    }
    const before = Object.fromEntries([...groups].flatMap(([key, states]) => (states ? [[key, states]] : [])));
    const moment = { now, rules: plan.counts, intervalMs: HOUR_MS };
    for (const [key, states] of evaluateGroups(before, { shards: [], inventory, together }, moment, out))
      groups.set(key, states);
    out.decisions.length = 0;
    yield;
  }
  return out.transitions;
}

type Judge = (when: CountsCondition) => ReturnType<typeof judgeTogether>;

/** The evidence by condition; drops of many locations together are those of the most sensitive condition. */
function judgeAll(conditions: readonly CountsCondition[], judge: Judge) {
  const each = [...new Map(conditions.map((when) => [countsKey(when), when]))];
  const judged = each.map(([key, when]) => ({ key, when, ...judge(when) }));
  const [keenest] = judged.toSorted((a, b) => a.when.sensitivity - b.when.sensitivity);
  return {
    byCondition: new Map(judged.map(({ key, verdicts }) => [key, evidenceBySubject(verdicts)])),
    together: keenest?.together.map((one) => ({ ...one, dropped: one.dropped.length })),
  };
}

/** The hours up to the last. Only `get` gives them: a copy for each hour of a backtest would take minutes. */
class HoursUntil extends Map<Instant, number | null> {
  readonly #hours: CountSeries["hours"];
  readonly #last: Instant;

  constructor(hours: CountSeries["hours"], last: Instant) {
    super();
    this.#hours = hours;
    this.#last = last;
  }

  override get(hour: Instant): number | null | undefined {
    return hour <= this.#last ? this.#hours.get(hour) : undefined;
  }
}

/** The site as it was known then. */
function siteAt(past: CountedSite, now: Instant): CountedSite {
  const last = now - LATE.most - HOUR_MS;
  const known = (series: CountSeries): CountSeries => ({ ...series, hours: new HoursUntil(series.hours, last) });
  return {
    ...past,
    entries: known(past.entries),
    zones: past.zones.map(known),
    sales: past.sales && known(past.sales),
    recordings: past.recordings.map((recording) => ({
      ...recording,
      outages: recording.outages.flatMap(({ from, to }) => (from < now ? [{ from, to: Math.min(to, now) }] : [])),
    })),
  };
}

function firingIn(
  alerts: ReadonlyMap<string, AlertStates | undefined>,
  { plan }: Pick<CountsReplay, "plan">,
  when: CountsCondition,
): (site: CountedSite) => FiringCounts[] {
  const ids = plan.counts.flatMap((rule) =>
    rule.when.kind === "counts" && countsKey(rule.when) === countsKey(when) ? [rule.id] : [],
  );
  return ({ locationId, recordings }) =>
    [undefined, ...recordings.map(({ recordingId }) => recordingId)].flatMap((recordingId) => {
      const states = alerts.get(subjectKey({ locationId, recordingId }));
      return ids.flatMap((id) =>
        states?.[id]?.state === "firing" ? [{ locationId, recordingId, since: states[id].startsAt }] : [],
      );
    });
}

/** The evaluators of each location and its recordings; nothing is offline but for the counts' own outages. */
function* evaluatorsOf(
  { setup, inventory, sites }: CountsReplay,
  byCondition: ReadonlyMap<string, ReadonlyMap<string, CountsEvidence>>,
  now: Instant,
): Generator<Evaluator> {
  const counts: CountsLookup = (when, kind, id) => byCondition.get(countsKey(when))?.get(`${kind}/${id}`);
  const seen = { at: now, status: "online", outside: false, since: now } as const;
  for (const { locationId, recordings } of sites) {
    const known = recordings.length;
    const timezone = inventory.recording(recordings[0]?.recordingId ?? "")?.timezone;
    const count = { known, fresh: known, offline: [], outside: undefined, shared: { timezone } };
    yield withCounts(locationEvaluator(locationId, count, inventory), { counts, now, inventory });
    for (const { recordingId } of recordings) {
      const recording = inventory.recording(recordingId);
      if (recording) yield evaluatorAt(now, recording, { seen, ratios: new Map(), counts }, { setup, inventory });
    }
  }
}
