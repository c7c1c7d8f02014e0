/** What a site's sweeps see, asked in order of time. */
import type { Rule } from "../../src/health/model.ts";
import type { Reading, StatusSnapshot } from "../../src/health/recording.ts";
import type { Inventory } from "../../src/health/shard-state.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { Failing } from "./failing.ts";
import type { Fleet, Site, YearRecording } from "./fleet.ts";
import type { Effect } from "./ledger.ts";
import { createYearRandom } from "./random.ts";
import { closings, type Figure, figuresOf, type Step, stepsOf } from "./timeline.ts";

export interface SiteView {
  readonly inventory: Inventory;
  snapshotAt(now: Instant): StatusSnapshot;
  uptime(recordingId: string, overMs: number, now: Instant): number | undefined;
  /** When something next changes that a sweep can notice; infinite where nothing does. */
  nextChange(after: Instant): Instant;
}

interface SiteViewDeps {
  readonly fleet: Fleet;
  readonly effects: ReadonlyMap<YearRecording, readonly Effect[]>;
  readonly rules: readonly Rule[];
  readonly failing: Failing;
}

export function createSiteView(site: Site, { fleet, effects, rules, failing }: SiteViewDeps): SiteView {
  const uptimeRules = rules.flatMap(({ when }) => (when.kind === "overall_uptime" ? [when] : []));
  const views = site.recordings.map((recording) => {
    const own = effects.get(recording) ?? [];
    const steps = stepsOf(own, closings(recording, latenessOf(recording)), fleet.span.from);
    const figures = uptimeRules.map((when) => {
      const all = figuresOf(site, own, fleet.span, when.overMs);
      return { overMs: when.overMs, cursor: cursorOf(crossings(all, [when.below, when.clearAbove])) };
    });
    return { recording, steps: cursorOf<Step>(steps), figures };
  });
  const byId = new Map(views.map((view) => [view.recording.id, view]));
  const edges = [
    ...new Set([
      ...views.flatMap(({ steps, figures }) =>
        [...steps.all, ...figures.flatMap(({ cursor }) => cursor.all)].map(({ at }) => at),
      ),
      ...(site.hours?.closed ?? []).flatMap(({ from, to }) => [from, to]),
      ...failing.of(site.shard).flatMap(({ from, to }) => [from, to]),
    ]),
  ].sort((a, b) => a - b);
  let next = 0;
  return {
    inventory: { recording: (id) => byId.get(id)?.recording, location: () => site },
    snapshotAt(now) {
      const readings = views.flatMap(({ recording, steps }) => readingOf(recording, steps.at(now), now));
      return { readings, unreadable: [], unidentified: 0 };
    },
    uptime: (id, overMs, now) => {
      const figures = byId.get(id)?.figures.find((one) => one.overMs === overMs)?.cursor;
      const figure = figures?.at(now);
      return figure ? figure.uptime : 1;
    },
    nextChange(after) {
      while ((edges[next] ?? Number.POSITIVE_INFINITY) <= after) next++;
      return edges[next] ?? Number.POSITIVE_INFINITY;
    },
  };
}

/** How late it begins to upload, each day another time. */
export function latenessOf(recording: YearRecording): (opensAt: Instant) => number {
  return (opensAt) => Math.round(createYearRandom(opensAt / 60_000, recording.id).between(recording.site.late));
}

function readingOf(recording: YearRecording, step: Step | undefined, now: Instant): Reading[] {
  if (!step || step.status === "missing") return [];
  const { status, quality, since } = step;
  const lastSeenAt = status === "offline" ? since : now;
  return [{ recordingId: recording.id, locationId: recording.locationId, status, lastSeenAt, averageQuality: quality }];
}

/** Those at which the figure is on the other side of a threshold. */
function crossings(figures: readonly Figure[], thresholds: readonly number[]): Figure[] {
  const side = ({ uptime }: Figure) => (uptime === undefined ? -1 : thresholds.filter((one) => uptime < one).length);
  return figures.filter((figure, i) => side(figure) !== (i === 0 ? 0 : side(figures[i - 1] as Figure)));
}

/** The last of these at or before a time; times are asked in order. */
function cursorOf<T extends { readonly at: Instant }>(all: readonly T[]) {
  let next = 0;
  return {
    all,
    at(now: Instant): T | undefined {
      while ((all[next]?.at ?? Number.POSITIVE_INFINITY) <= now) next++;
      return all[next - 1];
    },
  };
}
