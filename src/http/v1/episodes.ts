/** Episodes of alerts, as incidents of the API have them and pages list them. */
import { z } from "zod";
import { endReasons, subjectKinds } from "../../health/alert.ts";
import type { Inventory } from "../../health/shard-state.ts";
import type { Instant } from "../../lib/clock.ts";
import type { StoredEpisode } from "../../store/episodes.ts";
import { type Listing, listingOf, type PageQuery } from "../paging.ts";
import { isoTime } from "../query.ts";
import { timeSchema } from "./operation.ts";

/** Visits that were not counted, not rounded. */
export const ApiVisits = z
  .strictObject({ estimate: z.number().min(0), low: z.number().min(0), high: z.number().min(0) })
  .readonly()
  .nullable()
  .describe(
    "Visits of its location not counted meanwhile, an estimate with its 10th and 90th percentile, so far while it lasts; null for none, and where nothing is known.",
  );

export const ApiEpisode = z
  .strictObject({
    id: z.string(),
    alertname: z.string(),
    fingerprint: z.string().nullable().describe("Of the alert; null for one that an older version stored."),
    subject: z.strictObject({ kind: z.enum(subjectKinds), id: z.string() }).readonly(),
    recording: z.string().nullable(),
    locationId: z.string().nullable(),
    location: z.string().nullable(),
    startsAt: timeSchema,
    endsAt: timeSchema.nullable().describe("Null while it lasts."),
    endReason: z.enum(endReasons).nullable(),
    planned: z.string().nullable().describe("The `maintenance` in which it began or ended."),
    uncounted: ApiVisits,
    durationSeconds: z.number().min(0).describe("Until now while it lasts."),
  })
  .readonly();
export type ApiEpisode = z.infer<typeof ApiEpisode>;

interface EpisodesWanted extends PageQuery {
  readonly recording?: string | undefined;
  readonly location?: string | undefined;
}

/** One page, each episode once, the latest start first. */
export function episodeListing(
  episodes: readonly StoredEpisode[],
  wanted: EpisodesWanted,
  inventory: Inventory,
  now: Instant,
): Listing<ApiEpisode> {
  const offered = new Set<string>();
  const listing = listingOf(episodes, wanted, (episode) => {
    const { id, startsAt } = episode;
    if (!isWanted(episode, wanted) || offered.has(id)) return undefined;
    offered.add(id);
    return `${String(Number.MAX_SAFE_INTEGER - startsAt).padStart(16, "0")} ${id}`;
  });
  return { ...listing, items: listing.items.map((episode) => episodeRow(episode, inventory, now)) };
}

function isWanted({ subject, locationId }: StoredEpisode, { recording, location }: EpisodesWanted): boolean {
  if (recording !== undefined && (subject.kind !== "recording" || subject.id !== recording)) return false;
  return location === undefined || locationId === location;
}

/** An episode as the API has it. */
export function episodeRow(episode: StoredEpisode, inventory: Inventory, now: Instant): ApiEpisode {
  const { id, alertname, fingerprint = null, subject, locationId, startsAt, endsAt } = episode;
  const { endReason = null, planned = null, uncounted = null } = episode;
  return {
    ...{ id, alertname, fingerprint },
    subject: { kind: subject.kind, id: subject.id },
    recording: subject.kind === "recording" ? inventory.recording(subject.id)?.name || subject.id : null,
    locationId: locationId ?? null,
    location: locationId === undefined ? null : inventory.location(locationId)?.name || locationId,
    startsAt: isoTime(startsAt),
    endsAt: isoTime(endsAt),
    ...{ endReason, planned, uncounted },
    durationSeconds: Math.max(0, ((endsAt ?? now) - startsAt) / 1000),
  };
}
