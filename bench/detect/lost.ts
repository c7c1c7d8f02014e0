/** How near the visits lost in an outage are to those that the simulated world knows were missed. */
import { sumOfVisits, visitsRange } from "../../src/alerting/uncounted.ts";
import { visitsLostDuring } from "../../src/counts/location-outage.ts";
import type { NothingLost, VisitsLost } from "../../src/counts/visits-lost.ts";
import type { Scenario } from "../../src/simulator/scenario.ts";
import { makeVisitsWorld, type VisitsWorld } from "./visits-world.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEKS = 8;

const LENGTHS = {
  "10 min–1 h": [1 / 6, 1],
  "1–4 h": [1, 4],
  "4–12 h": [4, 12],
  "12–48 h": [12, 48],
  "2–7 d": [48, 168],
} as const;
type Length = keyof typeof LENGTHS;

export interface LostOptions {
  readonly seed: number;
  readonly locations: number;
  readonly recordings: number;
  readonly scenario?: Scenario | undefined;
  /** All outages at the same time, of all recordings, as weather and season are shared then. */
  readonly isTogether?: boolean | undefined;
}

/** One outage, all of a location's recordings or one of them. */
interface Case {
  readonly length: Length;
  readonly isWhole: boolean;
  readonly missed: number;
  /** At the end of the outage, and the day after the next. */
  readonly atEnd: VisitsLost | NothingLost;
  readonly later: VisitsLost | NothingLost;
}

/** An outage at each location of a world. */
export function playLost({ seed, locations, recordings, scenario, isTogether }: LostOptions): Case[] {
  const startedAt = Date.UTC(2026, 0, 5) + ((seed * 11) % 52) * 7 * DAY;
  const world = makeVisitsWorld({ seed, locations, recordingsPerLocation: recordings, scenario, startedAt });
  const drawn = randomOf(seed);
  const same = [drawn(), drawn(), drawn(), 0];
  return world.locations.map((location): Case => {
    let draws = 0;
    const chance = isTogether ? () => same[draws++] ?? drawn() : drawn;
    const length = Object.keys(LENGTHS)[Math.floor(chance() * 5)] as Length;
    const [least, most] = LENGTHS[length];
    const from = Math.round(startedAt + chance() * 7 * DAY);
    const to = Math.round(from + least * (most / least) ** chance() * HOUR);
    const isWhole = chance() < 0.5;
    const { id: locationId, timezone } = location;
    const all = location.recordings.map(({ id }) => id);
    const out = isWhole ? all : [all[Math.floor(chance() * all.length)] ?? ""];
    const before = missedIn(world, locationId, from, to);
    for (const id of out) world.impair(id, { offline: true }, from, to);
    const alerts = out.map((id) => {
      return { subject: { kind: "recording" as const, id }, problem: "offline" as const, startsAt: from, endsAt: to };
    });
    const [first] = alerts;
    if (!first) throw new Error("a location without recordings");
    const lost = (asOf: number) => {
      const hours = hoursOf(world, locationId, from, asOf);
      return visitsLostDuring(first, alerts, all.length, { timezone, hours }, asOf);
    };
    const missed = missedIn(world, locationId, from, to) - before;
    return { length, isWhole, missed, atEnd: lost(to), later: lost(to + 2 * DAY) };
  });
}

function missedIn(world: VisitsWorld, locationId: string, from: number, to: number): number {
  return world.missedBetween({ locationId, from, to }).missed;
}

/** The hours of eight weeks before an outage, and those after it that can be asked for. */
function hoursOf(world: VisitsWorld, locationId: string, outage: number, asOf: number): Map<number, number | null> {
  const hours = new Map<number, number | null>();
  const first = Math.ceil((outage - WEEKS * 7 * DAY) / HOUR) * HOUR;
  for (let from = first; from + HOUR + HOUR / 3 <= asOf; from += HOUR)
    hours.set(from, world.countedBetween({ locationId, from, to: from + HOUR, asOf }));
  return hours;
}

function isSaid(found: VisitsLost | NothingLost): found is VisitsLost {
  return typeof found === "object" && visitsRange(found) !== "";
}

export function lostTable(cases: readonly Case[]): string {
  const rows = [true, false].flatMap((isWhole) => {
    const of = cases.filter((one) => one.isWhole === isWhole);
    const name = isWhole ? "all recordings" : "one recording";
    const lengths = Object.keys(LENGTHS).map((length) =>
      rowOf(
        `${name}, ${length}`,
        of.filter((one) => one.length === length),
      ),
    );
    return [...lengths, rowOf(`**${name}**`, of)];
  });
  const said = cases.filter(({ later }) => isSaid(later));
  const missed = said.reduce((sum, one) => sum + one.missed, 0);
  const total = visitsRange(sumOfVisits(said.map(({ later }) => later as VisitsLost)));
  return [
    "| Outage of | n | missed ≥ 5 | said | in the interval | in all: said / missed | width | at the end |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
    `Of what was said, in all: ${total || "nothing"}; missed: ${missed}.`,
  ].join("\n");
}

function rowOf(name: string, cases: readonly Case[]): string {
  const said = cases.filter(({ later }) => isSaid(later));
  const sum = (of: (one: Case) => number) => said.reduce((total, one) => total + of(one), 0);
  const missed = sum((one) => one.missed);
  const estimate = sum(({ later }) => (later as VisitsLost).estimate);
  const width = sum(({ later }) => (later as VisitsLost).high - (later as VisitsLost).low) / (estimate || 1);
  const figures = [
    cases.length,
    cases.filter((one) => one.missed >= 5).length,
    said.length,
    coverage(cases, ({ later }) => later),
    missed === 0 ? "" : (estimate / missed).toFixed(2),
    said.length === 0 ? "" : `±${Math.round(width * 50)} %`,
    coverage(cases, ({ atEnd }) => atEnd),
  ];
  return `| ${name} | ${figures.join(" | ")} |`;
}

/** Where something is said, how often the truth is in the interval. */
function coverage(cases: readonly Case[], of: (one: Case) => VisitsLost | NothingLost): string {
  const said = cases.flatMap((one) => {
    const found = of(one);
    return isSaid(found) ? [one.missed >= found.low - 0.5 && one.missed <= found.high + 0.5] : [];
  });
  return said.length === 0 ? "" : `${Math.round((100 * said.filter(Boolean).length) / said.length)} %`;
}

/** Mulberry32. */
function randomOf(seed: number): () => number {
  let state = (seed * 0x9e37_79b9) >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
