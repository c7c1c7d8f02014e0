/** A coarse profile of a site's last hours, so that sites can be compared over the same time. */

import { HOUR_MS, type Instant } from "../lib/clock.ts";
import type { Counted, Piece, Sum } from "./track.ts";

/** Hours back from now; each span is inside of those asked for. */
const HORIZONS = [0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 30, 36, 48, 60] as const;

/** Expected and counted, by horizon: plain data. */
export type Profile = readonly (readonly [expected: number, counted: number])[];

/** Sites cannot be compared over more. */
export const LONGEST_MS = 60 * HOUR_MS;

/** The time before `since` with which it is compared, hours. */
const BEFORE = 24;

/** The profile of several series together: the known hours of each. */
export function profileOf(all: readonly Pick<Counted, "pieces" | "now">[]): Profile {
  const sums = HORIZONS.map((): [number, number] => [0, 0]);
  for (const { pieces, now } of all) addTo(sums, pieces, now);
  return sums;
}

function addTo(sums: readonly [number, number][], pieces: Iterable<Piece>, now: Instant): void {
  let [expected, counted, next] = [0, 0, 0];
  const endUntil = (from: Instant) => {
    for (let horizon = HORIZONS[next]; horizon !== undefined && from < now - horizon * HOUR_MS; ) {
      const sum = sums[next++] as [number, number];
      sum[0] += expected;
      sum[1] += counted;
      horizon = HORIZONS[next];
    }
  };
  for (const piece of pieces) {
    endUntil(piece.from);
    if (next === HORIZONS.length) return;
    if (piece.isExplained) continue;
    expected += piece.expected;
    counted += piece.counted;
  }
  endUntil(Number.NEGATIVE_INFINITY);
}

/** A span that ends now: where a profile has it, a little longer, and with the day before. Times that lie close have the same. */
export interface ProfileSpan {
  readonly since: number;
  readonly until: number;
  readonly all: number;
}

export function profileSpan(ms: number): ProfileSpan {
  const hours = ms / HOUR_MS;
  const until = HORIZONS.find((horizon) => horizon >= hours) ?? hours;
  const at = (back: number) =>
    Math.max(
      0,
      HORIZONS.findLastIndex((horizon) => horizon <= back),
    );
  return { since: at(hours), until: at(until), all: at(until + BEFORE) };
}

/** Within the span, a little less where that is between two spans, and in the day before, without any of it. */
export function readProfile(profile: Profile, span: ProfileSpan): { readonly since: Sum; readonly before: Sum } {
  const sumAt = (index: number): Sum => {
    const [expected = 0, counted = 0] = profile[index] ?? [];
    return { expected, counted };
  };
  const [since, more, all] = [sumAt(span.since), sumAt(span.until), sumAt(span.all)];
  return { since, before: { expected: all.expected - more.expected, counted: all.counted - more.counted } };
}
