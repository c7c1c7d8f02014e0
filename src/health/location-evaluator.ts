/** Evaluates rules for one location, by its recordings taken together. */
import type { Instant } from "../lib/clock.ts";
import { isoMinute } from "../lib/format.ts";
import type { AlertFacts } from "./alert.ts";
import type { Evaluator } from "./apply-rules.ts";
import { alertAnnotations, alertLabels, generatedOf, type Rule } from "./rule.ts";
import type { Inventory, RecordingState } from "./shard-state.ts";

export interface StatusCount {
  /** All that are watched. */
  known: number;
  /** Those with a fresh last good reading. */
  fresh: number;
  /** Those of the fresh ones that are offline, since when. */
  readonly offline: { readonly id: string; readonly since: Instant }[];
}

/** Of a location's recordings within their uploading schedule. */
export interface LocationCount extends StatusCount {
  /** Those outside their uploading schedule; undefined where there are none. */
  outside: StatusCount | undefined;
  /** One of its recordings, for what is known only through one. */
  readonly sampleId: string;
}

/** Counts a shard's recordings by location. Rows come location by location, so the last one is kept at hand. */
export class LocationCounts {
  readonly #counts = new Map<string, LocationCount>();
  #lastId: string | undefined;
  #last: LocationCount | undefined;

  /** Undefined when none of its recordings is watched. */
  of(locationId: string): LocationCount | undefined {
    return this.#counts.get(locationId);
  }

  add({ id, locationId, status, since }: RecordingState, isFresh: boolean, inSchedule: boolean): void {
    const count = this.#at(locationId, id);
    if (!inSchedule) count.outside ??= { known: 0, fresh: 0, offline: [] };
    const own = (inSchedule ? undefined : count.outside) ?? count;
    own.known++;
    if (!isFresh) return;
    own.fresh++;
    if (status === "offline") own.offline.push({ id, since });
  }

  #at(locationId: string, sampleId: string): LocationCount {
    if (this.#last && this.#lastId === locationId) return this.#last;
    const count = this.#counts.get(locationId) ?? { known: 0, fresh: 0, offline: [], outside: undefined, sampleId };
    this.#counts.set(locationId, count);
    this.#lastId = locationId;
    this.#last = count;
    return count;
  }
}

/** `count` is undefined when none of its recordings is watched. */
export function locationEvaluator(id: string, count: LocationCount | undefined, inventory: Inventory): Evaluator {
  const location = inventory.location(id);
  const timezone = location?.timezone ?? (count && inventory.recording(count.sampleId)?.timezone);
  return {
    subject: { kind: "location", id },
    evidence: (rule, firing) => (isOutside(rule, count) ? undefined : evidenceOf(rule, firing, countFor(rule, count))),
    isPaused: (rule) => isOutside(rule, count),
    patienceMs: count ? undefined : 0,
    startsAt: (rule) => shareReachedAt(rule, countFor(rule, count)),
    facts(rule): AlertFacts {
      const { known, fresh: of, offline } = countFor(rule, count);
      const outside = rule.respectSchedule ? count?.outside?.known : undefined;
      return {
        timezone: timezone ?? "UTC",
        restated: generatedOf(rule, ["summary", "description"]),
        offline: offline.length,
        of,
        ...(outside && { outside }),
        ...(known > of && { unread: known - of }),
        ...offlineNames(offline, inventory),
      };
    },
    describe(rule, startsAt) {
      const { fresh, offline } = countFor(rule, count);
      const labels = alertLabels(rule, { location_id: id, location: location?.name || id, timezone });
      const annotations = alertAnnotations(rule, [
        `${labels.location ?? ""} is offline`,
        `${offline.length} of ${fresh} recordings offline since ${isoMinute(startsAt)}.`,
      ]);
      return { labels, annotations };
    },
  };
}

/** Recordings within their schedule; all of them for a rule that does not respect schedules. */
function countFor({ respectSchedule }: Rule, count: LocationCount | undefined): StatusCount {
  if (!count) return { known: 0, fresh: 0, offline: [] };
  const { outside } = count;
  if (respectSchedule || !outside) return count;
  return {
    known: count.known + outside.known,
    fresh: count.fresh + outside.fresh,
    offline: [...count.offline, ...outside.offline],
  };
}

/** All of its recordings are outside their schedule. */
function isOutside({ respectSchedule }: Rule, count: LocationCount | undefined): boolean {
  return respectSchedule && count?.known === 0 && count.outside !== undefined;
}

const NAMED = 12;

function offlineNames(offline: StatusCount["offline"], inventory: Inventory): Partial<AlertFacts> {
  if (offline.length === 0) return {};
  const names = offline.slice(0, NAMED).map(({ id }) => inventory.recording(id)?.name || id);
  return { offlineNames: names.sort() };
}

/** `min_recordings` limits the beginning only: what fires is evaluated by what is left. */
function evidenceOf({ when }: Rule, firing: boolean, { known, fresh, offline }: StatusCount): boolean | undefined {
  if (when.kind !== "location_offline") return undefined;
  const needed = firing ? 1 : Math.max(1, when.minRecordings);
  if (fresh < needed) return known > 0 && known < needed ? false : undefined;
  return offline.length / fresh >= (firing ? when.clearBelow : when.atLeast);
}

/** When as many recordings were offline as the rule's share needs. */
function shareReachedAt({ when }: Rule, { fresh, offline }: StatusCount): Instant {
  const sinces = offline.map(({ since }) => since).sort((a, b) => a - b);
  const atLeast = when.kind === "location_offline" ? when.atLeast : 1;
  const needed = Math.max(1, Math.ceil(atLeast * fresh - 1e-9));
  return sinces[Math.min(needed, sinces.length) - 1] ?? 0;
}
