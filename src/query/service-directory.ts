/** Names of the fleet, read from the service where no daemon stores them. */
import type { Location, Recording } from "../health/recording.ts";
import { completed } from "../health/reported-recording.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { dayOf } from "../lib/when.ts";
import type { Service } from "../service/service.ts";

const RECORDINGS_PER_REQUEST = 50;

/** Names of the fleet. */
export interface Directory {
  locations(): Promise<readonly Location[]>;
  /** The recordings of these locations, or those with these ids. */
  recordings(of: {
    readonly locations: readonly string[];
    readonly ids: readonly string[];
  }): Promise<readonly Recording[]>;
}

/** Requests to the service; `attempt` sends one again where that can help. */
export interface Requests<Routes extends keyof Service> {
  readonly service: Pick<Service, Routes>;
  readonly locationsPerRequest: number;
  readonly signal: AbortSignal;
  attempt<T>(request: () => Promise<T>): Promise<T>;
}

/** The recordings of these locations now. Throws ServiceError. */
export async function recordingIds(locations: Iterable<string>, deps: Requests<"statusUptime">): Promise<string[]> {
  const { service, signal, attempt, locationsPerRequest } = deps;
  const found = new Set<string>();
  for (const entities of chunksOf([...locations], locationsPerRequest)) {
    const query = { entities, entityType: "location" } as const;
    const { readings, unreadable } = await attempt(() => service.statusUptime(query, signal));
    for (const { recordingId } of readings) found.add(recordingId);
    for (const id of unreadable) found.add(id);
  }
  return [...found];
}

/** A recording's name is served with its uptime only, so that of today is requested. */
export function serviceDirectory(deps: Requests<"statusUptime" | "locations" | "uptimes">, now: Instant): Directory {
  const { service, signal, attempt } = deps;
  const today = dayOf(now, "utc");
  return {
    locations: async () => (await attempt(() => service.locations(signal))).locations,
    async recordings({ locations, ids }) {
      const wanted = ids.length > 0 ? ids : await recordingIds(locations, deps);
      const recordings: Recording[] = [];
      for (const recids of chunksOf(wanted, RECORDINGS_PER_REQUEST)) {
        const { results } = await attempt(() => service.uptimes({ start: today, end: today, recids }, signal));
        recordings.push(...results.map(({ recording }) => completed(recording)));
      }
      return recordings;
    },
  };
}
