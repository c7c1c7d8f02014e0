/** What the service would answer about each recording at any time, from the ledger and the uploading hours. */
import type { UptimeBucket } from "../../src/health/recording.ts";
import { windowUptime } from "../../src/health/uptime.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { HOUR, MINUTE, type Site, type YearRecording } from "./fleet.ts";
import type { Effect } from "./ledger.ts";
import type { Range } from "./mix.ts";

/** What is served from then on. */
export interface Step {
  readonly at: Instant;
  readonly status: "online" | "degraded" | "offline" | "missing";
  readonly quality: number;
  /** Since when it has that status. */
  readonly since: Instant;
}

const GOOD_QUALITY = 0.95;
const RANKS = ["online", "degraded", "offline", "missing"] as const;
const rankOf: Partial<Record<Effect["what"], number>> = { degraded: 1, offline: 2, missing: 3 };

/** When the site is closed; the recordings of a site that opens late come one by one. */
export function closings(recording: YearRecording, late: (opensAt: Instant) => number): Range[] {
  return (recording.site.hours?.closed ?? []).map(({ from, to }) => ({ from, to: to + late(to) }));
}

export function stepsOf(effects: readonly Effect[], closed: readonly Range[], from: Instant): Step[] {
  const edges: { at: Instant; rank: number; quality: number; by: 1 | -1 }[] = [];
  const mark = (span: Range, rank: number, quality: number) => {
    edges.push({ at: span.from, rank, quality, by: 1 }, { at: span.to, rank, quality, by: -1 });
  };
  for (const span of closed) mark(span, 2, GOOD_QUALITY);
  for (const { what, value, ...span } of effects)
    if (what !== "low_uptime") mark(span, rankOf[what] ?? 0, what === "low_quality" ? value : GOOD_QUALITY);
  edges.sort((a, b) => a.at - b.at);
  const active = [0, 0, 0, 0];
  const low: number[] = [];
  const steps: Step[] = [{ at: from, status: "online", quality: GOOD_QUALITY, since: from }];
  for (let i = 0; i < edges.length; ) {
    const at = edges[i]?.at ?? 0;
    for (let edge = edges[i]; edge?.at === at; edge = edges[++i]) {
      active[edge.rank] = (active[edge.rank] ?? 0) + edge.by;
      if (edge.quality === GOOD_QUALITY) continue;
      if (edge.by === 1) low.push(edge.quality);
      else low.splice(low.indexOf(edge.quality), 1);
    }
    const last = steps.at(-1) as Step;
    const status = RANKS[active[3] ? 3 : active[2] ? 2 : active[1] ? 1 : 0] as Step["status"];
    const quality = Math.min(GOOD_QUALITY, ...low);
    if (status === last.status && quality === last.quality) continue;
    const step = { at: Math.max(at, from), status, quality, since: status === last.status ? last.since : at };
    if (step.at === last.at) steps.pop();
    steps.push(step);
  }
  return steps;
}

/** Figures of uptime, as read by then, where they are not 1. */
export interface Figure {
  readonly at: Instant;
  /** Undefined: no hour of the window lies within the schedule. */
  readonly uptime: number | undefined;
}

/** The service's figures of an hour are read this long after it. */
const READ_AFTER = 20 * MINUTE;

/** The figure over the window at each hour where it changed. Hours without expected segments do not count. */
export function figuresOf(site: Site, effects: readonly Effect[], span: Range, overMs: number): Figure[] {
  const hours = Math.ceil((span.to - span.from) / HOUR);
  const received = new Float64Array(hours).fill(1);
  const touched = new Set<number>();
  for (const { from, to, what, value } of effects) {
    if (what !== "offline" && what !== "low_uptime") continue;
    for (let h = Math.max(0, Math.floor((from - span.from) / HOUR)); h < hours && span.from + h * HOUR < to; h++) {
      const start = span.from + h * HOUR;
      const share = (Math.min(to, start + HOUR) - Math.max(from, start)) / HOUR;
      received[h] = Math.max(0, (received[h] ?? 1) - share * (what === "offline" ? 1 : 1 - value));
      touched.add(h);
    }
  }
  const window = Math.ceil(overMs / HOUR) + 2;
  const asked = new Set([...touched].flatMap((h) => Array.from({ length: window }, (_, i) => h + 1 + i)));
  const figures: Figure[] = [];
  for (const h of [...asked].sort((a, b) => a - b)) {
    const now = span.from + h * HOUR + READ_AFTER;
    const first = Math.max(0, h - window);
    const buckets = Array.from({ length: Math.min(h, hours) - first }, (_, i) =>
      bucket(site, span.from, first + i, received),
    );
    const uptime = windowUptime(buckets, { now, overMs, lengthMs: HOUR });
    if (figures.length === 0 || figures.at(-1)?.uptime !== uptime) figures.push({ at: now, uptime });
  }
  return figures;
}

function bucket(site: Site, begin: Instant, hour: number, received: Float64Array): UptimeBucket {
  const startAt = begin + hour * HOUR;
  const withinSchedule = site.hours?.isOpen(startAt) ?? true;
  const overallUptime = received[hour] ?? 1;
  const expected = withinSchedule ? 60 : 0;
  return {
    startAt,
    withinSchedule,
    overallUptime,
    segmentsExpected: expected,
    segmentsReceived: Math.round(expected * overallUptime),
    avgUptimeOnSegment: 1,
    pcSegmentsReceived: overallUptime,
  };
}
