/** Recordings that flap, and what is true of them once they are steady: "recovered" alone could be a lie. */

import type { NotifiedAlert } from "../alerting/notification.ts";
import type { Alert } from "../health/alert.ts";
import { span, type Times } from "../lib/when.ts";

/** `flapping: 6 changes in 9 m,` with a comma for what follows. */
export function changesPhrase({ facts: { changes, changesSince }, updatedAt }: Alert): string {
  if (!changes || changesSince === undefined) return "flapping";
  return `flapping: ${changes} changes in ${span(changesSince, updatedAt)},`;
}

/** It flapped, and has come to rest: not necessarily online. */
export function isSteady({ facts, endReason }: Alert): boolean {
  return facts.problem === "flapping" && endReason === "recovered";
}

/** All that can be known of its recordings or location is well again. */
export function isBack(alert: Alert): boolean {
  const { offline, status } = alert.facts;
  return alert.endReason === "recovered" && !offline && (!isSteady(alert) || status === "online");
}

/** `online since 14:05 GMT (20 m)`; empty where nobody knows. */
export function stateNow({ facts }: NotifiedAlert, times: Times, now: number): string {
  const { status, statusSince, timezone } = facts;
  if (status === undefined) return "";
  if (statusSince === undefined) return status;
  return `${status} since ${times.at(statusSince, timezone)} (${span(statusSince, now)})`;
}

/** `2 recordings online, 1 offline`, of recordings that are steady again. */
export function stateCounts(alerts: readonly Alert[]): string {
  const states = Map.groupBy(alerts, ({ facts }) => facts.status ?? "in a state nobody knows");
  return [...states]
    .map(([status, of], i) => {
      const noun = i > 0 ? "" : of.length === 1 ? " recording" : " recordings";
      return `${of.length}${noun} ${status}`;
    })
    .join(", ");
}
