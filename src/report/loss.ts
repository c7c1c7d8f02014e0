/** The losses of many recordings in one period. */
import type { Interval } from "../lib/intervals.ts";
import { attribute, type LossEvidence } from "./attribute.ts";
import { addLoss, type LossTally, lossTally } from "./tally.ts";

const MOST_SPANS = 10_000;

/**
 * Gives the loss of a recording inside `bounds`, all with the same times unreachable and unwatched. Without an outage, a
 * schedule or maintenance it is a sum over the buckets, and equal buckets of other recordings lack the same.
 */
export function createLossOf(bounds: Interval): (evidence: LossEvidence) => LossTally {
  const lackOf = createLackOf(bounds);
  const spans = new Map<string, LossTally>();
  return (evidence) => {
    const { down, closed, planned, buckets, knownFrom } = evidence;
    const reported = wholeSpan(buckets);
    if (down.length + closed.length + planned.length > 0 || !reported) return lossTally(attribute(evidence, bounds));
    const key = `${reported.from} ${reported.to} ${Math.max(knownFrom, bounds.from)}`;
    let span = spans.get(key);
    if (!span) {
      if (spans.size >= MOST_SPANS) spans.clear();
      span = lossTally(attribute({ ...evidence, buckets: [{ ...reported, recorded: 1 }] }, bounds));
      spans.set(key, span);
    }
    const loss = { ...span };
    for (const bucket of buckets)
      if (bucket.recorded < 1 && bucket.from < bounds.to && bucket.to > bounds.from)
        addLoss(loss, lackOf(bucket, evidence));
    return loss;
  };
}

/** Gives the lost time of a bucket, without anything else; equal ones are looked at once. */
function createLackOf(bounds: Interval) {
  const known = new Map<number, Map<number, LossTally>>();
  return ({ from, to, recorded }: LossEvidence["buckets"][number], evidence: LossEvidence): LossTally => {
    const alike = known.get(from) ?? new Map<number, LossTally>();
    known.set(from, alike);
    // A length is whole ms, a ratio below 1.
    const key = to - from + recorded;
    let lack = alike.get(key);
    if (!lack) {
      const { lost } = attribute({ ...evidence, buckets: [{ from, to, recorded }] }, bounds);
      lack = { ...lossTally({ lost, seen: [], expected: [], known: [] }), recordings: 0 };
      alike.set(key, lack);
    }
    return lack;
  };
}

/** From the first to the last; undefined where there are none, or something is between them. */
function wholeSpan(buckets: LossEvidence["buckets"]): Interval | undefined {
  const [first] = buckets;
  if (!first) return undefined;
  let { to } = first;
  for (let i = 1; i < buckets.length; i++) {
    const next = buckets[i] as Interval;
    if (next.from !== to) return undefined;
    to = next.to;
  }
  return { from: first.from, to };
}
