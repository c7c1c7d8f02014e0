/** Changes of the world as a scenario file and the control interface write them, and the ids, names or positions they name. */
import { closest } from "fastest-levenshtein";
import { IANAZone } from "luxon";
import { z } from "zod";
import type { Instant } from "../lib/clock.ts";
import { parseDuration } from "../lib/duration.ts";
import { parsed, SimulatorError } from "./errors.ts";
import { type ImpairmentKind, type SimLocation, type SimRecording, unimpaired } from "./fleet.ts";
import type { Target, World } from "./world.ts";

export const NO_DURATION = "must be a duration such as 10s, 5m or 1h30m";
/** A time after the simulator's start, ms; before it with a minus sign. */
export const scenarioTime = z
  .string(NO_DURATION)
  .transform((text) => (text.startsWith("-") ? -(parseDuration(text.slice(1)) ?? Number.NaN) : parseDuration(text)))
  .pipe(z.number(NO_DURATION));

const name = z.string({ error: "must be an id, a name or a place such as L3 (quote it where it holds a #)" }).min(1);
const one = z
  .strictObject({ location: name.optional(), recording: name.optional() })
  .refine(
    ({ location, recording }) => (location === undefined) !== (recording === undefined),
    "name either a location or a recording, not both or none",
  );

/** The shape of each change; the key that names it says what it does. */
export const changeShapes = {
  status: one.safeExtend({ status: z.string().min(1).max(100) }),
  quality: one.safeExtend({ quality: z.number().min(0).max(1).nullable() }),
  schedule: one.safeExtend({ schedule: z.boolean() }),
  sees: one.safeExtend({ sees: z.number().min(0).max(1) }),
  freeze: one.safeExtend({ freeze: z.boolean() }),
  ghosts: one.safeExtend({ ghosts: z.number().min(0).max(10_000) }),
  turned: one.safeExtend({ turned: z.boolean() }),
  remove: one.safeExtend({ remove: z.literal(true) }),
  rename: one.safeExtend({ rename: name }),
  add_recording: z.strictObject({ location: name, add_recording: name }),
  add_location: z.strictObject({
    add_location: name,
    timezone: z.string().refine(IANAZone.isValidZone, "must be an IANA time zone such as Europe/London").optional(),
    recordings: z.int().min(0).max(10_000).optional(),
  }),
} as const;

type ChangeKind = keyof typeof changeShapes;
type WorldChange = {
  [K in ChangeKind]: { readonly kind: K } & Readonly<z.output<(typeof changeShapes)[K]>>;
}[ChangeKind];

/** The subject of a change or event: a location or one recording. */
export type Named = { readonly location?: string | undefined; readonly recording?: string | undefined };

/** Which change an object describes, by the key it holds. */
export function changeKindOf(value: object): ChangeKind | undefined {
  return (Object.keys(changeShapes) as ChangeKind[]).find((kind) => Object.hasOwn(value, kind));
}

/** The impairment that an event or change states. */
export function impairmentOf(change: object): [kind: ImpairmentKind, value: number | boolean] {
  const [found] = Object.entries(change).filter(([key]) => Object.hasOwn(unimpaired, key));
  return found as [ImpairmentKind, number | boolean];
}

/** Reads a change. Throws SimulatorError `bad_change`. */
export function parseChange(value: object): WorldChange {
  const kind = changeKindOf(value);
  const kinds = Object.keys(changeShapes).join(", ");
  if (!kind) throw new SimulatorError("bad_change", `A change needs one of ${kinds}.`);
  return { ...parsed<object>(changeShapes[kind], value, "bad_change", "Not a change"), kind } as WorldChange;
}

/** Makes the change happen. Throws SimulatorError `not_found`. */
export function applyChange(world: World, change: WorldChange, at?: Instant): void {
  if (change.kind === "add_location") world.addLocation({ ...change, name: change.add_location }, at);
  else if (change.kind === "add_recording")
    world.addRecording(findLocation(world, change.location).id, change.add_recording, at);
  else {
    const target = targetOf(world, change);
    if (change.kind === "status") world.setStatus(target, change.status, at);
    else if (change.kind === "quality") world.setQuality(target, change.quality, at);
    else if (change.kind === "schedule") world.setSchedule(target, change.schedule, at);
    else if (change.kind === "remove") world.remove(target, at);
    else if (change.kind === "rename") world.rename(target, change.rename, at);
    else world.impair(target, ...impairmentOf(change), at);
  }
}

/** The location or recording that is named. Throws SimulatorError `not_found` with the nearest name. */
export function targetOf(world: World, { location, recording = "" }: Named): Target {
  return location === undefined ? findRecording(world, recording).id : { locationId: findLocation(world, location).id };
}

const PLACE = /^[L#](\d{1,7})(?:\/(\d{1,7}))?$/;

/** The location. Throws SimulatorError `not_found` with the nearest name. */
export function findLocation(world: World, named: string): SimLocation {
  const [, location, recording] = PLACE.exec(named) ?? [];
  return find("location", named, world.locations, recording ? undefined : world.locations[Number(location) - 1]);
}

/** The recording. Throws SimulatorError `not_found` with the nearest name. */
export function findRecording(world: World, named: string): SimRecording {
  const [, location, recording] = PLACE.exec(named) ?? [];
  const placed = world.locations[Number(location) - 1]?.recordings[Number(recording) - 1];
  return find("recording", named, world.recordings, placed);
}

const MOST_COMPARED = 5_000;

function find<T extends { id: string; name: string }>(
  what: string,
  named: string,
  all: readonly T[],
  placed: T | undefined,
): T {
  const found = all.find(({ id }) => id === named) ?? all.find(({ name }) => name === named) ?? placed;
  if (found) return found;
  const names = all.slice(0, MOST_COMPARED).map(({ name }) => name);
  const hint = names.length > 0 ? `did you mean "${closest(named, names)}"?` : "there are none.";
  throw new SimulatorError("not_found", `There is no ${what} "${named}"; ${hint}`);
}
