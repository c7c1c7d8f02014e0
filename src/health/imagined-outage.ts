/** The alerts that would fire if recordings went offline now and stayed so, within their uploading schedules. Pure. */
import type { Instant } from "../lib/clock.ts";
import { type Alert, alertKey, groupLabels, type Subject } from "./alert.ts";
import { type Described, describedBy, namesFor } from "./directory.ts";
import { coversWhole } from "./evaluate-groups.ts";
import { labelOf } from "./members.ts";
import type { Rule } from "./model.ts";
import type { Recording } from "./recording.ts";
import { recordingLabels } from "./recording-evaluator.ts";
import { alertLabels, problemKindOf } from "./rule.ts";
import { type FleetNames, recordingsWith } from "./shard-overview.ts";

type Values = Readonly<Record<string, string | undefined>>;

/** In the order of their rules. Other recordings count as online. */
export function imaginedOutage(
  offline: readonly Recording[],
  rules: readonly Rule[],
  inventory: FleetNames,
  now: Instant,
): Alert[] {
  return rules.flatMap((rule) => {
    const { when } = rule;
    if (when.kind === "status" && when.status === "offline")
      return offline.map(({ id, locationId }) => {
        const labels = recordingLabels(id, locationId, inventory);
        return imagined(rule, { kind: "recording", id }, labels, describedBy(inventory, [locationId]), now);
      });
    if (when.kind !== "location_offline" && when.kind !== "group_offline") return [];
    const label = when.kind === "location_offline" ? "location_id" : when.by;
    const labelIn = (one: Recording) => (label === "location_id" ? one.locationId : labelOf(one, label));
    return [...Map.groupBy(offline, labelIn)].flatMap(([value, some]) => {
      const all = recordingsWith(label, value, inventory) ?? [];
      if (value === "" || all.length < when.minRecordings || some.length / all.length < when.atLeast) return [];
      const own = sharedLabels(all, inventory);
      const isWhole = own.location_id !== undefined && inventory.idsAt(own.location_id).length === all.length;
      if (label !== "location_id" && isWhole && rules.some((other) => coversWhole(other, rule))) return [];
      const subject: Subject =
        label === "location_id" ? { kind: "location", id: value } : { kind: "group", id: `${label}/${value}` };
      const described = describedBy(inventory, new Set(all.map(({ locationId }) => locationId)));
      const labels = { ...described.labels, ...namesFor(own, inventory), ...own, [label]: value };
      return [imagined(rule, subject, labels, described, now)];
    });
  });
}

/** The labels that all of them have. */
function sharedLabels(all: readonly Recording[], inventory: FleetNames): Values {
  const only = (values: readonly string[]) => (new Set(values).size === 1 ? values[0] || undefined : undefined);
  const locationId = only(all.map((one) => one.locationId));
  return {
    ...Object.fromEntries(groupLabels.map((label) => [label, only(all.map((one) => labelOf(one, label)))])),
    ...(locationId && { location_id: locationId, location: inventory.location(locationId)?.name || locationId }),
  };
}

function imagined(rule: Rule, subject: Subject, values: Values, { shops }: Described, now: Instant): Alert {
  const firedAt = now + rule.forMs;
  const key = alertKey(rule.id, subject.kind, subject.id);
  return {
    ...{ id: `${key}@${firedAt}`, key, ruleId: rule.id, subject, annotations: {}, state: "firing" },
    ...{ labels: alertLabels(rule, values), ...(shops && { shops }) },
    ...{ startsAt: now, firedAt, updatedAt: firedAt },
    facts: { timezone: values.timezone ?? "UTC", problem: problemKindOf(rule.when) },
  };
}
