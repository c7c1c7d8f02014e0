/** Per location, how many recordings have a fresh reading and since when the offline ones are dark. */
import type { Instant } from "../lib/clock.ts";

export interface Count extends Tally {
  /** Those outside their uploading schedule; undefined where there are none. */
  outside: Tally | undefined;
  /** One of its recordings, for what is known only through one. */
  readonly sampleId: string;
}

/** Recordings whose last good reading is fresh, and since when those are dark that are. */
export interface Tally {
  fresh: number;
  readonly offlineSince: Instant[];
  /** Of the same recordings, in the same order. */
  readonly offlineIds: string[];
}

/** Rows come location by location, so the last one is kept at hand. */
export class Census {
  readonly #counts = new Map<string, Count>();
  #lastId: string | undefined;
  #last: Count | undefined;

  of(locationId: string): Count | undefined {
    return this.#counts.get(locationId);
  }

  online(locationId: string, recordingId: string, inSchedule: boolean): void {
    tallyOf(this.#at(locationId, recordingId), inSchedule).fresh++;
  }

  offline(locationId: string, recordingId: string, inSchedule: boolean, since: Instant): void {
    const tally = tallyOf(this.#at(locationId, recordingId), inSchedule);
    tally.fresh++;
    tally.offlineSince.push(since);
    tally.offlineIds.push(recordingId);
  }

  #at(locationId: string, sampleId: string): Count {
    if (this.#last && this.#lastId === locationId) return this.#last;
    let count = this.#counts.get(locationId);
    if (!count) {
      count = { ...emptyTally(), outside: undefined, sampleId };
      this.#counts.set(locationId, count);
    }
    this.#lastId = locationId;
    this.#last = count;
    return count;
  }
}

export function emptyTally(): Tally {
  return { fresh: 0, offlineSince: [], offlineIds: [] };
}

function tallyOf(count: Count, inSchedule: boolean): Tally {
  if (inSchedule) return count;
  count.outside ??= emptyTally();
  return count.outside;
}
