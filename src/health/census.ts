/** Per location, how many recordings have a fresh reading and since when the offline ones are dark. */
import type { Instant } from "../lib/clock.ts";

export interface Count {
  /** In-schedule recordings whose last good reading is fresh. */
  fresh: number;
  readonly offlineSince: Instant[];
  /** Of the same recordings, in the same order. */
  readonly offlineIds: string[];
  /** One of its recordings, for what is known only through one. */
  readonly sampleId: string;
}

/** Rows come location by location, so the last one is kept at hand. */
export class Census {
  readonly #counts = new Map<string, Count>();
  #lastId: string | undefined;
  #last: Count | undefined;

  of(locationId: string): Count | undefined {
    return this.#counts.get(locationId);
  }

  online(locationId: string, recordingId: string): void {
    this.#at(locationId, recordingId).fresh++;
  }

  offline(locationId: string, recordingId: string, since: Instant): void {
    const count = this.#at(locationId, recordingId);
    count.fresh++;
    count.offlineSince.push(since);
    count.offlineIds.push(recordingId);
  }

  #at(locationId: string, sampleId: string): Count {
    if (this.#last && this.#lastId === locationId) return this.#last;
    let count = this.#counts.get(locationId);
    if (!count) {
      count = { fresh: 0, offlineSince: [], offlineIds: [], sampleId };
      this.#counts.set(locationId, count);
    }
    this.#lastId = locationId;
    this.#last = count;
    return count;
  }
}
