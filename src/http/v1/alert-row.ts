/** Alerts of one recording or location in rows of the API. */
import { z } from "zod";
import type { AlertStates } from "../../health/shard-state.ts";
import { isoTime } from "../query.ts";
import { timeSchema } from "./operation.ts";

export const AlertRow = z
  .strictObject({
    alertname: z.string(),
    severity: z.string().nullable(),
    state: z.enum(["pending", "firing"]),
    since: timeSchema,
  })
  .readonly();

/** Firing alerts first, then pending ones. */
export function alertRows(alerts: AlertStates | undefined): z.infer<typeof AlertRow>[] {
  const rows = Object.values(alerts ?? {}).map(({ labels, state, startsAt }) => ({
    alertname: labels.alertname ?? "",
    severity: labels.severity ?? null,
    state,
    since: isoTime(startsAt),
  }));
  return rows.sort((a, b) => a.state.localeCompare(b.state) || a.alertname.localeCompare(b.alertname));
}
