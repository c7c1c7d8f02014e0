/** `GET /api/v2/alerts`, Alertmanager's `gettableAlert`: Go clients need every required field, and no null list. */
import { z } from "zod";
import { RESOLVE_TIMEOUT_MS } from "../../alerting/external-alerts.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import { createMatcher, matchesAll, parseMatcher } from "../../alerting/matcher.ts";
import type { Matcher } from "../../alerting/route.ts";
import type { Instant } from "../../lib/clock.ts";
import type { ActiveAlert } from "../deps.ts";
import { eachRow } from "../paging.ts";
import { booleanFlag, isoTime, parsedBy, repeated } from "../query.ts";

/** A row costs a digest of its labels. */
const ROWS_PER_STEP = 32;

export type GettableAlert = ReturnType<typeof gettableAlert>;

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
 * One alert; `status.acknowledgement` is not part of Alertmanager's API. Our own expire after `resolve_timeout`, as if
 * they were posted now. In a group, `mutedBy` is that of the group's route.
 */
export function gettableAlert(
  active: ActiveAlert,
  { now, externalUrl }: AlertsContext,
  mutedBy: readonly string[] = active.mutedBy ?? [],
) {
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

/** One matcher per parameter, repeated. */
export const matcherList: z.ZodType<Matcher[]> = repeated(z.string().transform(parsedBy(parseMatcher)));

/** Parameters by Alertmanager's rules (its api/v2/api.go): unknown ones are ignored. */
export const AlertsQuery = z.object({
  active: booleanFlag.default(true),
  silenced: booleanFlag.default(true),
  inhibited: booleanFlag.default(true),
  unprocessed: booleanFlag.default(true),
  filter: matcherList,
  /** Anchored at both ends. */
  receiver: z
    .string()
    .transform(parsedBy((text: string) => createMatcher("receiver", "=~", text)))
    .optional(),
  receiver_matchers: matcherList,
});
export type AlertsQuery = z.infer<typeof AlertsQuery>;

export const GroupsQuery = AlertsQuery.omit({ unprocessed: true }).extend({ muted: booleanFlag.default(true) });
export type GroupsQuery = z.infer<typeof GroupsQuery>;

/** The alert's state now; in a group, `mutedBy` is that of the group's route. */
export function statusOf(active: ActiveAlert, mutedBy: readonly string[] = active.mutedBy ?? []) {
  const { alert, silencedBy, inhibitedBy, acknowledgement, external } = active;
  const suppressed = silencedBy?.length || inhibitedBy?.length || mutedBy.length > 0;
  if (suppressed || acknowledgement || alert.facts.paused) return "suppressed";
  return external?.unprocessed ? "unprocessed" : "active";
}

/** Whether an alert fires and passes the filters, whatever its receivers; `mutedBy` as for `statusOf`. */
export function isAlertWanted(
  active: ActiveAlert,
  query: Pick<AlertsQuery, "active" | "silenced" | "inhibited" | "filter">,
  mutedBy?: readonly string[],
): boolean {
  if (active.alert.state !== "firing") return false;
  if (!query.active && statusOf(active, mutedBy) === "active") return false;
  if (!query.silenced && active.silencedBy?.length) return false;
  if (!query.inhibited && active.inhibitedBy?.length) return false;
  return matchesAll(query.filter, active.alert.labels);
}

/** Receivers have no labels here, so a matcher of them applies to all or to none. */
export function isReceiverWanted(
  name: string,
  query: { readonly receiver?: Matcher | undefined; readonly receiver_matchers: readonly Matcher[] },
): boolean {
  return (query.receiver?.matches(name) ?? true) && matchesAll(query.receiver_matchers, {});
}
