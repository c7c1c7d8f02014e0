/** Recording uptime results (contract: "Recording uptime result"), single and in bulk. */
import { z } from "zod";
import type { Recording, ReportedRecording, ReportedUptime, UptimeBucket } from "../health/recording.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { createIndexZone } from "./index-zone.ts";
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
  location: OptionalReference,
  useUploadingSchedule: z.boolean().nullish().catch(undefined),
  timezone: z.string().nullish().catch(undefined),
});
const Result = z.object({ recording: WireRecording, uptime: z.array(z.unknown()).nullish() });

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

/** Knowledge of a recording beside the answer: it is read by that. */
export type KnownRecording = (id: string) => Partial<Pick<Recording, "timezone" | "useUploadingSchedule">> | undefined;

/** A row whose buckets are not read yet. */
interface Row {
  readonly recording: ReportedRecording;
  readonly entries: readonly unknown[];
  readonly timezone: string;
  readonly hasSchedule: boolean;
  /** The newest index of segments that were received. */
  readonly newest: string | undefined;
}

/** The readers of both uptime endpoints. */
export function createUptimeParser(deps: {
  readonly report: ReportDeviation;
  readonly wall: WallClock;
  readonly indexTimezone: "recording" | "utc";
  readonly clock: Clock;
}) {
  const { report, wall } = deps;
  const indexZone = createIndexZone({ ...deps, configured: deps.indexTimezone });

  function readRow(row: unknown, knownOf: KnownRecording): Row | undefined {
    const parsed = Result.safeParse(row);
    const recording = parsed.success ? toRecording(parsed.data.recording, wall, report) : undefined;
    if (!parsed.success || !recording) {
      report("bad_row", () => row);
      return undefined;
    }
    const known = knownOf(recording.id);
    const entries = parsed.data.uptime ?? [];
    return {
      recording,
      entries,
      timezone: known?.timezone ?? recording.timezone ?? "UTC",
      hasSchedule: known?.useUploadingSchedule ?? recording.useUploadingSchedule ?? false,
      newest: newestReceived(entries),
    };
  }

  function toResult({ recording, entries, timezone, hasSchedule, newest }: Row): ReportedUptime {
    const zone = indexZone.zoneOf(timezone, newest);
    return { recording, buckets: zone === undefined ? [] : toBuckets(entries, { zone, hasSchedule, wall, report }) };
  }

  return {
    /**
     * One result per requested recording (all, without `recids`): other recordings and second results are dropped.
     * Throws ServiceError `bad_payload` where the reply is no array.
     */
    many(
      payload: unknown,
      recids?: readonly string[],
      knownOf: KnownRecording = () => undefined,
    ): { results: ReportedUptime[]; dropped: number } {
      if (!Array.isArray(payload)) throw undocumented("POST /v1/recording/uptimes", payload, report);
      const asked = recids && new Set(recids);
      const rows = new Map<string, Row>();
      for (const one of payload) {
        const row = readRow(one, knownOf);
        if (!row) continue;
        const { id } = row.recording;
        if (rows.has(id)) report("duplicate_row", () => one);
        else if (asked && !asked.has(id)) report("bad_row", () => one);
        else rows.set(id, row);
      }
      const read = [...rows.values()];
      indexZone.weigh(
        read.flatMap(({ newest, timezone }) => (newest === undefined ? [] : [{ index: newest, timezone }])),
      );
      return { results: read.map(toResult), dropped: payload.length - rows.size };
    },
    /** Throws ServiceError `bad_payload` where the reply is no result. */
    one(payload: unknown, knownOf: KnownRecording = () => undefined): ReportedUptime {
      const row = readRow(payload, knownOf);
      if (!row) throw undocumented("GET /v1/recording/:id/uptime", payload, report);
      return toResult(row);
    },
  };
}

/** The newest index of an entry with segments: as text, since all are of one shape. */
function newestReceived(entries: readonly unknown[]): string | undefined {
  let newest: string | undefined;
  for (const entry of entries) {
    const { index, segmentsReceived } = (entry ?? {}) as Partial<Record<keyof Entry, unknown>>;
    if (typeof index !== "string" || typeof segmentsReceived !== "number" || segmentsReceived <= 0) continue;
    if (newest === undefined || index > newest) newest = index;
  }
  return newest;
}

function toRecording(
  wire: z.infer<typeof WireRecording>,
  wall: WallClock,
  report: ReportDeviation,
): ReportedRecording | undefined {
  const id = wire.id ?? wire._id;
  if (!id) return undefined;
  return {
    id,
    name: wire.name || undefined,
    organisation: wire.organisation ?? undefined,
    cameraServer: wire.cameraServer ?? undefined,
    locationId: wire.location ?? undefined,
    useUploadingSchedule: wire.useUploadingSchedule ?? undefined,
    timezone: knownZone(wire.timezone, wall, report),
  };
}

function knownZone(name: string | null | undefined, wall: WallClock, report: ReportDeviation): string | undefined {
  if (name && wall.isZone(name)) return name;
  report("bad_timezone", () => name);
  return undefined;
}

/**
 * Buckets in order of time. A second row of the hour that the clocks repeat is the second hour; any other second
 * row is dropped, and so is a row of the hour they skip where its instant is taken by a row that was on the wall.
 */
function toBuckets(
  rows: readonly unknown[],
  { zone, hasSchedule, wall, report }: { zone: string; hasSchedule: boolean; wall: WallClock; report: ReportDeviation },
): UptimeBucket[] {
  const buckets = new Map<Instant, UptimeBucket>();
  const skipped: UptimeBucket[] = [];
  for (const row of rows) {
    const entry = isPlain(row) ? row : otherEntry(row, report);
    const time = entry && wall.read(entry.index, zone);
    const startAt = time && freeInstant(time, buckets);
    if (entry && !isProduct(entry)) report("bad_product", () => row);
    // An open schedule cannot be guessed: without that, the bucket stays what it was before.
    const isOpen = entry && (entry.withinSchedule ?? (hasSchedule ? undefined : true));
    if (!entry || startAt === undefined || isOpen === undefined) report("bad_bucket", () => row);
    else if (time?.skipped) skipped.push(toBucket(startAt, isOpen, entry));
    else buckets.set(startAt, toBucket(startAt, isOpen, entry));
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

/** The figures multiply as documented; they are kept as served in any case. */
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

function toBucket(startAt: Instant, withinSchedule: boolean, entry: Entry): UptimeBucket {
  return {
    startAt,
    withinSchedule,
    segmentsExpected: entry.segmentsExpected,
    segmentsReceived: entry.segmentsReceived,
    avgUptimeOnSegment: entry.avgUptimeOnSegment,
    pcSegmentsReceived: entry.pcSegmentsRecieved,
    overallUptime: entry.overallUptime ?? (isNothing(entry) ? 0 : undefined),
  };
}

/** No expected segment came: the mean of their own uptime does not exist, and the product is 0 all the same. */
function isNothing({ segmentsExpected = 0, segmentsReceived }: Entry): boolean {
  return segmentsExpected > 0 && segmentsReceived === 0;
}
