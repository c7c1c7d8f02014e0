/** Belief in answers: what many recordings lack, or change, at once is not believed. */

/** Recordings of some shards that are known, and those of them that complete answers lack. */
export type Presence = { readonly known: number; readonly absent: number };

/** Up to so many absent recordings are believed in a fleet of any size, unless most of it is absent. */
const FEW = 10;
/** Changes, and segments that are lacking, are believed of so many. */
const A_FEW = 2;
const MAX_ABSENT_RATIO = 0.2;
const MOST_RATIO = 0.5;

export function isAbsenceBelieved({ known, absent }: Presence): boolean {
  return absent <= MOST_RATIO * known && (absent <= FEW || absent <= MAX_ABSENT_RATIO * known);
}

/** Belief in values that one answer changes, such as locations; `absent` are those of which it does. */
export function areChangesBelieved(changed: Presence): boolean {
  return changed.absent <= A_FEW || isAbsenceBelieved(changed);
}

/**
 * Segments that hardly arrive are the recordings' own failure, or not: where most of the fleet that is online lacks them,
 * it is the service's figures that are late. `absent` are those that lack them.
 */
export function areSegmentsBelieved({ known, absent }: Presence): boolean {
  return absent <= A_FEW || absent <= MOST_RATIO * known;
}
