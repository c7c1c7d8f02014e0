/**
 * Asks the service what it counted on a digest's untrusted days and on the days like them. A digest never fails for
 * it: what cannot be had is left blank, and the digest says so.
 */
import { DateTime } from "luxon";
import type { Clock, Instant } from "../lib/clock.ts";
import { CodedError, toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { Service } from "../service/service.ts";
import type { EntriesStore, KnownEntries } from "../store/entries.ts";
import { withEntries } from "./compute/untrusted.ts";
import type { Digest, UntrustedDay } from "./digest.ts";

export interface DigestEntriesDeps {
  readonly service: Pick<Service, "entries">;
  readonly store: EntriesStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The worst ones; a digest in which more are untrusted is about something else. */
const MOST_LOCATIONS = 500;
/** Two months of so many are some 1,600 rows. */
const LOCATIONS_PER_REQUEST = 25;
/** For all requests together. */
const PATIENCE_MS = 120_000;
/** Recent counts are read again after so long, those of a day that has been over for long never. */
const RECENT_MS = 3_600_000;
const FINISHED_AFTER_MS = 36 * 3_600_000;

/** No place has more visitors in a day: what says so is no count. */
const MOST_ENTRIES = 10_000_000;

/** What one location is asked for: its untrusted days and those like them. */
interface Wanted {
  readonly locationId: string;
  readonly timezone: string;
  readonly dates: ReadonlySet<string>;
  /** Of them those that the digest speaks of. */
  readonly untrusted: ReadonlySet<string>;
}

/** The digest with the counts that can be had. */
export async function addEntries(deps: DigestEntriesDeps, digest: Digest): Promise<Digest> {
  const wanted = wantedOf(digest.untrusted);
  if (wanted.length === 0) return digest;
  const entries = new Map<string, Map<string, number | undefined>>();
  try {
    const missing = await fromMemory(deps, wanted, entries);
    const signal = AbortSignal.timeout(PATIENCE_MS);
    for (const page of pagesOf(missing)) await askForWeeks(deps, page, entries, signal);
    return withEntries(digest, entries, "had");
  } catch (thrown) {
    deps.log.warn({ err: toError(thrown) }, "visitor counts could not be read; a digest goes without them");
    return withEntries(digest, entries, "failed");
  }
}

function wantedOf(untrusted: readonly UntrustedDay[]): Wanted[] {
  const byLocation = Map.groupBy(untrusted, ({ locationId }) => locationId);
  return [...byLocation].slice(0, MOST_LOCATIONS).map(([locationId, days]) => ({
    locationId,
    timezone: days[0]?.timezone ?? "UTC",
    dates: new Set(days.flatMap(({ date, alike }) => [date, ...alike])),
    untrusted: new Set(days.map(({ date }) => date)),
  }));
}

/** Fills in what is remembered; gives those of whom something is missing. */
async function fromMemory(
  { store, clock }: DigestEntriesDeps,
  wanted: readonly Wanted[],
  entries: Map<string, Map<string, number | undefined>>,
): Promise<Wanted[]> {
  const now = clock.now();
  const known = await store.read(wanted.map(({ locationId }) => locationId));
  return wanted.flatMap((one) => {
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

/** When a local day begins, or the one so many days later. */
function startOf(date: string, zone: string, plusDays = 0): Instant {
  return DateTime.fromISO(date, { zone }).plus({ days: plusDays }).startOf("day").toMillis();
}

function* pagesOf(wanted: readonly Wanted[]): Generator<Wanted[]> {
  for (const [, all] of Map.groupBy(wanted, ({ timezone }) => timezone)) {
    for (let from = 0; from < all.length; from += LOCATIONS_PER_REQUEST)
      yield all.slice(from, from + LOCATIONS_PER_REQUEST);
  }
}

/** How long a range may be is not documented: where weeks are refused, only the digest's own days are asked for. */
async function askForWeeks(...[deps, page, entries, signal]: Parameters<typeof askFor>): Promise<void> {
  try {
    await askFor(deps, page, entries, signal);
  } catch (thrown) {
    if (!(thrown instanceof CodedError) || thrown.code !== "bad_request") throw thrown;
    const own = page.map((one) => ({ ...one, dates: one.dates.intersection(one.untrusted) }));
    await askFor(deps, own, entries, signal);
  }
}

async function askFor(
  { service, store, clock }: DigestEntriesDeps,
  page: readonly Wanted[],
  entries: Map<string, Map<string, number | undefined>>,
  signal: AbortSignal,
): Promise<void> {
  const dates = page.flatMap((one) => [...one.dates]).sort();
  const [first, last, zone] = [dates[0], dates.at(-1), page[0]?.timezone];
  if (first === undefined || last === undefined || zone === undefined) return;
  const locations = page.map(({ locationId }) => locationId);
  const { segments = [] } = await service.entries(
    {
      start: startOf(first, zone),
      end: startOf(last, zone, 1),
      locations,
      facets: ["segments"],
      aggregationPeriod: "day",
      breakdown: { entity: true },
    },
    signal,
  );
  const counted = new Map(locations.map((id) => [id, new Map<string, number | undefined>()]));
  for (const { index, location = locations.length === 1 ? locations[0] : undefined, values } of segments) {
    const [date] = /^\d{4}-\d\d-\d\d/.exec(index ?? "") ?? [];
    const days = counted.get(location ?? "");
    if (date === undefined || !days) continue;
    const { entries: people } = values;
    if (people !== undefined && !(people >= 0 && people <= MOST_ENTRIES)) continue;
    // Should a day come in pieces, it is their sum; a piece without a figure adds none.
    const before = days.get(date);
    days.set(date, people === undefined ? before : (before ?? 0) + people);
  }
  const now = clock.now();
  for (const { locationId, dates: own } of page) {
    const days = counted.get(locationId) ?? new Map<string, number | undefined>();
    for (const date of own) entries.get(locationId)?.set(date, days.get(date));
    await store.save(locationId, days, now);
  }
}
