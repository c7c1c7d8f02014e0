/** Names of the fleet, read from the service where no daemon stores them. */
import type { Recording } from "../health/recording.ts";
import { completed } from "../health/reported-recording.ts";
import { chunksOf } from "../lib/chunks.ts";
import { dayOf } from "../lib/when.ts";
import type { Directory, QueryDeps } from "./query.ts";

const RECORDINGS_PER_REQUEST = 50;

type Deps = Pick<QueryDeps, "signal" | "attempt" | "locationsPerRequest"> & {
  readonly service: Pick<QueryDeps["service"], "statusUptime">;
};

/** The recordings of these locations now. Throws ServiceError. */
export async function recordingIds(locations: Iterable<string>, deps: Deps): Promise<string[]> {
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
export function serviceDirectory(deps: Omit<QueryDeps, "directory" | "mostRows">): Directory {
  const { service, signal, attempt, now } = deps;
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
