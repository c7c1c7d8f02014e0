/** Labels and annotations of an alert, as they are frozen when it becomes pending. Plain text, no markup. */
import type { Instant } from "../lib/clock.ts";
import { isoMinute } from "../lib/format.ts";
import type { GeneratedAnnotation, Labels } from "./alert.ts";
import type { Rule } from "./rule.ts";
import type { Inventory } from "./shard-state.ts";

type Facts = Readonly<Record<string, string | undefined>>;

/** Labels of a recording's alert: names are ids until known, what is unknown is left out. */
export function recordingLabels(rule: Rule, id: string, locationId: string, inventory: Inventory): Labels {
  return labelsOf(rule, recordingSubject(id, locationId, inventory));
}

/** What every alert of a recording says of it, whatever its rule. */
export function recordingSubject(
  id: string,
  locationId: string,
  inventory: Inventory,
): Readonly<Record<string, string | undefined>> {
  const recording = inventory.recording(id);
  const location = inventory.location(locationId);
  return {
    recording_id: id,
    recording: recording?.name || id,
    location_id: locationId,
    location: location?.name || locationId,
    organisation: recording?.organisation,
    camera_server: recording?.cameraServer,
    timezone: recording?.timezone ?? location?.timezone,
  };
}

/** Labels of a location's alert; `timezone` where the location's own is not known. */
export function locationLabels(
  rule: Rule,
  id: string,
  inventory: Inventory,
  timezone: string | undefined,
): Labels {
  const location = inventory.location(id);
  return labelsOf(rule, {
    location_id: id,
    location: location?.name || id,
    timezone: location?.timezone ?? timezone,
  });
}

/** The subject's labels under the rule's own, `alertname` on top; empty labels do not exist. */
export function labelsOf(rule: Rule, subject: Facts): Labels {
  const all = { ...subject, ...rule.labels, alertname: rule.alert };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => !!entry[1]));
}

/** The rule's own annotations over a generated `summary` and `description`. */
export function annotationsOf(rule: Rule, summary: string, description: string): Labels {
  return { summary, description, ...rule.annotations };
}

/** What is wrong with a location. */
export function locationAnnotations(
  rule: Rule,
  labels: Labels,
  seen: { readonly startsAt: Instant; readonly offline: number; readonly of: number },
): Labels {
  return annotationsOf(
    rule,
    `${labels.location ?? ""} is offline`,
    `${seen.offline} of ${seen.of} recordings offline since ${isoMinute(seen.startsAt)}.`,
  );
}

/** Those of the given annotations that are generated, because the rule sets none of that name. */
export function generatedOf(rule: Rule, names: readonly GeneratedAnnotation[]): GeneratedAnnotation[] {
  return names.filter((name) => !Object.hasOwn(rule.annotations, name));
}
