/** Alerts that fire, by the labels that matter to a test. */

import type { Alert, Labels } from "../../src/health/alert.ts";
import { anAlert } from "../support/fixtures.ts";

export const NOW = Date.UTC(2026, 2, 2, 8);

/** `labels` with an `alertname`; the subject is its recording, else its location, else the service. */
export function alertWith(labels: Labels, startsAt = NOW): Alert {
  return anAlert({ labels, startsAt });
}
