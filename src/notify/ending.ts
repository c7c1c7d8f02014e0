/** How alerts ended, in words. A recording that stops flapping has not necessarily recovered. */
import type { NotifiedAlert } from "../alerting/model.ts";
import type { Alert, EndReason } from "../health/alert.ts";
import { count, counted } from "../lib/format.ts";
import { span, type Times } from "../lib/when.ts";
import { locationKey } from "./name.ts";
import { bareState, wordingOf } from "./wording.ts";

/** After the name of what is not known to have recovered, in a title and in an alert's own line. */
export const endTitles: Readonly<Record<Exclude<EndReason, "recovered">, string>> = {
  no_longer_watched: " no longer watched",
  not_sent_here: ": not sent here any more",
  rule_changed: ": rule changed",
  rule_removed: ": rule removed",
  dropped_together: ": most locations counted far fewer visitors than usual",
  expired: ": expired, current state not known",
};

/** `offline`, `flapping`; empty where its condition was not met any more. */
function lastState(alert: Alert): string {
  return alert.facts.clearing ? "" : bareState(alert);
}

/** ` — offline when last read`, where all alerts are known to have been so; empty where that is not known. */
export function lastKnown(alerts: readonly NotifiedAlert[]): string {
  const [state, ...others] = new Set(alerts.map(lastState));
  return !state || others.length > 0 || alerts[0]?.subject.kind === "external" ? "" : ` — ${state} when last read`;
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

/**
 * `recovered, was offline 14:05–14:14 GMT (9 m)`; `recovered` only for that end reason. Below a title that says how it
 * ended and after how long: `was offline 14:05–14:14 GMT`.
 */
export function endFacts(alert: NotifiedAlert, times: Times, now: number, isTitled = false): string[] {
  const { facts, startsAt, endsAt = now, endReason = "expired", isNew } = alert;
  const lasted = `(${span(startsAt, endsAt)})`;
  const isTimed = isTitled && endReason === "recovered";
  const range = `${times.between(startsAt, endsAt, facts.timezone)}${isTimed ? "" : ` ${lasted}`}`;
  const was = `${wordingOf(alert).was} ${range}`;
  if (isSteady(alert)) return [`${isTitled ? "" : "steady again: "}${statusNow(alert, times, now)}`, was];
  if (isTimed) return [was];
  if (endReason === "recovered" && isNew) return [`${was}, recovered since`];
  if (endReason === "recovered") return [`${isBack(alert) ? "" : "partly "}recovered, ${was}`];
  if (endReason === "not_sent_here") {
    const since = `${bareState(alert)} since ${times.at(startsAt, facts.timezone)}`;
    return [isTitled ? since : `not sent here any more; ${since}`];
  }
  const known = lastKnown([alert]).slice(" — ".length);
  if (isTitled) return [known ? `${lastState(alert)} ${range}` : was];
  return [`${endTitles[endReason].replace(/^:? /, "")}; ${known ? `${known}, ${range}` : was}`];
}

/** `online since 14:05 GMT (20 m)`; empty where the status is not known. */
function statusNow({ facts: { status, statusSince, timezone } }: Alert, times: Times, now: number): string {
  if (status === undefined || statusSince === undefined) return status ?? "";
  return `${status} since ${times.at(statusSince, timezone)} (${span(statusSince, now)})`;
}

/** `2 recovered`, `1 steady again`: each way to end, and how many; a location counts as its recordings, `2 of 8`. */
export function endCounts(alerts: readonly NotifiedAlert[]): string[] {
  const wordOf = (alert: Alert) =>
    isSteady(alert) ? "steady again" : (alert.endReason ?? "expired").replaceAll("_", " ");
  const { recovered, of } = changeOf(alerts);
  return [
    ...(recovered > 0 ? [`${count(recovered)} of ${count(of)} recovered`] : []),
    ...[...Map.groupBy(alerts.filter(isOwnEnd), wordOf)].map(([word, ends]) => `${count(ends.length)} ${word}`),
  ];
}

/** `no longer offline`: ends of recordings of which another alert fires; else as `endCounts`. */
export function endCountsBeside(firing: readonly NotifiedAlert[], alerts: readonly NotifiedAlert[]): string[] {
  const left = new Set(firing.flatMap(({ subject }) => (subject.kind === "recording" ? subject.id : [])));
  const keyOf = ({ subject, facts }: NotifiedAlert) => `${facts.problem} ${subject.id}`;
  const again = new Set(firing.map(keyOf));
  const isSame = (one: NotifiedAlert) =>
    one.endReason === "recovered" && left.has(one.subject.id) && !again.has(keyOf(one));
  const same = alerts.filter((one) => isSame(one) && isOwnEnd(one) && !isSteady(one));
  const states = [...Map.groupBy(same, ({ facts: { clearing, ...facts }, ...one }) => bareState({ ...one, facts }))];
  return [
    ...states.map(([state, { length }]) => `${left.size === 1 ? "" : `${count(length)} `}no longer ${state}`),
    ...endCounts(alerts.filter((one) => !same.includes(one))),
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
    .map(([status, of], i) => `${i > 0 ? count(of.length) : counted(of.length, "recording")} ${status}`)
    .join(", ");
}
