/** The words for how alerts ended. A recording that stops flapping has not necessarily recovered. */
import type { NotifiedAlert } from "../alerting/model.ts";
import { stateOf, wordsOf } from "../alerting/words.ts";
import { type Alert, type EndReason, isBack, isSteady } from "../health/alert.ts";
import { count } from "../lib/format.ts";
import { span, type Times } from "../lib/when.ts";
import { locationKey } from "./name.ts";

/** Each end, after the name of what ended. */
export const endWords: Readonly<Record<EndReason, string>> = {
  recovered: " recovered",
  no_longer_watched: " no longer watched",
  not_sent_here: ": not sent here any more",
  rule_changed: ": rule changed",
  rule_removed: ": rule removed",
  dropped_together: ": most locations counted far fewer visitors than usual",
  expired: ": expired, current state not known",
};

/** ` — offline when last read`, where all alerts are known to have been so; empty where that is not known. */
export function lastKnown(alerts: readonly NotifiedAlert[]): string {
  const [state, ...others] = new Set(alerts.map((alert) => (alert.facts.clearing ? "" : stateOf(alert))));
  return !state || others.length > 0 || alerts[0]?.subject.kind === "external" ? "" : ` — ${state} when last read`;
}

/** `recovered, was offline 14:05–14:14 GMT (9 m)`; below a title that says so already `was offline 14:05–14:14 GMT`. */
export function endFacts(alert: NotifiedAlert, times: Times, now: number, isTitled = false): string[] {
  const { facts, startsAt, endsAt = now, endReason = "expired", isNew } = alert;
  const isOver = endReason === "recovered";
  const lasted = isTitled && isOver ? "" : ` (${span(startsAt, endsAt)})`;
  const state = isOver || facts.clearing ? wordsOf(alert).was : stateOf(alert);
  const was =
    endReason === "not_sent_here"
      ? `${state} since ${times.at(startsAt, facts.timezone)}`
      : `${state} ${times.between(startsAt, endsAt, facts.timezone)}${lasted}`;
  const late = isOver && isNew ? ", not notified before" : "";
  if (isSteady(alert)) return [`${isTitled ? "" : "steady again: "}${statusNow(alert, times, now)}`, was + late];
  const how = `${isOver && !isBack(alert) ? "partly recovered" : endWords[endReason].replace(/^:? /, "")}, `;
  return [(isTitled ? "" : how) + was + late];
}

/** `online since 14:05 GMT (20 m)`; empty where the status is not known. */
function statusNow({ facts: { status, statusSince, timezone } }: Alert, times: Times, now: number): string {
  if (status === undefined || statusSince === undefined) return status ?? "";
  return `${status} since ${times.at(statusSince, timezone, false, span(statusSince, now))}`;
}

/**
 * `2 recovered`, `1 steady again`: each way to end, and how many; a location counts as its recordings, `2 of 8`. What
 * ended of a recording of which another alert fires did not recover: `1 no longer offline`.
 */
export function endCounts(alerts: readonly NotifiedAlert[], firing: readonly NotifiedAlert[] = []): string[] {
  const left = new Set(firing.flatMap(({ subject }) => (subject.kind === "recording" ? subject.id : [])));
  const keyOf = ({ subject, facts }: NotifiedAlert) => `${facts.problem} ${subject.id}`;
  const again = new Set(firing.map(keyOf));
  const wordOf = (alert: NotifiedAlert) => {
    const { endReason = "expired" } = alert;
    if (isSteady(alert)) return "steady again";
    const isLeft = endReason === "recovered" && left.has(alert.subject.id) && !again.has(keyOf(alert));
    return isLeft ? `no longer ${wordsOf(alert).state}` : endReason.replaceAll("_", " ");
  };
  const { recovered, of } = changeOf(alerts);
  return [
    ...(recovered > 0 ? [`${count(recovered)} of ${count(of)} recovered`] : []),
    ...[...Map.groupBy(alerts.filter(isOwnEnd), wordOf)].map(([word, ends]) => `${count(ends.length)} ${word}`),
  ];
}

/** True if the end is not counted with that of a location. */
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

/** `2 online, 1 offline`: the status of recordings that are steady again; where others recovered, without those online. */
export function statusCounts(alerts: readonly Alert[]): string {
  const isAll = alerts.every(isSteady);
  const steady = alerts.filter((alert) => isSteady(alert) && (isAll || !isBack(alert)));
  const statuses = [...Map.groupBy(steady, ({ facts }) => facts.status ?? "in unknown state")];
  return statuses.map(([status, of]) => (steady.length === 1 ? status : `${count(of.length)} ${status}`)).join(", ");
}
