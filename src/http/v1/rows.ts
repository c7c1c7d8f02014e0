/** What rows of several lists have in common. */
import type { AlertStates } from "../../health/state.ts";
import type { Instant } from "../../lib/clock.ts";

export interface AlertRow {
  readonly alertname: string;
  readonly severity: string | null;
  readonly state: "pending" | "firing";
  readonly since: string;
}

/** Pending and firing alerts of one recording or location, those that fire first. */
export function alertRows(alerts: AlertStates | undefined): AlertRow[] {
  const rows = Object.values(alerts ?? {}).map(({ labels, state, startsAt }) => ({
    alertname: labels.alertname ?? "",
    severity: labels.severity ?? null,
    state,
    since: new Date(startsAt).toISOString(),
  }));
  return rows.sort((a, b) => a.state.localeCompare(b.state) || a.alertname.localeCompare(b.alertname));
}

/** ISO 8601 UTC with milliseconds; null for what is not known. */
export function iso(at: Instant | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
