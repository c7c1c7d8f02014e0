/**
 * `GET /api/v2/alerts` as Alertmanager answers it (its api/v2/openapi.yaml, `gettableAlert`). Go clients
 * dereference what the schema requires: nothing required is left out, no list is null.
 */
import { RESOLVE_TIMEOUT_MS } from "../../alerting/external-alerts.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import type { Labels } from "../../health/alert.ts";
import type { Instant } from "../../lib/clock.ts";
import type { ActiveAlert } from "../deps.ts";
import { eachRow } from "../paging.ts";
import { isoTime } from "../query.ts";
import { type AlertStatus, type AlertsQuery, isAlertWanted, isReceiverWanted, statusOf } from "./alert-query.ts";

/** A row costs a digest of its labels. */
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
    readonly state: AlertStatus;
    readonly silencedBy: readonly string[];
    readonly inhibitedBy: readonly string[];
    readonly mutedBy: readonly string[];
    /** Not part of Alertmanager's API. */
    readonly acknowledgement?: { readonly author: string; readonly comment: string; readonly at: string };
  };
}

export interface AlertsContext {
  readonly now: Instant;
  readonly externalUrl: string | undefined;
}

/** The firing alerts that pass the filters, sorted by fingerprint; yields every so many rows. */
export function* gettableAlerts(
  alerts: readonly ActiveAlert[],
  query: AlertsQuery,
  context: AlertsContext,
): Generator<void, GettableAlert[]> {
  const rows: GettableAlert[] = [];
  const visit = (active: ActiveAlert) => {
    const fits = isAlertWanted(active, query) && (query.unprocessed || statusOf(active) !== "unprocessed");
    if (fits && active.receivers.some((name) => isReceiverWanted(name, query)))
      rows.push(gettableAlert(active, context));
  };
  yield* eachRow(alerts, visit, ROWS_PER_STEP);
  return rows.sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
}

/**
 * One alert. Our own expire after `resolve_timeout`, as if they were posted now. In a group, `mutedBy` is that of the
 * group's route.
 */
export function gettableAlert(
  active: ActiveAlert,
  { now, externalUrl }: AlertsContext,
  mutedBy: readonly string[] = active.mutedBy ?? [],
): GettableAlert {
  const { alert, receivers, silencedBy = [], inhibitedBy = [], acknowledgement: ack, external } = active;
  const generatorURL = alert.facts.generatorUrl ?? (external ? undefined : externalUrl);
  const acknowledged = ack && { acknowledgement: { ...ack, at: isoTime(ack.at) } };
  return {
    labels: alert.labels,
    annotations: alert.annotations,
    receivers: receivers.map((name) => ({ name })),
    fingerprint: fingerprint(alert.labels),
    startsAt: isoTime(alert.startsAt),
    updatedAt: isoTime(external?.updatedAt ?? alert.updatedAt),
    endsAt: isoTime(external?.endsAt ?? now + RESOLVE_TIMEOUT_MS),
    ...(generatorURL === undefined ? {} : { generatorURL }),
    status: { state: statusOf(active, mutedBy), silencedBy, inhibitedBy, mutedBy, ...acknowledged },
  };
}

/** The rows as one JSON list, a row per piece. */
export function* jsonList(rows: Iterable<unknown>): Generator<string, void> {
  let before = "[";
  for (const row of rows) {
    yield before + JSON.stringify(row);
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}
