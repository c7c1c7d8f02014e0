/** The locations and recordings of a seed. Every figure is a function of the seed, an id and a time. */
import { hash } from "node:crypto";
import type { Instant } from "../lib/clock.ts";
import type { Traits } from "./traits.ts";
import type { Visits } from "./visits/parameters.ts";

export interface SimLocation {
  readonly id: string;
  readonly name: string;
  /** IANA time zone name. */
  readonly timezone: string;
  readonly organisation: string;
  /** Position of its organisation, from 0. */
  readonly organisationNumber: number;
  /** Locations of a town share their weather. */
  readonly town: string;
  /** Counts its changes. */
  readonly revision: number;
  /** Weekdays and dates on which nobody comes. */
  readonly closedDays: readonly string[];
  readonly recordings: readonly SimRecording[];
}

export interface SimRecording {
  readonly id: string;
  readonly location: SimLocation;
  readonly name: string;
  readonly cameraServer: string;
  /** Taxonomies of the zones it covers. */
  readonly taxonomies: readonly string[];
  readonly useUploadingSchedule: boolean;
  readonly status: string;
  /** Fraction 0–1; null: the service has none. */
  readonly quality: number | null;
  /** The time it was last heard of; only meaningful while offline. */
  readonly lastSeenAt: Instant;
  /** Changes of status since the simulator started, oldest first; before the first it was online. */
  readonly history: readonly { readonly at: Instant; readonly status: string }[];
  /** By their beginning; of one kind, the one that began last counts. */
  readonly impairments: readonly Readonly<Impairment>[];
}

/** Impairments of a recording whose status stays online; the value holds from then on. */
export interface Impairments {
  /** Share of the people that it still sees. */
  readonly sees: number;
  /** The picture stands still: nobody moves. */
  readonly freeze: boolean;
  /** People an hour that are not there, by day and by night. */
  readonly ghosts: number;
  /** Aside: it sees a part of another zone, or of the street. */
  readonly turned: boolean;
}

/** The values of a recording without any impairment. */
export const unimpaired: Impairments = { sees: 1, freeze: false, ghosts: 0, turned: false };

export type ImpairmentKind = keyof Impairments;

export interface Impairment {
  readonly kind: ImpairmentKind;
  readonly value: number | boolean;
  readonly from: Instant;
  /** Not yet over: infinity. */
  until: Instant;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
export type MutableLocation = Writable<Omit<SimLocation, "recordings">> & {
  /** Its position among all ever made, from 0. */
  readonly index: number;
  recordings: MutableRecording[];
};
export type MutableRecording = Writable<Omit<SimRecording, "history" | "impairments" | "location">> & {
  readonly location: MutableLocation;
  readonly history: { at: Instant; status: string }[];
  readonly impairments: Impairment[];
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
  traits: Traits,
  given: { name?: string | undefined; timezone?: string | undefined } = {},
): MutableLocation {
  const street = highStreetAt(index);
  const organisation = index % traits.organisations;
  const name = given.name ?? street.name;
  return {
    id: hexId(seed, `location:${index}`),
    name,
    town: name.split(" ")[0] ?? "",
    timezone: given.timezone ?? street.timezone,
    index,
    organisation: hexId(seed, organisation === 0 ? "organisation" : `organisation:${organisation}`),
    organisationNumber: organisation,
    revision: 0,
    closedDays: traits.closed_days,
    recordings: [],
  };
}

/** A recording, online, not yet in its location's list. `index` is its position in the location, from 0. */
export function makeRecording(
  seed: number,
  location: MutableLocation,
  index: number,
  { traits, visits }: FleetShape,
  name?: string,
): MutableRecording {
  const id = hexId(seed, `recording:${location.id}:${index}`);
  const shared = traits.recordings_per_zone;
  const all = visits.zones;
  const zones = Array.from(
    { length: Math.min(all.length, traits.zones_per_recording) },
    (_, i) => all[(Math.floor(index / shared) + i) % all.length] ?? all[0],
  );
  const round = Math.floor(index / (all.length * shared)) * shared + (index % shared) + 1;
  return {
    id,
    location,
    name: name ?? `${location.name} ${zones[0]?.name}${round === 1 ? "" : ` ${round}`}`,
    cameraServer: hexId(seed, serverOf(location.index, index, traits)),
    taxonomies: zones.flatMap((zone) => zone?.taxonomy ?? []),
    useUploadingSchedule: false,
    status: "online",
    quality: usualQuality(id),
    lastSeenAt: 0,
    history: [],
    impairments: [],
  };
}

/** The shape of a fleet. */
type FleetShape = { readonly traits: Traits; readonly visits: Pick<Visits, "zones"> };

/** The whole fleet. The last recording of every fourth location (the fourth first) has an uploading schedule. */
export function makeFleet(seed: number, locations: number, perLocation: number, shape: FleetShape): MutableLocation[] {
  return Array.from({ length: locations }, (_, at) => {
    const location = makeLocation(seed, at, shape.traits);
    for (let i = 0; i < perLocation; i++) location.recordings.push(makeRecording(seed, location, i, shape));
    const last = location.recordings.at(-1);
    if (last && at % 4 === 3 && perLocation > 1) last.useUploadingSchedule = true;
    return location;
  });
}

/** The first word is the town. */
const BRITISH = `Leeds Briggate, Manchester Market Street, Bath Southgate, York Coney Street, Glasgow Buchanan Street,
  Cardiff Queen Street, Bristol Cabot Circus, Edinburgh Princes Street, Norwich Gentleman's Walk, Oxford Cornmarket,
  Nottingham Clumber Street, Belfast Donegall Place, Brighton Churchill Square, Exeter Princesshay,
  Liverpool Church Street, Newcastle Northumberland Street, Sheffield Fargate, Cambridge Petty Cury,
  London Oxford Street, Chester Eastgate Row, Derby St Peters Street, Aberdeen Union Street, Swansea Oxford Street,
  Southampton Above Bar`.split(/,\s+/);

const ABROAD = [
  ["Dublin", "Grafton Street", "Europe/Dublin"],
  ["Paris", "Rue de Rivoli", "Europe/Paris"],
  ["New York", "Fifth Avenue", "America/New_York"],
  ["Madrid", "Gran Vía", "Europe/Madrid"],
  ["Mumbai", "Linking Road", "Asia/Kolkata"],
  ["Sydney", "Pitt Street", "Australia/Sydney"],
] as const;

/** For the second location of a town and later ones. */
const STREETS = `High Street, Station Road, Victoria Centre, Castle Quarter, Riverside Park, Market Place, Kings Arcade,
  Retail Park, Bridge Street, Northgate, Priory Walk, Harbour Outlet`.split(/,\s+/);

const ABROAD_EVERY = 8;
const FIRST_ABROAD = 5;

function highStreetAt(index: number): Pick<SimLocation, "name" | "timezone"> {
  if (index % ABROAD_EVERY === FIRST_ABROAD) {
    const turn = Math.floor(index / ABROAD_EVERY);
    const [town, street, timezone] = ABROAD[turn % ABROAD.length] ?? ABROAD[0];
    return { name: nameIn(town, street, Math.floor(turn / ABROAD.length)), timezone };
  }
  const turn = index - Math.floor((index + ABROAD_EVERY - FIRST_ABROAD - 1) / ABROAD_EVERY);
  const [town = "", ...street] = BRITISH[turn % BRITISH.length]?.split(" ") ?? [];
  return { name: nameIn(town, street.join(" "), Math.floor(turn / BRITISH.length)), timezone: "Europe/London" };
}

function nameIn(town: string, street: string, round: number): string {
  if (round === 0) return `${town} ${street}`;
  const again = Math.floor((round - 1) / STREETS.length) + 1;
  const other = STREETS[(round - 1) % STREETS.length];
  return again === 1 ? `${town} ${other}` : `${town} ${other} ${again}`;
}

/** Neighbouring locations may share their servers, and the recordings of one take turns on several. */
function serverOf(location: number, recording: number, traits: Traits): string {
  const first = `server:${Math.floor(location / traits.locations_per_camera_server)}`;
  const turn = recording % traits.camera_servers_per_location;
  return turn === 0 ? first : `${first}:${turn}`;
}

function scramble(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** 32 evenly spread bits made of whole numbers (MurmurHash3's finaliser): same in, same out. */
export function mix(a: number, b: number, c = 0): number {
  return scramble(scramble(scramble(a ^ 0x9e3779b9) ^ b) ^ Math.imul(c, 0x27d4eb2f)) >>> 0;
}

/** A fraction, 0 up to but not 1, made of whole numbers. */
export function fraction(a: number, b: number, c = 0): number {
  return mix(a, b, c) / 2 ** 32;
}

/** 24 hex characters, the shape of the service's ids. */
export function hexId(seed: number, label: string): string {
  return hash("sha256", `${seed}:${label}`, "hex").slice(0, 24);
}
