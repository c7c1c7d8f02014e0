/** `GET /api/v1/incidents`: what was wrong, newest first. */
import { z } from "zod";
import { endReasons, subjectKinds } from "../../health/alert.ts";
import { ROWS_PER_STEP } from "../../health/fleet-snapshot.ts";
import type { Inventory } from "../../health/shard-state.ts";
import type { Instant } from "../../lib/clock.ts";
import type { Incident } from "../deps.ts";
import { type Page, PageCollector, pageParameters } from "../paging.ts";
import { instant } from "../query.ts";
import { iso, time } from "./rows.ts";

const DEFAULT_PERIOD_MS = 7 * 86_400_000;

/** `recording` and `location` are ids; without `since`, the last 7 days. */
export const IncidentsQuery = z.strictObject({
  ...pageParameters,
  since: instant.optional(),
  recording: z.string({ error: "expected one id" }).optional(),
  location: z.string({ error: "expected one id" }).optional(),
  alertname: z.string({ error: "expected one name" }).optional(),
});
export type IncidentsQuery = z.infer<typeof IncidentsQuery>;

export const IncidentRow = z
  .strictObject({
    id: z.string(),
    alertname: z.string(),
    subject: z.strictObject({ kind: z.enum(subjectKinds), id: z.string() }).readonly(),
    recording: z.string().nullable(),
    locationId: z.string().nullable(),
    location: z.string().nullable(),
    startsAt: time,
    endsAt: time.nullable().describe("Null while it lasts."),
    endReason: z.enum(endReasons).nullable(),
    durationSeconds: z.number().min(0).describe("Up to now while it lasts."),
  })
  .readonly();
export type IncidentRow = z.infer<typeof IncidentRow>;

/** From when on incidents are asked for. */
export function sinceOf(query: IncidentsQuery, now: Instant): Instant {
  return query.since ?? now - DEFAULT_PERIOD_MS;
}

/** One page, the latest start first; yields every so many rows. */
export function* incidentsPage(
  incidents: readonly Incident[],
  query: IncidentsQuery,
  inventory: Inventory,
  now: Instant,
): Generator<void, Page<IncidentRow>> {
  const collector = new PageCollector<Incident>(query);
  const offered = new Set<string>();
  let seen = 0;
  for (const incident of incidents) {
    if (matches(incident, query) && !offered.has(incident.id)) {
      offered.add(incident.id);
      collector.offer(newestFirst(incident), incident);
    }
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  const { items, nextCursor } = collector.page();
  return { items: items.map((incident) => rowOf(incident, inventory, now)), nextCursor };
}

function matches(incident: Incident, query: IncidentsQuery): boolean {
  const { subject } = incident;
  if (query.recording !== undefined && (subject.kind !== "recording" || subject.id !== query.recording)) {
    return false;
  }
  if (query.location !== undefined && incident.locationId !== query.location) return false;
  return query.alertname === undefined || incident.alertname === query.alertname;
}

/** A key that goes up as the start goes back. */
function newestFirst({ startsAt, id }: Incident): string {
  return `${String(Number.MAX_SAFE_INTEGER - startsAt).padStart(16, "0")} ${id}`;
}

function rowOf(incident: Incident, inventory: Inventory, now: Instant): IncidentRow {
  const { id, alertname, subject, locationId, startsAt, endsAt, endReason } = incident;
  return {
    id,
    alertname,
    subject: { kind: subject.kind, id: subject.id },
    recording: subject.kind === "recording" ? inventory.recording(subject.id)?.name || subject.id : null,
    locationId: locationId ?? null,
    location: locationId === undefined ? null : inventory.location(locationId)?.name || locationId,
    startsAt: new Date(startsAt).toISOString(),
    endsAt: iso(endsAt),
    endReason: endReason ?? null,
    durationSeconds: Math.max(0, ((endsAt ?? now) - startsAt) / 1000),
  };
}
