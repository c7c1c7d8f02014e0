/** Counts people into rows: one group per period, location and zone as asked, split by who they are. */
import type { Instant } from "../lib/clock.ts";
import { compareText } from "../lib/text.ts";
import { fraction, isEntrance, keyOf, mix, type SimLocation, type SimRecording } from "./fleet.ts";
import type { CalendarHour } from "./local-time.ts";
import type { MetricBody } from "./requests.ts";
import type { SimulatorContext } from "./simulator.ts";
import { isClosed, type Traits } from "./traits.ts";
import { deliveryIn, outagesOf, SEGMENTS_PER_HOUR } from "./uptime.ts";

/** `taxonomy`: only recordings of these zones. */
export interface CountQuery extends Pick<MetricBody, "start" | "taxonomy" | "ages" | "genders" | "roles"> {
  /** Hours that begin before this. */
  readonly end: Instant;
  readonly locations: readonly SimLocation[];
  /** Roles that visitors have. */
  readonly allRoles: readonly string[];
  readonly by: MetricBody["breakdownByDimensions"];
  /** Whether dwell times are asked for; without them, and unsplit, people need not be looked at one by one. */
  readonly withDwell: boolean;
  /** Absent: one row for the whole range. */
  readonly period?: MetricBody["aggregationPeriod"];
  /** Everybody who passed, instead of those counted while segments arrived. */
  readonly estimated?: boolean;
}

export interface CountRow {
  /** `index` and a field for each dimension asked for. */
  readonly labels: Readonly<Record<string, string>>;
  /** False: not one segment arrived, so nothing is known. */
  readonly isKnown: boolean;
  people: number;
  /** 0 where `withDwell` is not asked. */
  dwellSeconds: number;
  purchases: number;
}

type Group = { isKnown: boolean; readonly rows: ReadonlyMap<string, CountRow> };

const PERSON_DIMENSIONS = ["age", "gender", "role"] as const;

/** Rows in order of period, location and zone as asked; every combination is there, with 0 where nobody was counted. */
export function countPeople(query: CountQuery, context: SimulatorContext): CountRow[] {
  const now = context.clock.now();
  const groups = new Map<string, Group>();
  const indexOf = createIndexOf(query, context);
  for (const location of query.locations) {
    const end = Math.min(query.end, now);
    const hours = context.calendar.hoursBetween(query.start, end, location.timezone);
    for (const recording of location.recordings) {
      const zones = zonesOf(recording, query, context.traits);
      if (zones.length === 0) continue;
      const outages = query.estimated ? [] : outagesOf(recording, hours, context.world.startedAt);
      for (const zone of zones) {
        const group = (hour: CalendarHour) => groupOf(recording, zone, indexOf(hour, recording), query, groups);
        countRecording(recording, hours, query, group, (hour) => deliveryIn(recording, hour, outages, now).received);
      }
    }
  }
  const rows = [...groups.values()].flatMap(({ isKnown, rows }) =>
    [...rows.values()].map((row) => ({ ...row, isKnown })),
  );
  return query.period ? rows.sort((a, b) => compareText(a.labels.index, b.labels.index)) : rows;
}

/** A zone counts its visits; where none is asked for, a recording counts people once, as of its first zone. */
function zonesOf(recording: SimRecording, { taxonomy, withDwell }: CountQuery, traits: Traits): readonly string[] {
  if (taxonomy) return recording.taxonomies.filter((zone) => taxonomy.includes(zone));
  const counts = withDwell || traits.entries_at === "all" || isEntrance(recording);
  return counts ? recording.taxonomies.slice(0, 1) : [];
}

function countRecording(
  recording: SimRecording,
  hours: readonly CalendarHour[],
  query: CountQuery,
  groupIn: (hour: CalendarHour) => Group,
  receivedIn: (hour: CalendarHour) => number,
): void {
  let group: Group | undefined;
  let date: string | undefined;
  for (const hour of hours) {
    // Most hours belong to the group of the hour before.
    if (!group || hour.date !== date) {
      group = groupIn(hour);
      date = hour.date;
    }
    const received = receivedIn(hour);
    group.isKnown ||= received > 0;
    const counted = Math.floor((passersIn(recording, hour) * received) / SEGMENTS_PER_HOUR);
    addPeople(recording, hour, counted, query, group.rows);
  }
}

function addPeople(
  recording: SimRecording,
  hour: CalendarHour,
  counted: number,
  query: CountQuery,
  rows: Group["rows"],
): void {
  const purchases = purchasesOf(recording, hour, counted);
  const all = query.withDwell ? undefined : rows.get("");
  if (all) {
    all.people += counted;
    all.purchases += purchases;
    return;
  }
  for (let nth = 0; nth < counted; nth++) {
    const person = personOf(recording, hour, nth, query.allRoles);
    const row = rows.get(personKey(query.by, person));
    if (!row) continue;
    row.people += 1;
    row.dwellSeconds += person.dwellSeconds;
    if (nth < purchases) row.purchases += 1;
  }
}

function groupOf(
  recording: SimRecording,
  taxonomy: string,
  index: string | undefined,
  query: CountQuery,
  groups: Map<string, Group>,
): Group {
  const { by } = query;
  const labels = {
    ...(index === undefined ? {} : { index }),
    ...(by.includes("entity") ? { location: recording.location.id } : {}),
    ...(by.includes("taxonomy") ? { taxonomy } : {}),
  };
  const key = Object.values(labels).join("\n");
  const group = groups.get(key) ?? { isKnown: false, rows: emptyRows(labels, query) };
  groups.set(key, group);
  return group;
}

/** The beginning of an hour's period as `index` writes it, without a zone; undefined where nothing is split by period. */
function createIndexOf({ period }: CountQuery, { traits, calendar }: SimulatorContext) {
  return (hour: CalendarHour, { location }: SimRecording): string | undefined => {
    if (!period) return undefined;
    const date = period === "day" ? hour.date : `${hour.date.slice(0, 7)}-01`;
    if (traits.segment_index === "local") return `${date}T00:00:00.000`;
    const startAt = calendar.hoursOf(date, location.timezone)[0]?.startAt;
    return new Date(startAt ?? hour.startAt).toISOString().replace("Z", "");
  };
}

function emptyRows(labels: Record<string, string>, { by, ages, genders, roles, allRoles }: CountQuery): Group["rows"] {
  const values = { age: ages ?? ageBands, gender: genders ?? genderValues, role: roles ?? allRoles };
  let combinations: Record<string, string>[] = [{}];
  for (const dimension of PERSON_DIMENSIONS) {
    if (!by.includes(dimension)) continue;
    combinations = combinations.flatMap((so) => values[dimension].map((value) => ({ ...so, [dimension]: value })));
  }
  const none = { isKnown: false, people: 0, dwellSeconds: 0, purchases: 0 };
  return new Map(combinations.map((who) => [personKey(by, who), { ...none, labels: { ...labels, ...who } }]));
}

function personKey(by: CountQuery["by"], who: { age?: string; gender?: string; role?: string }): string {
  let key = "";
  for (const dimension of PERSON_DIMENSIONS) if (by.includes(dimension)) key += `${who[dimension]}|`;
  return key;
}

const ageBands = ["0_15", "16_24", "25_34", "35_44", "45_54", "55_64", "65_100"] as const;
const genderValues = ["female", "male"] as const;

/** Share of a busy hour's visitors by local hour of the day. */
const HOUR_CURVE = [
  0, 0, 0, 0, 0, 0, 0, 0.05, 0.15, 0.4, 0.6, 0.8, 1, 0.95, 0.85, 0.8, 0.8, 0.75, 0.55, 0.3, 0.1, 0, 0, 0,
];
const WEEKDAY_FACTOR = [0.7, 0.75, 0.8, 0.9, 1.1, 1.4, 0.9];
const AGE_SHARES = [0.06, 0.22, 0.5, 0.68, 0.81, 0.92, 1];
/** Of each role but the first. */
const ROLE_SHARE = 0.08;

function passersIn(recording: SimRecording, hour: CalendarHour): number {
  if (isClosed(recording.location.closedDays, hour)) return 0;
  const key = keyOf(recording.id);
  const busiest = 10 + (key % 41);
  const usual = busiest * (HOUR_CURVE[hour.hour] ?? 0) * (WEEKDAY_FACTOR[hour.weekday - 1] ?? 1);
  return Math.floor(usual * (0.75 + 0.5 * fraction(key, minuteOf(hour), 5)));
}

function personOf(recording: SimRecording, hour: CalendarHour, nth: number, roles: readonly string[]) {
  const bits = mix(keyOf(recording.id), minuteOf(hour), nth + 16);
  const ageShare = (bits & 0xff) / 256;
  return {
    age: ageBands[AGE_SHARES.findIndex((upTo) => ageShare < upTo)] ?? "65_100",
    gender: ((bits >>> 8) & 0xff) / 256 < 0.56 ? "female" : "male",
    role: roles[1 + Math.floor(((bits >>> 16) & 0xff) / 256 / ROLE_SHARE)] ?? roles[0] ?? "customer",
    dwellSeconds: 20 + ((bits >>> 20) % 600),
  };
}

/** Purchases among so many counted people of an hour; never more than they are. */
function purchasesOf(recording: SimRecording, hour: CalendarHour, counted: number): number {
  const rate = 0.12 + 0.2 * fraction(keyOf(recording.location.id), minuteOf(hour), 6);
  return Math.min(counted, Math.round(counted * rate));
}

function minuteOf(hour: CalendarHour): number {
  return hour.startAt / 60_000;
}
