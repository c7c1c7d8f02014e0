/** The world of a model run: a fleet as plain data, so that a second run can begin with a copy of it. */
import type { Instant } from "../../src/lib/clock.ts";
import type { Random } from "../chaos/random.ts";

export type CameraStatus = "online" | "offline" | "degraded" | "unknown";

export interface Camera {
  readonly id: string;
  locationId: string;
  /** Its camera server, of one location or several. */
  server: string;
  status: CameraStatus;
  /** 0–1; undefined: the service sends none. */
  quality: number | undefined;
  lastSeenAt: Instant;
  /** False: left out of complete answers, though the service knows it. */
  listed: boolean;
  /** Its row cannot be read. */
  broken: boolean;
  /** Its outage ends by itself. */
  returns: boolean;
  /** Changes between online and offline this often, ms. */
  flapsMs: number | undefined;
  /** Listed a second time, at this location. */
  twinAt: string | undefined;
  /** Of uploading. */
  readonly hours: Hours | undefined;
  /** Its uptime ratio from each instant on, oldest first; undefined: no data. */
  readonly uptimes: { readonly from: Instant; readonly ratio: number | undefined }[];
}

export interface Place {
  readonly id: string;
  readonly timezone: string;
  listed: boolean;
}

/** Local hours, the end exclusive; over midnight where the end is smaller. */
type Hours = readonly [from: number, to: number];

/** How the service answers. */
export interface Faults {
  /** Of status: for these locations, or all. */
  status: { readonly kind: "fails" | "partial" | "empty"; readonly locations: readonly string[] | "all" } | undefined;
  list: "fails" | "empty" | undefined;
  uptimes: "fails" | undefined;
  /** The longest answer, ms; each takes from none of it to all. */
  slowMs: number;
  /** Every answer takes the longest. */
  slowly: boolean;
}

export interface World {
  readonly cameras: Camera[];
  readonly places: Place[];
  readonly faults: Faults;
  /** Endpoints that accept nothing. */
  readonly down: Set<string>;
}

const ZONES = ["UTC", "Europe/London", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"] as const;
export const SERVERS = ["edge-1", "edge-2", "edge-3"] as const;
const HOURS: readonly [Hours, ...Hours[]] = [
  [8, 20],
  [22, 6],
  [0, 12],
];
/** Any figure is far from every threshold: no alert depends on which of two it is compared with. */
export const GOOD = 0.99;
export const BAD = 0.12;
export const QUALITIES = [0.95, 0.45, 0.12] as const;
export const DAY = 86_400_000;

export function makeWorld(random: Random, start: Instant, options: { readonly scheduled: boolean }): World {
  const places = Array.from({ length: random.between(2, 6) }, (_, i): Place => {
    return { id: `site-${i}`, timezone: random.pick(ZONES), listed: true };
  });
  const cameras = places.flatMap(({ id }) =>
    Array.from({ length: random.between(1, 4) }, (_, i): Camera => {
      const hours = options.scheduled && random.chance(0.4) ? random.pick(HOURS) : undefined;
      const uptimes: Camera["uptimes"] = [{ from: start - 60 * DAY, ratio: GOOD }];
      if (random.chance(0.3)) {
        const from = start - random.between(2, 6) * DAY;
        uptimes.push({ from, ratio: BAD }, { from: from + random.between(1, 30) * (DAY / 8), ratio: GOOD });
      }
      return {
        id: `${id}-cam-${i}`,
        locationId: id,
        server: random.pick(SERVERS),
        status: "online",
        quality: QUALITIES[0],
        lastSeenAt: start,
        listed: true,
        broken: false,
        returns: false,
        flapsMs: undefined,
        twinAt: undefined,
        hours,
        uptimes,
      };
    }),
  );
  const faults: Faults = { status: undefined, list: undefined, uptimes: undefined, slowMs: 20_000, slowly: false };
  return { places, cameras, faults, down: new Set() };
}

export function copyWorld(world: World): World {
  return structuredClone(world);
}

/** The status at an instant. */
export function statusAt({ status, flapsMs }: Camera, at: Instant): CameraStatus {
  if (flapsMs === undefined) return status;
  return Math.floor(at / flapsMs) % 2 === 0 ? "online" : "offline";
}

/** No fault of the service, no flapping, no status that says nothing: what is left is steady. */
export function standStill(world: World, { slowly }: { readonly slowly: boolean }, now: Instant): void {
  const { faults, cameras } = world;
  for (const camera of cameras) {
    camera.status = statusAt(camera, now);
    if (camera.status === "unknown") camera.status = "online";
    camera.returns = false;
    camera.flapsMs = undefined;
    camera.broken = false;
    camera.twinAt = undefined;
  }
  Object.assign(faults, { status: undefined, list: undefined, uptimes: undefined, slowly });
  if (!slowly) faults.slowMs = Math.min(faults.slowMs, 20_000);
  world.down.clear();
}
