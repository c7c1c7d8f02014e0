/** Visits that outages kept from being counted, of each location and each visit once. */
import { visitsInAll } from "../../counts/location-outage.ts";
import type { DigestScope, LocatedVisits } from "../digest.ts";
import type { LocationRecords } from "./locations.ts";

/** Most visits first. `incidents` have what each cost; those that fire cost until now. */
export function uncountedVisits(
  { incidents, period, now }: DigestScope,
  locations: ReadonlyMap<string, LocationRecords>,
  locationOf: ReadonlyMap<string, string>,
): LocatedVisits[] {
  const costly = incidents.filter(({ uncounted }) => uncounted).map((one) => ({ ...one, endsAt: one.endsAt ?? now }));
  const byLocation = Map.groupBy(
    costly,
    ({ recordingId = "", locationId }) => locationId ?? locationOf.get(recordingId),
  );
  const found = [...locations.values()].flatMap(({ id: locationId, name: locationName }): LocatedVisits[] => {
    const visits = visitsInAll(byLocation.get(locationId) ?? [], period);
    return visits && visits.estimate > 0 ? [{ locationId, locationName, visits }] : [];
  });
  return found.sort((a, b) => b.visits.estimate - a.visits.estimate);
}
