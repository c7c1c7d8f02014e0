/** Finds what a person names: an id, a name, or a place in the fleet (`L3`, `#3`, `L3/2`, counted from 1). */
import { closest } from "fastest-levenshtein";
import { SimulatorError } from "./errors.ts";
import type { SimLocation, SimRecording } from "./fleet.ts";
import type { World } from "./world.ts";

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
