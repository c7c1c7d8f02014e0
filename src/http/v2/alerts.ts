/**
 * `GET /api/v2/alerts` as Alertmanager answers it (its api/v2/openapi.yaml, `gettableAlert`). Go clients
 * dereference what the schema requires: nothing required is ever left out, no list is ever null.
 */

import { RESOLVE_TIMEOUT_MS } from "../../alerting/external-alerts.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import type { Labels } from "../../health/alert.ts";
import type { Instant } from "../../lib/clock.ts";
import type { ActiveAlert } from "../deps.ts";
import { type AlertState, type AlertsQuery, isReceiverWanted, isWanted, stateOf } from "./alert-query.ts";

/** Rows between two yields: a row costs a digest of its labels. */
const ROWS_PER_STEP = 32;

export interface GettableAlert {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly receivers: readonly { readonly name: string }[];
  readonly fingerprint: string;
  readonly startsAt: string;
  readonly updatedAt: string;
  readonly endsAt: string;
  readonly generatorURL?: string;
  readonly status: {
    readonly state: AlertState;
    readonly silencedBy: readonly string[];
    readonly inhibitedBy: readonly string[];
    readonly mutedBy: readonly string[];
    /** Beyond Alertmanager: who acknowledged it, and when. */
    readonly acknowledgement?: { readonly author: string; readonly comment: string; readonly at: string };
  };
}

export interface AlertsContext {
  readonly now: Instant;
  readonly externalUrl: string | undefined;
}

/** The alerts that fire and are asked for, sorted by fingerprint; yields every so many rows. */
export function* gettableAlerts(
  alerts: readonly ActiveAlert[],
  query: AlertsQuery,
  context: AlertsContext,
): Generator<void, GettableAlert[]> {
  const rows: GettableAlert[] = [];
  let seen = 0;
  for (const active of alerts) {
    const fits = isWanted(active, query) && (query.unprocessed || stateOf(active) !== "unprocessed");
    if (fits && active.receivers.some((name) => isReceiverWanted(name, query)))
      rows.push(gettableAlert(active, context));
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  return rows.sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
}

/** One alert; our own is believed for `resolve_timeout`, as if it were sent now. In a group, `mutedBy` is the group's. */
export function gettableAlert(
  active: ActiveAlert,
  { now, externalUrl }: AlertsContext,
  mutedBy: readonly string[] = active.mutedBy ?? [],
): GettableAlert {
  const { alert, receivers, silencedBy = [], inhibitedBy = [], acknowledgement, external } = active;
  const generatorURL = alert.facts.generatorUrl ?? (external ? undefined : externalUrl);
  const acknowledged = acknowledgement && {
    acknowledgement: { ...acknowledgement, at: iso(acknowledgement.at) },
  };
  return {
    labels: alert.labels,
    annotations: alert.annotations,
    receivers: receivers.map((name) => ({ name })),
    fingerprint: fingerprint(alert.labels),
    startsAt: iso(alert.startsAt),
    updatedAt: iso(external?.updatedAt ?? alert.updatedAt),
    endsAt: iso(external?.endsAt ?? now + RESOLVE_TIMEOUT_MS),
    ...(generatorURL === undefined ? {} : { generatorURL }),
    status: { state: stateOf(active, mutedBy), silencedBy, inhibitedBy, mutedBy, ...acknowledged },
  };
}

function iso(at: Instant): string {
  return new Date(at).toISOString();
}

/** The rows as one JSON list, a row a piece. */
export function* jsonList(rows: Iterable<unknown>): Generator<string, void> {
  let before = "[";
  for (const row of rows) {
    yield before + JSON.stringify(row);
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}
