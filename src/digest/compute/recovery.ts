/** Outages counted and added up, so that a fleet's figures come from its recordings one by one. */
import type { Outage, Span } from "../digest.ts";

export interface OutageTally {
  outages: number;
  lostMs: number;
  /** Those that came back inside the period, and how long they had been down in all. */
  recovered: number;
  downMs: number;
}

export function emptyRecovery(): OutageTally {
  return { outages: 0, lostMs: 0, recovered: 0, downMs: 0 };
}

/** Adds outages of one period: each counts where it lost time, and recovers in the period in which it ended. */
export function countOutages(tally: OutageTally, outages: readonly Outage[], bounds: Span): OutageTally {
  for (const { startsAt, endsAt, lostMs, recovered } of outages) {
    tally.outages += 1;
    tally.lostMs += lostMs;
    if (!recovered || endsAt === undefined || endsAt <= bounds.from || endsAt > bounds.to) continue;
    tally.recovered += 1;
    tally.downMs += endsAt - startsAt;
  }
  return tally;
}

export function addOutages(sum: OutageTally, part: OutageTally): OutageTally {
  sum.outages += part.outages;
  sum.lostMs += part.lostMs;
  sum.recovered += part.recovered;
  sum.downMs += part.downMs;
  return sum;
}

/** Mean time to recovery, ms; undefined where nothing came back. */
export function meanRecovery({ recovered, downMs }: OutageTally): number | undefined {
  return recovered === 0 ? undefined : downMs / recovered;
}
