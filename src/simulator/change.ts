/** Changes of the world as a scenario file and the control interface write them, and the ids, names or positions they name. */

import { closest } from "fastest-levenshtein";
import { z } from "zod";
import type { Instant } from "../lib/clock.ts";
import { issuesText, SimulatorError } from "./errors.ts";
import type { SimLocation, SimRecording } from "./fleet.ts";
import { isTimezone } from "./local-time.ts";
import type { World } from "./world.ts";

const name = z.string({ error: "must be an id, a name or a place such as L3 (quote it where it holds a #)" }).min(1);
const what = { location: name.optional(), recording: name.optional() };

/** The shape of each change; the key that names it says what it does. */
export const changeShapes = {
  status: z.strictObject({ ...what, status: z.string().min(1).max(100) }),
  quality: z.strictObject({ ...what, quality: z.number().min(0).max(1).nullable() }),
  schedule: z.strictObject({ ...what, schedule: z.boolean() }),
  remove: z.strictObject({ ...what, remove: z.literal(true) }),
  rename: z.strictObject({ ...what, rename: name }),
  add_recording: z.strictObject({ location: name, add_recording: name }),
  add_location: z.strictObject({
    add_location: name,
    timezone: z.string().refine(isTimezone, "must be an IANA time zone such as Europe/London").optional(),
    recordings: z.int().min(0).max(10_000).optional(),
  }),
} as const;

export type WorldChangeKind = keyof typeof changeShapes;
export type WorldChange = {
  [K in WorldChangeKind]: { readonly kind: K } & Readonly<z.output<(typeof changeShapes)[K]>>;
}[WorldChangeKind];

/** What a change or event is about: a location or one recording. */
export interface Named {
  readonly location?: string | undefined;
  readonly recording?: string | undefined;
}

/** Which change an object describes, by the key it holds. */
export function changeKindOf(value: object): WorldChangeKind | undefined {
  return (Object.keys(changeShapes) as WorldChangeKind[]).find((kind) => Object.hasOwn(value, kind));
}

/** Whether exactly one of location and recording is named, for the changes that let one choose. */
export function namesOneTarget(kind: WorldChangeKind, value: object): boolean {
  const { location, recording } = value as Named;
  return kind === "add_location" || (location === undefined) !== (recording === undefined);
}

/** Reads a change. Throws SimulatorError `bad_change`. */
export function parseChange(value: object): WorldChange {
  const kind = changeKindOf(value);
  const kinds = Object.keys(changeShapes).join(", ");
  if (!kind) throw new SimulatorError("bad_change", `A change needs one of ${kinds}.`);
  const parsed = changeShapes[kind].safeParse(value);
  if (!parsed.success) throw new SimulatorError("bad_change", `Not a change: ${issuesText(parsed.error)}.`);
  if (!namesOneTarget(kind, value)) {
    throw new SimulatorError("bad_change", "Name either a location or a recording, not both or none.");
  }
  return { ...parsed.data, kind } as WorldChange;
}

/** Makes the change happen. Throws SimulatorError `not_found`. */
export function applyChange(world: World, change: WorldChange, at?: Instant): void {
  switch (change.kind) {
    case "status":
      for (const { id } of recordingsNamed(world, change)) world.setStatus(id, change.status, at);
      return;
    case "quality":
      for (const { id } of recordingsNamed(world, change)) world.setQuality(id, change.quality, at);
      return;
    case "schedule":
      for (const { id } of recordingsNamed(world, change)) world.setSchedule(id, change.schedule, at);
      return;
    case "add_location": {
      const { add_location, timezone, recordings } = change;
      world.addLocation({ name: add_location, timezone, recordings }, at);
      return;
    }
    case "add_recording":
      world.addRecording(findLocation(world, change.location).id, change.add_recording, at);
      return;
    case "rename":
      if (change.location !== undefined)
        world.renameLocation(findLocation(world, change.location).id, change.rename, at);
      else world.renameRecording(onlyRecording(world, change).id, change.rename, at);
      return;
    case "remove":
      if (change.location !== undefined) world.removeLocation(findLocation(world, change.location).id, at);
      else world.removeRecording(onlyRecording(world, change).id, at);
      return;
  }
}

/** The recording named, or all of the location. Throws SimulatorError `not_found`. */
export function recordingsNamed(world: World, named: Named): readonly SimRecording[] {
  return named.location === undefined
    ? [onlyRecording(world, named)]
    : [...findLocation(world, named.location).recordings];
}

function onlyRecording(world: World, { recording = "" }: Named): SimRecording {
  return findRecording(world, recording);
}

const PLACE = /^[L#](\d{1,7})(?:\/(\d{1,7}))?$/;

/** The location. Throws SimulatorError `not_found` with the nearest name. */
export function findLocation(world: World, named: string): SimLocation {
  const place = PLACE.exec(named);
  const locations = world.locations;
  const found =
    world.location(named) ??
    locations.find(({ name }) => name === named) ??
    (place && place[2] === undefined ? locations[Number(place[1]) - 1] : undefined);
  return found ?? notFound("location", named, locations);
}

/** The recording. Throws SimulatorError `not_found` with the nearest name. */
export function findRecording(world: World, named: string): SimRecording {
  const place = PLACE.exec(named);
  const recordings = world.recordings;
  const found =
    world.recording(named) ??
    recordings.find(({ name }) => name === named) ??
    (place?.[2] ? world.locations[Number(place[1]) - 1]?.recordings[Number(place[2]) - 1] : undefined);
  return found ?? notFound("recording", named, recordings);
}

/** Names beyond these many are not compared. */
const MOST_COMPARED = 5_000;

function notFound(what: string, named: string, all: readonly { name: string }[]): never {
  const names = all.slice(0, MOST_COMPARED).map(({ name }) => name);
  const hint = names.length > 0 ? `did you mean "${closest(named, names)}"?` : "there are none.";
  throw new SimulatorError("not_found", `There is no ${what} "${named}"; ${hint}`);
}
