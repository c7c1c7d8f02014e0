/** How often a configuration has things read: the age of evidence is measured by it. */
import type { Config } from "../config/config.ts";
import type { EvidenceMoment } from "../health/evidence.ts";
import { countsConditions } from "../poll/counts-assess.ts";

export function intervalsOf({ watch, service, counts, rules }: Config): Omit<EvidenceMoment, "now" | "startedAt"> {
  const areCountsNeeded = counts.read && countsConditions(rules).length > 0;
  return {
    intervalMs: watch.statusIntervalMs,
    requestTimeoutMs: service.requestTimeoutMs,
    uptimeIntervalMs: watch.uptimeIntervalMs,
    inventoryIntervalMs: watch.inventoryIntervalMs,
    countsIntervalMs: areCountsNeeded ? counts.intervalMs : undefined,
  };
}
