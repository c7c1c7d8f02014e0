/** The analytics service as a world has it. What no part of the model asks for is refused. */
import { DateTime } from "luxon";
import type { Reading, Recording, RecordingUptime, StatusSnapshot, UptimeBucket } from "../../src/health/recording.ts";
import type { Instant } from "../../src/lib/clock.ts";
import { createLocalHours } from "../../src/lib/local-hours.ts";
import { type Service, ServiceError } from "../../src/service/service.ts";
import type { Random } from "../chaos/random.ts";
import type { VirtualTime } from "./virtual-time.ts";
import { type Camera, statusAt, type World } from "./world.ts";

const HOUR = 3_600_000;
const localHours = createLocalHours();

const refuse = () => Promise.reject(new ServiceError("unavailable", "The model has no such answer."));

/** A service that answers nothing. */
export const noService: Service = {
  checkStatus: refuse,
  locations: refuse,
  recordingUptime: refuse,
  uptimes: refuse,
  statusUptime: refuse,
  entries: refuse,
  areaData: refuse,
  averageDwellTime: refuse,
  conversionRate: refuse,
  areaContexts: refuse,
  close: async () => {},
};

interface WorldServiceDeps {
  readonly world: World;
  readonly time: VirtualTime;
  readonly random: Random;
  /** Called with every good answer of status, when it is given. */
  answered(snapshot: StatusSnapshot, locations: readonly string[]): void;
}

export function createWorldService({ world, time, random, answered }: WorldServiceDeps): Service {
  const { faults } = world;

  /** Resolves once the answer is there. */
  async function wait(): Promise<void> {
    const ms = faults.slowly ? faults.slowMs : random.between(0, faults.slowMs);
    await new Promise<void>((resolve) => time.after(ms, resolve));
  }

  async function answer<T>(fails: boolean, value: T): Promise<T> {
    await wait();
    if (fails) throw new ServiceError("unavailable", "The service answered with 503.");
    return value;
  }

  return {
    ...noService,
    checkStatus: async () => {},

    async statusUptime({ entities }) {
      const { status } = faults;
      const concerned = status && (status.locations === "all" || entities.some((id) => status.locations.includes(id)));
      const kind = concerned ? status.kind : undefined;
      const snapshot = await answer(kind === "fails", snapshotOf(world, entities, kind, time.now()));
      answered(snapshot, entities);
      return snapshot;
    },

    locations: () =>
      answer(faults.list === "fails", {
        dropped: 0,
        locations:
          faults.list === "empty"
            ? []
            : world.places.flatMap(({ id, timezone, listed }) =>
                listed ? [{ id, name: `Site ${id}`, timezone }] : [],
              ),
      }),

    uptimes: ({ start, end, recids }) =>
      answer(faults.uptimes === "fails", {
        dropped: 0,
        results: world.cameras
          .filter(({ id }) => !recids || recids.includes(id))
          .map((camera) => uptimeOf(world, camera, { start, end }, time.now())),
      }),
  };
}

/** Complete, but for `partial`, where the row of every other recording does not say whose it is. */
function snapshotOf(
  { cameras }: World,
  entities: readonly string[],
  kind: "fails" | "partial" | "empty" | undefined,
  at: Instant,
): StatusSnapshot {
  if (kind === "empty") return { readings: [], unreadable: [], unidentified: 0 };
  const listed = cameras.filter(({ listed }) => listed);
  const shown = kind === "partial" ? listed.filter((_, i) => i % 2 === 0) : listed;
  const [broken, whole] = [shown.filter((one) => one.broken), shown.filter((one) => !one.broken)];
  const isAsked = (locationId: string | undefined) => locationId !== undefined && entities.includes(locationId);
  const rows = whole.flatMap((camera) => [
    ...(isAsked(camera.locationId) ? [readingOf(camera, camera.locationId, at)] : []),
    ...(isAsked(camera.twinAt) ? [readingOf(camera, camera.twinAt, at)] : []),
  ]);
  const unreadable = broken.filter(({ locationId }) => isAsked(locationId)).map(({ id }) => id);
  return { readings: rows, unreadable, unidentified: listed.length - shown.length };
}

function readingOf(camera: Camera, locationId: string | undefined, at: Instant): Reading {
  const status = statusAt(camera, at);
  const lastSeenAt = status === "offline" ? camera.lastSeenAt : at;
  return { recordingId: camera.id, locationId, status, lastSeenAt, averageQuality: camera.quality };
}

function recordingOf({ places }: World, { id, locationId, server, hours }: Camera): Recording {
  return {
    id,
    name: `Camera ${id}`,
    organisation: "org",
    cameraServer: server,
    locationId,
    useUploadingSchedule: hours !== undefined,
    timezone: places.find((place) => place.id === locationId)?.timezone ?? "UTC",
  };
}

function uptimeOf(
  world: World,
  camera: Camera,
  { start, end }: { readonly start: string; readonly end: string },
  now: Instant,
): RecordingUptime {
  const recording = recordingOf(world, camera);
  const zone = recording.timezone;
  const to = Math.min(now, DateTime.fromISO(end, { zone }).plus({ days: 1 }).toMillis());
  const buckets: UptimeBucket[] = [];
  for (let at = DateTime.fromISO(start, { zone }).toMillis(); at < to; at += HOUR)
    buckets.push(bucketAt(camera, at, zone));
  return { recording, buckets };
}

/** Ratio 0–1 from `uptimes`, undefined where the service has no data. */
export function bucketAt(camera: Camera, startAt: Instant, zone: string): UptimeBucket {
  const ratio = camera.uptimes.findLast(({ from }) => from <= startAt)?.ratio;
  return {
    startAt,
    withinSchedule: isWithinHours(camera, startAt, zone),
    segmentsExpected: 60,
    segmentsReceived: undefined,
    avgUptimeOnSegment: ratio,
    pcSegmentsReceived: ratio === undefined ? undefined : 1,
    overallUptime: ratio,
  };
}

function isWithinHours({ hours }: Camera, at: Instant, zone: string): boolean {
  if (!hours) return true;
  const [from, to] = hours;
  const hour = localHours.at(at, zone).slot % 24;
  return from < to ? hour >= from && hour < to : hour >= from || hour < to;
}
