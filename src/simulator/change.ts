/** Changes of the world as people write them, in a scenario file or to the control interface. */
import { z } from "zod";
import type { Instant } from "../lib/clock.ts";
import { SimulatorError } from "./errors.ts";
import { findLocation, findRecording } from "./find.ts";
import type { SimRecording } from "./fleet.ts";
import { isTimezone } from "./local-time.ts";
import { issuesText } from "./problems.ts";
import type { World } from "./world.ts";

const name = z
  .string({ error: "must be an id, a name or a place such as L3 (quote it where it holds a #)" })
  .min(1);
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

export type ChangeKind = keyof typeof changeShapes;
export type Change = {
  [K in ChangeKind]: { readonly kind: K } & Readonly<z.output<(typeof changeShapes)[K]>>;
}[ChangeKind];

/** What a change or event is about: a location or one recording. */
export interface Named {
  readonly location?: string | undefined;
  readonly recording?: string | undefined;
}

/** Which change an object describes, by the key it holds. */
export function changeKindOf(value: object): ChangeKind | undefined {
  return (Object.keys(changeShapes) as ChangeKind[]).find((kind) => Object.hasOwn(value, kind));
}

/** Whether exactly one of location and recording is named, for the changes that let one choose. */
export function namesOneTarget(kind: ChangeKind, value: object): boolean {
  const { location, recording } = value as Named;
  return kind === "add_location" || (location === undefined) !== (recording === undefined);
}

/** Reads a change. Throws SimulatorError `bad_change`. */
export function parseChange(value: object): Change {
  const kind = changeKindOf(value);
  const kinds = Object.keys(changeShapes).join(", ");
  if (!kind) throw new SimulatorError("bad_change", `A change needs one of ${kinds}.`);
  const parsed = changeShapes[kind].safeParse(value);
  if (!parsed.success) throw new SimulatorError("bad_change", `Not a change: ${issuesText(parsed.error)}.`);
  if (!namesOneTarget(kind, value)) {
    throw new SimulatorError("bad_change", "Name either a location or a recording, not both or none.");
  }
  return { ...parsed.data, kind } as Change;
}

/** Makes the change happen. Throws SimulatorError `not_found`. */
export function applyChange(world: World, change: Change, at?: Instant): void {
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
