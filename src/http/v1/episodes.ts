/** `GET /api/v1/episodes`: episodes of alerts, newest first. */
import { z } from "zod";
import { endReasons, subjectKinds } from "../../health/alert.ts";
import type { Inventory } from "../../health/shard-state.ts";
import type { Instant } from "../../lib/clock.ts";
import type { StoredEpisode } from "../../store/episodes.ts";
import { type Listing, listingOf, type PageQuery, pageParameters } from "../paging.ts";
import { instant, isoTime } from "../query.ts";
import { operation, pageSchema, timeSchema } from "./operation.ts";

const DEFAULT_PERIOD_MS = 7 * 86_400_000;

const oneId = z.string({ error: "expected one id" }).optional();

const EpisodesQuery = z.strictObject({
  ...pageParameters,
  since: instant.optional(),
  recording: oneId,
  location: oneId,
  alertname: z.string({ error: "expected one name" }).optional(),
});

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
    uncounted: z
      .strictObject({ estimate: z.number().min(0), low: z.number().min(0), high: z.number().min(0) })
      .readonly()
      .nullable()
      .describe(
        "Visits of its location not counted meanwhile, an estimate with its 10th and 90th percentile, so far while it lasts; null for none, and where nothing is known.",
      ),
    durationSeconds: z.number().min(0).describe("Until now while it lasts."),
  })
  .readonly();
export type ApiEpisode = z.infer<typeof ApiEpisode>;

export const listEpisodes = operation({
  id: "listEpisodes",
  method: "get",
  path: "/api/v1/episodes",
  summary: "Episodes, newest first; of the last 7 days without `since`.",
  query: EpisodesQuery,
  answer: pageSchema(ApiEpisode, {}),
  async handle(deps, { query }) {
    const now = deps.clock.now();
    const since = query.since ?? now - DEFAULT_PERIOD_MS;
    const [episodes, { inventory }] = await Promise.all([deps.episodes(since), deps.overview()]);
    const { items, nextCursor } = episodeListing(episodes, query, inventory, now);
    return { items, nextCursor };
  },
});

interface EpisodesWanted extends PageQuery {
  readonly recording?: string | undefined;
  readonly location?: string | undefined;
  readonly alertname?: string | undefined;
  /** Further conditions. */
  matches?(episode: StoredEpisode): boolean;
  /** `newest` by default: the latest start first. */
  readonly sort?: "newest" | "longest";
}

/** One page, each episode once. */
export function episodeListing(
  episodes: readonly StoredEpisode[],
  wanted: EpisodesWanted,
  inventory: Inventory,
  now: Instant,
): Listing<ApiEpisode> {
  const offered = new Set<string>();
  const listing = listingOf(episodes, wanted, (episode) => {
    const { id, startsAt, endsAt = now } = episode;
    if (!isWanted(episode, wanted) || offered.has(id)) return undefined;
    offered.add(id);
    const most = wanted.sort === "longest" ? Math.max(0, Math.round(endsAt - startsAt)) : startsAt;
    // A key that goes up as the start goes back.
    return `${String(Number.MAX_SAFE_INTEGER - most).padStart(16, "0")} ${id}`;
  });
  return { ...listing, items: listing.items.map((episode) => rowOf(episode, inventory, now)) };
}

function isWanted(episode: StoredEpisode, { recording, location, alertname, matches }: EpisodesWanted): boolean {
  const { subject, locationId } = episode;
  if (recording !== undefined && (subject.kind !== "recording" || subject.id !== recording)) return false;
  if (location !== undefined && locationId !== location) return false;
  return (alertname === undefined || episode.alertname === alertname) && (matches?.(episode) ?? true);
}

function rowOf(episode: StoredEpisode, inventory: Inventory, now: Instant): ApiEpisode {
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
