/** Evaluates rules for recordings taken together, by how many of them are offline. */

import type { Instant } from "../lib/clock.ts";
import { isoMinute } from "../lib/format.ts";
import { type AlertFacts, placesPhrase, type Subject } from "./alert.ts";
import type { Evaluator } from "./apply-rules.ts";
import { describedBy, namesFor } from "./directory.ts";
import { addStatusCounts } from "./group-counts.ts";
import { labelOf, type ScheduledCount, type StatusCount } from "./members.ts";
import type { Rule } from "./model.ts";
import { alertAnnotations, alertLabels, generatedOf } from "./rule.ts";
import type { Inventory } from "./shard-state.ts";

/** Recordings taken together; `count` is undefined when none of them is watched. */
interface Outage {
  readonly subject: Subject;
  readonly count: ScheduledCount | undefined;
  readonly timezone: string | undefined;
  readonly inventory: Inventory;
  readonly endsAfterMs: number | undefined;
  /** Asked when an alert begins. */
  labels(): Readonly<Record<string, string | undefined>>;
  /** Its locations, where a directory says something of them. */
  locations(): Iterable<string> | undefined;
  /** `Leeds Briggate`, `Camera server edge-7`. */
  readonly name: string;
  readonly facts?: Pick<AlertFacts, "locations" | "locationNames" | "isAlone">;
}

export function outageEvaluator(outage: Outage): Evaluator {
  const { subject, count, timezone, inventory } = outage;
  return {
    subject,
    evidence: (rule, firing) => (isOutside(rule, count) ? undefined : isOutage(rule, firing, countFor(rule, count))),
    isPaused: (rule) => isOutside(rule, count),
    endsAfterMs: () => outage.endsAfterMs,
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
        ...(subject.kind === "location" && { servers: onServers(offline, inventory) }),
        ...outage.facts,
      };
    },
    describe(rule, startsAt) {
      const { fresh, offline } = countFor(rule, count);
      const at = placesPhrase(outage.facts ?? {});
      const annotations = alertAnnotations(rule, [
        `${outage.name} is offline`,
        `${offline.length} of ${fresh} recordings offline since ${isoMinute(startsAt)}${at && `, at ${at}`}.`,
      ]);
      const described = describedBy(inventory, outage.locations());
      const own = outage.labels();
      const labels = alertLabels(rule, { ...described.labels, ...namesFor(own, inventory), ...own });
      return { ...described, labels, annotations };
    },
  };
}

/** Recordings within their schedule; all of them for a rule that does not respect schedules. */
function countFor({ respectSchedule }: Rule, count: ScheduledCount | undefined): StatusCount {
  if (!count) return { known: 0, fresh: 0, offline: [] };
  const { outside } = count;
  return respectSchedule || !outside ? count : addStatusCounts([count, outside]);
}

/** All of its recordings are outside their schedule. */
function isOutside({ respectSchedule }: Rule, count: ScheduledCount | undefined): boolean {
  return respectSchedule && count?.known === 0 && count.outside !== undefined;
}

const NAMED = 12;

function offlineNames(offline: StatusCount["offline"], inventory: Inventory): Partial<AlertFacts> {
  const ids = offline.flatMap(({ id }) => id ?? []).slice(0, NAMED);
  if (ids.length === 0) return {};
  return { offlineNames: ids.map((id) => inventory.recording(id)?.name || id).sort() };
}

/** Offline recordings by camera server: an alert of that counts them too. */
function onServers(offline: StatusCount["offline"], inventory: Inventory): AlertFacts["servers"] {
  const names = offline.map(({ id = "" }) => labelOf(inventory.recording(id), "camera_server"));
  const byServer = Map.groupBy(
    names.filter((name) => name !== ""),
    (name) => name,
  );
  return Object.fromEntries([...byServer].map(([name, { length }]) => [name, length]));
}

/**
 * `min_recordings` limits the beginning only: what fires is evaluated by what is left. Recordings that the last request
 * did not answer for leave it open where they would decide it.
 */
function isOutage({ when }: Rule, firing: boolean, count: StatusCount): boolean | undefined {
  if (when.kind !== "location_offline" && when.kind !== "group_offline") return undefined;
  const { known, fresh, offline, stale = 0 } = count;
  const needed = firing ? 1 : Math.max(1, when.minRecordings);
  if (fresh < needed) return known > 0 && known < needed ? false : undefined;
  const share = firing ? when.clearBelow : when.atLeast;
  const isMet = (some: number) => some / (fresh + stale) >= share;
  return isMet(offline.length) ? true : isMet(offline.length + stale) ? undefined : false;
}

/** The time at which as many recordings were offline as the rule's share needs. */
function shareReachedAt({ when }: Rule, { fresh, offline }: StatusCount): Instant {
  const sinces = offline.map(({ since }) => since).sort((a, b) => a - b);
  const atLeast = "atLeast" in when ? when.atLeast : 1;
  const needed = Math.max(1, Math.ceil(atLeast * fresh - 1e-9));
  return sinces[Math.min(needed, sinces.length) - 1] ?? 0;
}
