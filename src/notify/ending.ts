/** How alerts ended, in words. A recording that stops flapping has not necessarily recovered. */
import type { NotifiedAlert } from "../alerting/notification.ts";
import type { Alert, EndReason } from "../health/alert.ts";
import { count, counted } from "../lib/format.ts";
import { span, type Times } from "../lib/when.ts";
import { locationKey } from "./name.ts";
import { wordingOf } from "./wording.ts";

/** By itself, before the problem, and after the problem of an alert that was never notified as firing. */
const endings: Readonly<Record<EndReason, { readonly word: string; readonly before: string; readonly after: string }>> =
  {
    recovered: { word: "recovered", before: "recovered, ", after: "recovered since" },
    no_longer_watched: { word: "no longer watched", before: "no longer watched; ", after: "then no longer watched" },
    rule_changed: { word: "rule changed", before: "its rule was changed; ", after: "then its rule was changed" },
    rule_removed: { word: "rule removed", before: "its rule was removed; ", after: "then its rule was removed" },
    expired: {
      word: "expired",
      before: "expired, current state not known; ",
      after: "then expired; current state not known",
    },
  };

/** `no longer watched`. */
export function endWord(reason: EndReason = "expired"): string {
  return endings[reason].word;
}

/** Whether it flapped and no longer does; its status may be any. */
export function isSteady({ facts, endReason }: Alert): boolean {
  return facts.problem === "flapping" && endReason === "recovered";
}

/** Whether the recording is online, or all recordings of the location are, as far as is known. */
export function isBack(alert: Alert): boolean {
  const { offline, status } = alert.facts;
  return alert.endReason === "recovered" && !offline && (!isSteady(alert) || status === "online");
}

/** `recovered, was offline 14:05–14:14 GMT (9 m)`; `recovered` only for that end reason. */
export function endFacts(alert: NotifiedAlert, times: Times, now: number): string[] {
  const { facts, startsAt, endsAt = now, endReason = "expired", isNew } = alert;
  const range = `${times.between(startsAt, endsAt, facts.timezone)} (${span(startsAt, endsAt)})`;
  const was = `${wordingOf(alert).was} ${range}`;
  if (isSteady(alert)) return [`steady again: ${statusNow(alert, times, now)}`, was];
  const partly = endReason === "recovered" && !isBack(alert) ? "partly " : "";
  return [isNew ? `${was}, ${endings[endReason].after}` : `${partly}${endings[endReason].before}${was}`];
}

/** `online since 14:05 GMT (20 m)`; empty where the status is not known. */
function statusNow({ facts: { status, statusSince, timezone } }: Alert, times: Times, now: number): string {
  if (status === undefined || statusSince === undefined) return status ?? "";
  return `${status} since ${times.at(statusSince, timezone)} (${span(statusSince, now)})`;
}

/** `2 recovered`, `1 steady again`: each way to end, and how many; a location counts as its recordings, `2 of 8`. */
export function endCounts(alerts: readonly NotifiedAlert[]): string[] {
  const wordOf = (alert: Alert) => (isSteady(alert) ? "steady again" : endWord(alert.endReason));
  const { recovered, of } = changeOf(alerts);
  return [
    ...(recovered > 0 ? [`${count(recovered)} of ${count(of)} recovered`] : []),
    ...[...Map.groupBy(alerts.filter(isOwnEnd), wordOf)].map(([word, ends]) => `${count(ends.length)} ${word}`),
  ];
}

/** Not counted with a location. */
export function isOwnEnd({ change, isCovered }: NotifiedAlert): boolean {
  return !change && !isCovered;
}

/** Recordings of locations that recovered, of those that their alerts counted, and how many are still offline. */
export function changeOf(alerts: readonly NotifiedAlert[]) {
  const locations = new Map(alerts.filter(({ change }) => change?.recovered).map((one) => [locationKey(one), one]));
  const sum = { recovered: 0, of: 0, offline: 0 };
  for (const { change, facts } of locations.values()) {
    if (!change) continue;
    sum.recovered += change.recovered;
    sum.of += change.of;
    sum.offline += facts.offline ?? 0;
  }
  return sum;
}

/** `2 recordings online, 1 offline`, of recordings that are steady again. */
export function statusCounts(alerts: readonly Alert[]): string {
  const statuses = Map.groupBy(alerts, ({ facts }) => facts.status ?? "in unknown state");
  return [...statuses]
    .map(([status, of], i) => `${i > 0 ? of.length : counted(of.length, "recording")} ${status}`)
    .join(", ");
}
