/** Counts people into rows: one group per period, location and zone as asked, split by who they are. */
import { HOUR_MS } from "../lib/clock.ts";
import { compareText } from "../lib/text.ts";
import { dayOf } from "../lib/when.ts";
import { createYielder } from "../lib/yield.ts";
import type { SimulatorContext } from "./context.ts";
import { mix, type SimLocation } from "./fleet.ts";
import { datesBetween } from "./local-time.ts";
import type { MetricBody } from "./requests.ts";
import type { CountSpan } from "./visits/counts.ts";
import { isStaff, personNumberOf, type Visit, zoneIn } from "./visits/people.ts";

/** `taxonomy`: only these zones. */
export interface CountQuery extends Pick<MetricBody, "start" | "taxonomy" | "ages" | "genders" | "roles"> {
  readonly end: number;
  readonly locations: readonly SimLocation[];
  /** Roles that visitors have. */
  readonly allRoles: readonly string[];
  readonly by: MetricBody["breakdownByDimensions"];
  /** True where dwell times are asked for; without them, and unsplit, people need not be looked at one by one. */
  readonly withDwell: boolean;
  readonly withSales: boolean;
  /** Absent: one row for the whole range. */
  readonly period?: MetricBody["aggregationPeriod"];
  /** Counts as if every segment had arrived. */
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
  /** 0 where `withSales` is not asked. */
  purchases: number;
}

type Group = { isKnown: boolean; readonly rows: ReadonlyMap<string, CountRow> };

const PERSON_DIMENSIONS = ["age", "gender", "role"] as const;

/** Rows in order of period, location and zone as asked; every combination is there, with 0 where nobody was counted. */
export async function countPeople(query: CountQuery, context: SimulatorContext): Promise<CountRow[]> {
  const maybeYield = createYielder();
  const groups = new Map<string, Group>();
  const asOf = context.clock.now();
  const spans = spansOf({ ...query, end: Math.min(query.end, asOf) }, context);
  for (const location of query.locations) {
    for (const zones of zonesOf(location, query, context)) {
      for (const { index, from, to } of spans(location)) {
        const group = groupOf(location, context.visits.taxonomyOf(zones[0]), index, query, groups);
        addPeople({ location, zones, span: { from, to, asOf } }, query, group, context);
        await maybeYield();
      }
    }
  }
  const rows = [...groups.values()].flatMap(({ isKnown, rows }) =>
    [...rows.values()].map((row) => ({ ...row, isKnown })),
  );
  return query.period ? rows.sort((a, b) => compareText(a.labels.index, b.labels.index)) : rows;
}

/** The zones asked for; where none is, entrances, or for dwell (and by a trait) the first zone of each recording. One by one if split. */
function zonesOf(location: SimLocation, query: CountQuery, { traits, visits }: SimulatorContext): number[][] {
  const { taxonomy, withDwell, by } = query;
  const firsts = new Set(location.recordings.map(({ taxonomies }) => taxonomies[0]));
  const zones = visits.zonesOf(location, (zone) =>
    taxonomy
      ? taxonomy.includes(zone.taxonomy)
      : withDwell || traits.entries_at === "all"
        ? firsts.has(zone.taxonomy)
        : zone.entrance !== undefined,
  );
  return by.includes("taxonomy") ? zones.map((zone) => [zone]) : zones.length > 0 ? [zones] : [];
}

type Part = { readonly location: SimLocation; readonly zones: readonly number[]; readonly span: CountSpan };

function addPeople(
  { location, zones, span }: Part,
  query: CountQuery,
  group: Group,
  { visits }: SimulatorContext,
): void {
  const view = query.estimated ? "estimated" : "served";
  group.isKnown ||= visits.isKnown(location, zones, span, view);
  const all = group.rows.get("");
  if (all && query.withSales) all.purchases += visits.sales(location, span);
  if (all && !query.withDwell) {
    all.people += visits.count(location, zones, span, view);
    return;
  }
  for (const zone of zones) {
    for (const part of visits.parts(location, zone, span, view)) {
      for (const visit of part) {
        const person = personIn(visit, query.allRoles);
        const row = group.rows.get(personKey(query.by, person));
        if (!row) continue;
        row.people += 1;
        row.dwellSeconds += person.dwellSeconds;
      }
    }
  }
}

function groupOf(
  location: SimLocation,
  taxonomy: string,
  index: string | undefined,
  query: CountQuery,
  groups: Map<string, Group>,
): Group {
  const { by } = query;
  const labels = {
    ...(index === undefined ? {} : { index }),
    ...(by.includes("entity") ? { location: location.id } : {}),
    ...(by.includes("taxonomy") ? { taxonomy } : {}),
  };
  const key = Object.values(labels).join("\n");
  const group = groups.get(key) ?? { isKnown: false, rows: emptyRows(labels, query) };
  groups.set(key, group);
  return group;
}

/** The range, or its part in each local day with the beginning of the period as `index` writes it, without a zone. */
function spansOf({ start, end, period }: CountQuery, { traits, calendar }: SimulatorContext) {
  const startOf = (date: string, timezone: string) => calendar.hoursOf(date, timezone)[0]?.startAt ?? Date.parse(date);
  return ({ timezone }: SimLocation) => {
    if (start >= end) return [];
    if (!period) return [{ from: start, to: end, index: undefined }];
    return datesBetween(dayOf(start, timezone), dayOf(end, timezone)).flatMap((date) => {
      const hours = calendar.hoursOf(date, timezone);
      const dayStart = hours[0]?.startAt ?? start;
      const [from, to] = [Math.max(start, dayStart), Math.min(end, dayStart + hours.length * HOUR_MS)];
      const first = period === "day" ? date : `${date.slice(0, 7)}-01`;
      const utc = () => new Date(startOf(first, timezone)).toISOString().replace("Z", "");
      return from < to ? [{ from, to, index: traits.segment_index === "local" ? `${first}T00:00:00.000` : utc() }] : [];
    });
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

const AGE_SHARES = [0.06, 0.22, 0.5, 0.68, 0.81, 0.92, 1];
/** The share of each role among customers but the first. */
const ROLE_SHARE = 0.08;

function personIn(visit: Visit, roles: readonly string[]) {
  const person = personNumberOf(visit);
  const bits = mix(person, 16);
  const ageShare = (bits & 0xff) / 256;
  const [customer = "customer", ...others] = roles.filter((role) => role !== STAFF_ROLE);
  const other = others[Math.floor(((bits >>> 16) & 0xff) / 256 / ROLE_SHARE)];
  return {
    age: ageBands[AGE_SHARES.findIndex((upTo) => ageShare < upTo)] ?? "65_100",
    gender: ((bits >>> 8) & 0xff) / 256 < 0.56 ? "female" : "male",
    role: isStaff(person) && roles.includes(STAFF_ROLE) ? STAFF_ROLE : (other ?? customer),
    dwellSeconds: 20 + (mix(person, zoneIn(visit), 17) % 600),
  };
}

const STAFF_ROLE = "staff";
