/**
 * `GET /api/v2/alerts` as Alertmanager answers it (its api/v2/openapi.yaml, `gettableAlert`). Go clients
 * dereference what the schema requires: nothing required is ever left out, no list is ever null.
 */
import { z } from "zod";
import { fingerprint } from "../../alerting/fingerprint.ts";
import { createMatcher, matchesAll, parseMatcher } from "../../alerting/matcher.ts";
import type { Labels } from "../../health/alert.ts";
import type { Instant } from "../../lib/clock.ts";
import type { ActiveAlert } from "../deps.ts";
import { flag, repeated } from "../query.ts";

/** Rows between two yields: a row costs a digest of its labels. */
const ROWS_PER_STEP = 32;

/** Alertmanager's default `resolve_timeout`: until then a client may take the alert for firing. */
const RESOLVE_TIMEOUT_MS = 5 * 60_000;

const matcherText = z.string().transform((text, context) => {
  try {
    return parseMatcher(text);
  } catch (thrown) {
    context.addIssue({ code: "custom", message: (thrown as Error).message });
    return z.NEVER;
  }
});

const anchoredPattern = z.string().transform((text, context) => {
  try {
    return createMatcher("receiver", "=~", text);
  } catch (thrown) {
    context.addIssue({ code: "custom", message: (thrown as Error).message });
    return z.NEVER;
  }
});

/** Unknown parameters are passed over, as Alertmanager does. `unprocessed` has nothing to leave out here. */
export const AlertsQuery = z.object({
  active: flag.default(true),
  silenced: flag.default(true),
  inhibited: flag.default(true),
  unprocessed: flag.default(true),
  filter: repeated(matcherText),
  receiver: anchoredPattern.optional(),
});
export type AlertsQuery = z.infer<typeof AlertsQuery>;

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
    readonly state: "active" | "suppressed";
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
    if (wanted(active, query)) rows.push(gettable(active, context));
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  return rows.sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
}

function wanted(active: ActiveAlert, query: AlertsQuery): boolean {
  if (active.alert.state !== "firing") return false;
  if (!query.active && stateOf(active) === "active") return false;
  if (!query.silenced && active.silencedBy?.length) return false;
  if (!query.inhibited && active.inhibitedBy?.length) return false;
  const { receiver } = query;
  if (receiver && !active.receivers.some((name) => receiver.matches(name))) return false;
  return matchesAll(query.filter, active.alert.labels);
}

function stateOf({
  silencedBy,
  inhibitedBy,
  mutedBy,
  acknowledgement,
}: ActiveAlert): "active" | "suppressed" {
  const held = silencedBy?.length || inhibitedBy?.length || mutedBy?.length || acknowledgement;
  return held ? "suppressed" : "active";
}

function gettable(active: ActiveAlert, { now, externalUrl }: AlertsContext): GettableAlert {
  const { alert, receivers, silencedBy = [], inhibitedBy = [], mutedBy = [], acknowledgement } = active;
  const acknowledged = acknowledgement && {
    acknowledgement: { ...acknowledgement, at: new Date(acknowledgement.at).toISOString() },
  };
  return {
    labels: alert.labels,
    annotations: alert.annotations,
    receivers: receivers.map((name) => ({ name })),
    fingerprint: fingerprint(alert.labels),
    startsAt: new Date(alert.startsAt).toISOString(),
    updatedAt: new Date(alert.updatedAt).toISOString(),
    endsAt: new Date(now + RESOLVE_TIMEOUT_MS).toISOString(),
    ...(externalUrl === undefined ? {} : { generatorURL: externalUrl }),
    status: { state: stateOf(active), silencedBy, inhibitedBy, mutedBy, ...acknowledged },
  };
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
