/** Reads the visitor counts of untrusted days and of days like them; missing counts stay blank in the digest. */
import { DateTime } from "luxon";
import { chunksOf } from "../lib/chunks.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { CodedError, toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { dayOfIndex } from "../lib/when.ts";
import type { Service } from "../service/service.ts";
import type { KnownEntries } from "../store/location-details.ts";
import type { Store } from "../store/store.ts";
import { withEntries } from "./compute/untrusted.ts";
import type { Digest, UntrustedDay } from "./digest.ts";

interface EntriesSource {
  readonly service: Pick<Service, "entries">;
  readonly store: Pick<Store, "entries">;
  readonly clock: Clock;
  readonly log: Logger;
}

const MOST_LOCATIONS = 500;
/** Two months of 25 locations are about 1,600 rows. */
const LOCATIONS_PER_REQUEST = 25;
const TIMEOUT_MS = 120_000;
/** Recent counts are read again after this time, those of a day finished long ago never. */
const RECENT_MS = 3_600_000;
const FINISHED_AFTER_MS = 36 * 3_600_000;

/** A larger count of a day is an error of the service. */
const MOST_ENTRIES = 10_000_000;

type LocationCounts = Map<string, Map<string, number | undefined>>;

/** The days wanted of one location: its untrusted days and those like them. */
interface Wanted {
  readonly locationId: string;
  readonly timezone: string;
  readonly dates: ReadonlySet<string>;
  /** Those of them that the digest shows. */
  readonly untrusted: ReadonlySet<string>;
}

/** The digest with the counts that can be had. */
export async function addEntries(deps: EntriesSource, digest: Digest): Promise<Digest> {
  const wanted = wantedOf(digest.untrusted);
  if (wanted.length === 0) return digest;
  const entries: LocationCounts = new Map();
  try {
    const missing = await fromStore(deps, wanted, entries);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    for (const alike of Map.groupBy(missing, ({ timezone }) => timezone).values())
      for (const page of chunksOf(alike, LOCATIONS_PER_REQUEST)) await requestWeeks(deps, page, entries, signal);
    return withEntries(digest, entries, "had");
  } catch (thrown) {
    deps.log.warn({ err: toError(thrown) }, "reading visitor counts failed, digest is made without them");
    return withEntries(digest, entries, "failed");
  }
}

function wantedOf(untrusted: readonly UntrustedDay[]): Wanted[] {
  const byLocation = Map.groupBy(untrusted, ({ locationId }) => locationId);
  return [...byLocation]
    .slice(0, MOST_LOCATIONS)
    .map(([locationId, days]) => ({
      locationId,
      timezone: days[0]?.timezone ?? "UTC",
      dates: new Set(days.flatMap(({ date, alike }) => [date, ...alike])),
      untrusted: new Set(days.map(({ date }) => date)),
    }));
}

/** Fills in the stored counts; gives the locations that lack some. */
async function fromStore({ store, clock }: EntriesSource, wanted: readonly Wanted[], entries: LocationCounts) {
  const now = clock.now();
  const known = await store.entries.read(wanted.map(({ locationId }) => locationId));
  return wanted.flatMap((one): Wanted[] => {
    const days = known.get(one.locationId);
    const usable = [...one.dates].filter((date) => isUsable(days?.get(date), date, one.timezone, now));
    entries.set(one.locationId, new Map(usable.map((date) => [date, days?.get(date)?.entries])));
    const missing = one.dates.difference(new Set(usable));
    return missing.size > 0 ? [{ ...one, dates: missing }] : [];
  });
}

function isUsable(known: KnownEntries | undefined, date: string, zone: string, now: Instant): boolean {
  if (!known) return false;
  return known.askedAt >= now - RECENT_MS || known.askedAt >= startOf(date, zone, 1) + FINISHED_AFTER_MS;
}

function startOf(date: string, zone: string, plusDays = 0): Instant {
  return DateTime.fromISO(date, { zone }).plus({ days: plusDays }).startOf("day").toMillis();
}

/** The longest allowed range is not documented: where weeks are refused, only the untrusted days are requested. */
async function requestWeeks(...[deps, page, entries, signal]: Parameters<typeof requestDays>): Promise<void> {
  try {
    await requestDays(deps, page, entries, signal);
  } catch (thrown) {
    if (!(thrown instanceof CodedError) || thrown.code !== "bad_request") throw thrown;
    const own = page.map((one) => ({ ...one, dates: one.dates.intersection(one.untrusted) }));
    await requestDays(deps, own, entries, signal);
  }
}

async function requestDays(
  { service, store, clock }: EntriesSource,
  page: readonly Wanted[],
  entries: LocationCounts,
  signal: AbortSignal,
): Promise<void> {
  const dates = page.flatMap((one) => [...one.dates]).sort();
  const [first, last, zone] = [dates[0], dates.at(-1), page[0]?.timezone];
  if (first === undefined || last === undefined || zone === undefined) return;
  const locations = page.map(({ locationId }) => locationId);
  const range = { start: startOf(first, zone), end: startOf(last, zone, 1) };
  const { segments = [] } = await service.entries(
    { ...range, locations, facets: ["segments"], aggregationPeriod: "day", breakdown: { entity: true } },
    signal,
  );
  const counted = new Map(locations.map((id) => [id, new Map<string, number | undefined>()]));
  for (const { index, location = locations.length === 1 ? locations[0] : undefined, values } of segments) {
    const date = dayOfIndex(index ?? "", zone);
    const days = counted.get(location ?? "");
    if (date !== undefined && days) addCount(days, date, values.entries);
  }
  const now = clock.now();
  for (const { locationId, dates: own } of page) {
    const days = counted.get(locationId) ?? new Map<string, number | undefined>();
    for (const date of own) entries.get(locationId)?.set(date, days.get(date));
    await store.entries.save(locationId, days, now);
  }
}

/** Rows of the same day are added up; a row without a figure adds nothing. */
function addCount(days: Map<string, number | undefined>, date: string, people: number | undefined): void {
  if (people !== undefined && !(people >= 0 && people <= MOST_ENTRIES)) return;
  const before = days.get(date);
  days.set(date, people === undefined ? before : (before ?? 0) + people);
}
