/** Traits of the simulated service where its contract leaves room: the section `traits` of a scenario file. */
import { z } from "zod";
import { parseDuration } from "../lib/duration.ts";

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
const ROLES = ["customer", "staff", "interaction_1", "interaction_2", "interaction_3"];
const duration = z.string().transform(parseDuration).pipe(z.number("must be a duration such as 5m").min(0));
const count = z.int().min(1).max(1_000).default(1);

export const Traits = z.strictObject({
  /** `capitals`: as `TOKEN-EXPIRED`; `numbers`: the HTTP status that the word stands for. */
  error_codes: z.enum(["words", "capitals", "numbers"]).default("words"),
  /** `nested`: `{error: {code, message}}`; `flat`: `{error: code, message}`. */
  error_shape: z.enum(["nested", "flat"]).default("nested"),
  /** Time zone of the buckets of an uptime history. */
  uptime_index: z.enum(["local", "utc"]).default("local"),
  /** Time zone in which a metric segment's `index` writes its beginning. */
  segment_index: z.enum(["local", "utc"]).default("local"),
  /** Roles of visitors; most are of the first. The contract names `customer` and `staff`, and has three more. */
  roles: z.array(z.string().min(1)).min(1).max(10).default(ROLES),
  /** Locations take turns. */
  organisations: count,
  /** Zones that one recording covers. */
  zones_per_recording: count.pipe(z.int().max(8)),
  /** Recordings of a location that share a zone. */
  recordings_per_zone: count,
  /** Recordings that count people for `entries`: those at an entrance, or each at its first zone. */
  entries_at: z.enum(["entrances", "all"]).default("entrances"),
  camera_servers_per_location: count,
  locations_per_camera_server: count,
  /** Nobody comes, and recordings with an uploading schedule do not upload. */
  closed_days: z.array(z.union([z.enum(WEEKDAYS), z.iso.date()])).default([]),
  token_lifetime: duration.pipe(z.number().positive()).prefault("1h"),
  /** Counts come every so often, on a grid of the service's own; 0s: at once. */
  counts_refresh: duration.prefault("10m"),
  /** Then those of so long before are still missing. */
  counts_delay: duration.prefault("10m"),
  /** Share of an hour's counts that may be missing, or there twice, until the next 03:00 of the location. */
  counts_correction: z.number().min(0).max(0.5).default(0.03),
});
export type Traits = z.output<typeof Traits>;

/** True where a location is closed on a local day; `weekday` is 1 for Monday. */
export function isClosed(closedDays: readonly string[], { weekday, date }: { weekday: number; date: string }): boolean {
  return closedDays.length > 0 && (closedDays.includes(WEEKDAYS[weekday - 1] ?? "") || closedDays.includes(date));
}

const STATUSES: Readonly<Record<string, number>> = {
  ...{ unauthorized: 401, token_expired: 401, forbidden: 403, bad_request: 400, unknown_route: 400, not_found: 404 },
  ...{ rate_limited: 429, internal: 500, fault: 503 },
};

/** The body of an error as this service writes it. */
export function errorBody({ error_codes: as, error_shape }: Traits, word: string, message: string) {
  const capitals = word.toUpperCase().replaceAll("_", "-");
  const code = as === "numbers" ? (STATUSES[word] ?? 500) : as === "capitals" ? capitals : word;
  return error_shape === "flat" ? { error: code, message } : { error: { code, message } };
}
