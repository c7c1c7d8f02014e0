/**
 * Whose fault it was that a recording did not record: each millisecond that is lost has exactly one cause.
 *
 * Lost is what an outage of the recording covers, as lenswatch saw it, and besides that what the service's own figures
 * lack. A figure is about an hour or a day and does not say when in it nothing was recorded: what no outage explains is
 * taken to be in the bucket's first time with the service unreachable, else without a watch, else anywhere. Nothing
 * depends on the bounds but where the answer is cut off, so that the sums of adjoining periods add up.
 */
import type { Instant } from "../lib/clock.ts";
import { clip, type Interval, lengthIn, subtract, total, union } from "../lib/intervals.ts";

/** In the order in which they are shown. `unknown`: the service's figures lack it, lenswatch watched and saw no outage. */
export const lossCauses = [
  "recording",
  "location",
  "camera_server",
  "service",
  "not_watched",
  "maintenance",
  "unknown",
] as const;
export type LossCause = (typeof lossCauses)[number];

/** For people. */
export const causeWords: Readonly<Record<LossCause, string>> = {
  recording: "single recordings",
  location: "whole locations",
  camera_server: "camera servers",
  service: "service unreachable",
  not_watched: "not watched",
  maintenance: "planned work",
  unknown: "unknown",
};

type Spans = readonly Interval[];

/** The evidence on one recording, also of the time around the bounds. */
export interface LossEvidence
  extends Readonly<Record<"down" | "closed" | "unreachable" | "unwatched" | "planned", Spans>> {
  /** Buckets of the service, whole and apart: the ratio 0–1 of their time within the schedule that was recorded. */
  readonly buckets: readonly (Interval & { readonly recorded: number })[];
  /** Alerts about all recordings of a location or a camera server; the first that covers an outage is its cause. */
  readonly wider: readonly { readonly cause: "location" | "camera_server"; readonly spans: Spans }[];
  /** Before this nothing but buckets tells that the recording existed. */
  readonly knownFrom: Instant;
}

export interface Attribution {
  readonly lost: Readonly<Record<LossCause, Spans>>;
  /** Outages as seen, planned or not, while the service answered. */
  readonly seen: Spans;
  /** Time within the schedule; `known` is the part of it of which it is known whether it was recorded. */
  readonly expected: Spans;
  readonly known: Spans;
}

/** Attributes the time inside `bounds`, which end at the present or before. */
export function attribute(evidence: LossEvidence, bounds: Interval): Attribution {
  const { closed, unreachable, unwatched, planned, wider, knownFrom } = evidence;
  const buckets = evidence.buckets.filter(({ from, to }) => from < bounds.to && to > bounds.from);
  const expected = subtract([bounds], closed);
  const seenEver = subtract(evidence.down, [...closed, ...unreachable]);
  const seen = clip(seenEver, bounds);
  const lacking = lackingTime({ ...evidence, buckets }, seenEver).map((one) => clip(one, bounds));
  const lost: Record<LossCause, Spans> = {
    recording: [],
    location: [],
    camera_server: [],
    maintenance: intersect(union([...seen, ...lacking.flat()]), planned),
    service: subtract(lacking[0] ?? [], planned),
    not_watched: subtract(lacking[1] ?? [], planned),
    unknown: subtract(lacking[2] ?? [], planned),
  };
  let unexplained = subtract(seen, planned);
  for (const { cause, spans } of wider) {
    const covered = unexplained.length > 0 ? intersect(unexplained, spans) : [];
    if (covered.length === 0) continue;
    lost[cause] = union([...lost[cause], ...covered]);
    unexplained = subtract(unexplained, covered);
  }
  lost.recording = unexplained;
  const gaps = [...unreachable, ...unwatched, { from: Number.NEGATIVE_INFINITY, to: knownFrom }];
  const known = union([...subtract(expected, gaps), ...seen, ...subtract(clip(buckets, bounds), closed)]);
  return { lost, seen, expected, known };
}

/** Missing segments beyond the outages seen: while the service was unreachable, without a watch, and otherwise. */
function lackingTime({ buckets, closed, unreachable, unwatched }: LossEvidence, seen: Spans): [Spans, Spans, Spans] {
  const found: [Interval[], Interval[], Interval[]] = [[], [], []];
  for (const bucket of buckets) {
    if (bucket.recorded >= 1) continue;
    const shut = overlapping(closed, bucket);
    const open = shut.length === 0 ? [bucket] : subtract([bucket], shut);
    const inBucket = overlapping(seen, bucket);
    let left = Math.round((1 - bucket.recorded) * total(open)) - lengthIn(inBucket, bucket);
    let rest: Spans = inBucket.length === 0 ? open : subtract(open, inBucket);
    for (const [i, gaps] of [unreachable, unwatched].entries()) {
      const among = overlapping(gaps, bucket);
      if (left <= 0 || among.length === 0) continue;
      const taken = firstOf(intersect(rest, among), left);
      found[i]?.push(...taken);
      left -= total(taken);
      rest = subtract(rest, taken);
    }
    if (left > 0) found[2].push(...firstOf(rest, left));
  }
  return found;
}

/** The first `ms` of them. */
function firstOf(spans: Spans, ms: number): Interval[] {
  let left = ms;
  return spans.flatMap(({ from, to }) => {
    const taken = Math.min(left, to - from);
    left -= taken;
    return taken > 0 ? [{ from, to: from + taken }] : [];
  });
}

function overlapping(spans: Spans, { from, to }: Interval): Spans {
  return spans.filter((one) => one.from < to && one.to > from);
}

/** `spans` are in order and do not overlap. */
function intersect(spans: Spans, others: Spans): Spans {
  const [only] = others;
  if (!only) return [];
  // Most times without a watch are longer than a bucket.
  if (others.length === 1 && spans.every(({ from, to }) => from >= only.from && to <= only.to)) return [...spans];
  return subtract(spans, subtract(spans, others));
}
