/** The shops and cameras a seed gives. */
import type { Instant } from "../lib/clock.ts";
import { placeAt, viewAt } from "./names.ts";
import { fraction, hexId } from "./seed.ts";

export interface SimLocation {
  readonly id: string;
  readonly name: string;
  /** IANA time zone name. */
  readonly timezone: string;
  readonly organisation: string;
  readonly cameraServer: string;
  readonly recordings: readonly SimRecording[];
}

export interface SimRecording {
  readonly id: string;
  readonly location: SimLocation;
  readonly name: string;
  /** Taxonomy of the zone it covers. */
  readonly taxonomy: string;
  readonly useUploadingSchedule: boolean;
  readonly status: string;
  /** Fraction 0–1; null: the service has none. */
  readonly quality: number | null;
  /** When it was last heard of; only meaningful while offline. */
  readonly lastSeenAt: Instant;
  /** Changes of status since the simulator started, oldest first; before the first it was online. */
  readonly history: readonly { readonly at: Instant; readonly status: string }[];
}

export type Writable<T> = { -readonly [K in keyof T]: T[K] };
export type MutableLocation = Writable<Omit<SimLocation, "recordings">> & { recordings: MutableRecording[] };
export type MutableRecording = Writable<Omit<SimRecording, "history" | "location">> & {
  readonly location: MutableLocation;
  readonly history: { at: Instant; status: string }[];
};

/** Two decimals between 0.85 and 0.99, the quality a recording has unless somebody changes it. */
export function usualQuality(id: string): number {
  return Math.round((0.85 + 0.14 * fraction(keyOf(id), 7)) * 100) / 100;
}

/** A whole number that stands for an id where chance is drawn. */
export function keyOf(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16);
}

/** A location without recordings. `name` and `timezone` instead of the place at that index. */
export function makeLocation(
  seed: number,
  index: number,
  given: { name?: string | undefined; timezone?: string | undefined } = {},
): MutableLocation {
  const place = placeAt(index);
  return {
    id: hexId(seed, `location:${index}`),
    name: given.name ?? place.name,
    timezone: given.timezone ?? place.timezone,
    organisation: hexId(seed, "organisation"),
    cameraServer: hexId(seed, `server:${index}`),
    recordings: [],
  };
}

/** A recording, online, not yet in its location's list. `index` is the camera's place in the shop, from 0. */
export function makeRecording(
  seed: number,
  location: MutableLocation,
  index: number,
  given: { name?: string | undefined; useUploadingSchedule?: boolean } = {},
): MutableRecording {
  const id = hexId(seed, `recording:${location.id}:${index}`);
  const view = viewAt(index);
  return {
    id,
    location,
    name: given.name ?? `${location.name} ${view.name}`,
    taxonomy: view.taxonomy,
    useUploadingSchedule: given.useUploadingSchedule ?? false,
    status: "online",
    quality: usualQuality(id),
    lastSeenAt: 0,
    history: [],
  };
}

/** The whole fleet. The last recording of every fourth location (the fourth first) has an uploading schedule. */
export function makeFleet(seed: number, locations: number, recordingsPerLocation: number): MutableLocation[] {
  return Array.from({ length: locations }, (_, at) => {
    const location = makeLocation(seed, at);
    for (let i = 0; i < recordingsPerLocation; i++) {
      const scheduled = at % 4 === 3 && i === recordingsPerLocation - 1 && i > 0;
      location.recordings.push(makeRecording(seed, location, i, { useUploadingSchedule: scheduled }));
    }
    return location;
  });
}
