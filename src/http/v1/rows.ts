/** What rows of several lists have in common. */
import { z } from "zod";
import type { AlertStates } from "../../health/shard-state.ts";
import type { Instant } from "../../lib/clock.ts";

/** An instant as answers have it: ISO 8601 in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 });

/** A share, 0–1. */
export const share = z.number().min(0).max(1);

export const AlertRow = z
  .strictObject({
    alertname: z.string(),
    severity: z.string().nullable(),
    state: z.enum(["pending", "firing"]),
    since: time,
  })
  .readonly();
export type AlertRow = z.infer<typeof AlertRow>;

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
