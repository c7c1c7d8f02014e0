/** Recording uptime results (contract: "Recording uptime result"), single and in bulk. */
import { z } from "zod";
import type { Recording, RecordingUptime, UptimeBucket } from "../health/recording.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { ReportDeviation } from "./reporter.ts";
import { fieldOf, Id, Name, ratioOf, undocumented } from "./rows.ts";
import type { WallClock, WallTime } from "./zoned-time.ts";

/** Top-level resources expose `id`, embedded ones `_id`; a reference may be either, or the id itself. */
const Embedded = z.object({ id: Id.optional(), _id: Id.optional() });
const Reference = z.union([Id, Embedded.transform(({ id, _id }) => id ?? _id)]);
const OptionalReference = Reference.nullish().catch(undefined);

const WireRecording = z.object({
  id: Id.nullish(),
  _id: Id.nullish(),
  name: Name.nullish().catch(undefined),
  organisation: OptionalReference,
  cameraServer: OptionalReference,
  location: Reference,
  useUploadingSchedule: z.boolean().nullish().catch(undefined),
  timezone: z.string().nullish().catch(undefined),
});
const Result = z.object({ recording: WireRecording, uptime: z.array(z.unknown()).nullish() });

/** A clock may be wrong by so much. */
const FUTURE_MS = 2 * 3_600_000;
/** Sums of them stay numbers. */
const Count = z.number().nonnegative().max(Number.MAX_SAFE_INTEGER);
/** An entry without these cannot be used. */
const Indexed = z.looseObject({ index: z.string(), withinSchedule: z.boolean().nullish() });

/** An entry of the contract; a figure that is undefined is no data. */
interface Entry extends Omit<UptimeBucket, "startAt" | "withinSchedule" | "pcSegmentsReceived"> {
  readonly index: string;
  readonly withinSchedule: boolean | undefined;
  readonly pcSegmentsRecieved: number | undefined;
}

/** The readers of both uptime endpoints. */
export function createUptimeParser(deps: {
  readonly report: ReportDeviation;
  readonly wall: WallClock;
  readonly indexTimezone: "recording" | "utc";
  readonly clock: Clock;
}) {
  const { report, wall, clock } = deps;
  let indexTimezone = deps.indexTimezone;

  /** Segments cannot have been received in the future: then the indexes are not in the time zone they are read in. */
  function isOfFuture(buckets: readonly UptimeBucket[]): boolean {
    const newest = buckets.findLast(({ segmentsReceived = 0 }) => segmentsReceived > 0);
    return newest !== undefined && newest.startAt > clock.now() + FUTURE_MS;
  }

  function read(row: unknown): RecordingUptime | undefined {
    const parsed = Result.safeParse(row);
    const recording = parsed.success ? toRecording(parsed.data.recording, wall, report) : undefined;
    if (!parsed.success || !recording) {
      report("bad_row", () => row);
      return undefined;
    }
    const zone = () => (indexTimezone === "utc" ? "UTC" : recording.timezone);
    const readBuckets = () => toBuckets(parsed.data.uptime ?? [], zone(), wall, report);
    const buckets = readBuckets();
    if (deps.indexTimezone === "utc" || !isOfFuture(buckets)) return { recording, buckets };
    report("utc_index", () => "uptime indexes seem to be in UTC: set service.uptime_index_timezone");
    indexTimezone = indexTimezone === "utc" ? "recording" : "utc";
    return { recording, buckets: readBuckets() };
  }

  return {
    /**
     * One result per requested recording (all, without `recids`): other recordings and second results are dropped.
     * Throws ServiceError `bad_payload` where the reply is no array.
     */
    many(payload: unknown, recids?: readonly string[]): { results: RecordingUptime[]; dropped: number } {
      if (!Array.isArray(payload)) throw undocumented("POST /v1/recording/uptimes", payload, report);
      const asked = recids && new Set(recids);
      const results = new Map<string, RecordingUptime>();
      for (const row of payload) {
        const result = read(row);
        if (!result) continue;
        const { id } = result.recording;
        if (results.has(id)) report("duplicate_row", () => row);
        else if (asked && !asked.has(id)) report("bad_row", () => row);
        else results.set(id, result);
      }
      return { results: [...results.values()], dropped: payload.length - results.size };
    },
    /** Throws ServiceError `bad_payload` where the reply is no result. */
    one(payload: unknown): RecordingUptime {
      const result = read(payload);
      if (!result) throw undocumented("GET /v1/recording/:id/uptime", payload, report);
      return result;
    },
  };
}

function toRecording(
  wire: z.infer<typeof WireRecording>,
  wall: WallClock,
  report: ReportDeviation,
): Recording | undefined {
  const id = wire.id ?? wire._id;
  if (!id || !wire.location) return undefined;
  return {
    id,
    name: wire.name || id,
    organisation: wire.organisation ?? "",
    cameraServer: wire.cameraServer ?? "",
    locationId: wire.location,
    useUploadingSchedule: wire.useUploadingSchedule ?? false,
    timezone: knownZone(wire.timezone, wall, report),
  };
}

function knownZone(name: string | null | undefined, wall: WallClock, report: ReportDeviation): string {
  if (name && wall.isZone(name)) return name;
  report("bad_timezone", () => name);
  return "UTC";
}

/**
 * Buckets in order of time. A second row of the hour that the clocks repeat is the second hour; any other second
 * row is dropped, and so is a row of the hour they skip where its instant is taken by a row that was on the wall.
 */
function toBuckets(rows: readonly unknown[], zone: string, wall: WallClock, report: ReportDeviation): UptimeBucket[] {
  const buckets = new Map<Instant, UptimeBucket>();
  const skipped: UptimeBucket[] = [];
  for (const row of rows) {
    const entry = isPlain(row) ? row : otherEntry(row, report);
    const time = entry && wall.read(entry.index, zone);
    const startAt = time && freeInstant(time, buckets);
    if (entry && !isProduct(entry)) report("bad_product", () => row);
    if (!entry || startAt === undefined) report("bad_bucket", () => row);
    else if (time?.skipped) skipped.push(toBucket(startAt, entry));
    else buckets.set(startAt, toBucket(startAt, entry));
  }
  for (const bucket of skipped) {
    if (!buckets.has(bucket.startAt)) buckets.set(bucket.startAt, bucket);
  }
  return [...buckets.values()].sort((a, b) => a.startAt - b.startAt);
}

/** Any other entry: a figure that cannot be read costs itself. */
function otherEntry(row: unknown, report: ReportDeviation): Entry | undefined {
  const { data } = Indexed.safeParse(row);
  if (!data) return undefined;
  return {
    index: data.index,
    withinSchedule: data.withinSchedule ?? undefined,
    segmentsExpected: fieldOf(data, "segmentsExpected", Count, report),
    segmentsReceived: fieldOf(data, "segmentsReceived", Count, report),
    avgUptimeOnSegment: ratioOf(data, "avgUptimeOnSegment", report),
    pcSegmentsRecieved: ratioOf(data, "pcSegmentsRecieved", report),
    overallUptime: ratioOf(data, "overallUptime", report),
  };
}

/** Figures may be rounded to two decimals. */
const PRODUCT_TOLERANCE = 0.01;

/** Whether the figures multiply as documented; they are kept as served in any case. */
function isProduct({ overallUptime, avgUptimeOnSegment, pcSegmentsRecieved }: Entry): boolean {
  if (overallUptime === undefined || avgUptimeOnSegment === undefined || pcSegmentsRecieved === undefined) return true;
  return Math.abs(overallUptime - avgUptimeOnSegment * pcSegmentsRecieved) <= PRODUCT_TOLERANCE;
}

/** An entry exactly as documented, checked by hand because ten million arrive at once. */
function isPlain(row: unknown): row is Entry {
  if (typeof row !== "object" || row === null) return false;
  const entry = row as Readonly<Record<keyof Entry, unknown>>;
  return (
    typeof entry.index === "string" &&
    typeof entry.withinSchedule === "boolean" &&
    isBetween(entry.segmentsExpected, 0, Number.MAX_SAFE_INTEGER) &&
    isBetween(entry.segmentsReceived, 0, Number.MAX_SAFE_INTEGER) &&
    isBetween(entry.avgUptimeOnSegment, 0, 1) &&
    isBetween(entry.pcSegmentsRecieved, 0, 1) &&
    isBetween(entry.overallUptime, 0, 1)
  );
}

function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && value >= least && value <= most;
}

function freeInstant(time: WallTime, taken: ReadonlyMap<Instant, unknown>): Instant | undefined {
  if (time.skipped || !taken.has(time.at)) return time.at;
  return time.again !== undefined && !taken.has(time.again) ? time.again : undefined;
}

function toBucket(startAt: Instant, entry: Entry): UptimeBucket {
  return {
    startAt,
    withinSchedule: entry.withinSchedule ?? true,
    segmentsExpected: entry.segmentsExpected,
    segmentsReceived: entry.segmentsReceived,
    avgUptimeOnSegment: entry.avgUptimeOnSegment,
    pcSegmentsReceived: entry.pcSegmentsRecieved,
    overallUptime: entry.overallUptime ?? (isNothing(entry) ? 0 : undefined),
  };
}

/** Whether no expected segment came: the mean of their own uptime does not exist, and the product is 0 all the same. */
function isNothing({ segmentsExpected = 0, segmentsReceived }: Entry): boolean {
  return segmentsExpected > 0 && segmentsReceived === 0;
}
