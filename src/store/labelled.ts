/** Recordings by location, and counted by label and location; kept up to date as names are. */
import { type GroupLabel, groupLabels } from "../health/alert.ts";
import { labelOf } from "../health/members.ts";
import type { Recording } from "../health/recording.ts";

type Counted = ReadonlyMap<string, number>;

const NONE: Counted = new Map();

export function createLabelled() {
  const counts = new Map(groupLabels.map((label) => [label, new Map<string, Map<string, number>>()]));
  const organisations = new Map<string, string>();
  const idsByLocation = new Map<string, string[]>();

  function add(of: Map<string, Map<string, number>>, value: string, locationId: string, by: number): void {
    const here = of.get(value) ?? new Map<string, number>();
    const sum = (here.get(locationId) ?? 0) + by;
    if (sum > 0) of.set(value, here.set(locationId, sum));
    else if (here.delete(locationId) && here.size === 0) of.delete(value);
  }

  return {
    /** Counts a recording that is there, by 1, or that is there no more, by -1. */
    count(id: string, recording: Omit<Recording, "id" | "name">, by: 1 | -1): void {
      const { locationId, organisation } = recording;
      const here = idsByLocation.get(locationId) ?? [];
      if (by > 0) here.push(id);
      else here.splice(here.indexOf(id), 1);
      idsByLocation.set(locationId, here);
      for (const [label, of] of counts) {
        const value = labelOf(recording, label);
        if (value !== "") add(of, value, locationId, by);
      }
      if (by > 0) organisations.set(locationId, organisation);
    },

    /** All of them by location. */
    ids: (): Iterable<readonly string[]> => idsByLocation.values(),

    /** The recordings at a location. */
    idsAt: (locationId: string): readonly string[] => idsByLocation.get(locationId) ?? [],

    /** The recordings with this label, counted by location. */
    labelled: (label: GroupLabel, value: string): Counted => counts.get(label)?.get(value) ?? NONE,

    /** The organisation of one of its recordings; empty where it is not known, or all are of one. */
    organisationAt(locationId: string): string {
      const isOfOne = (counts.get("organisation")?.size ?? 0) < 2;
      return isOfOne ? "" : (organisations.get(locationId) ?? "");
    },
  };
}
