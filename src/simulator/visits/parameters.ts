/** Parameters of the world's visits: the section `visits` of a scenario file. Every parameter has a default. */
import { z } from "zod";

const share = z.number().min(0).max(1);
const factor = z.number().min(0).max(20);
const perYear = z.number().min(0).max(365);
const date = z.iso.date({ error: "must be a date, YYYY-MM-DD" });
const TIMES = /^(?:closed|([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-4]):[0-5]\d)$/;

/** From the lower to the higher; each location, promotion, … draws its own. */
function range(schema: z.ZodNumber) {
  return z.tuple([schema, schema]).refine(([low, high]) => low <= high, "the lower bound comes first");
}

function section<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape).prefault({} as z.input<z.ZodObject<T>>);
}

const opening = z.string().regex(TIMES, "must be times such as 09:30-20:00, or closed");
const Profile = z.strictObject({
  /** Share of the locations, relative to the other profiles'. */
  weight: z.number().min(0).default(1),
  /** People an hour in the busiest usual hour of the busiest weekday. */
  busiest: range(z.number().positive().max(20_000)),
  /** Relative by local hour of the day, from 00:00. */
  day: z.array(factor).length(24),
  /** Relative by weekday, from Monday. */
  week: z.array(factor).length(7),
  /** By weekday, from Monday; each location is up to an hour earlier or later. */
  open: z.array(opening).length(7),
  /** Share of the locations that stay closed on Sundays. */
  sunday_closed: share.default(0),
  /** The share that bad weather takes away, relative to `weather.strength`; below 0 it brings people. */
  weather: z.number().min(-3).max(3).default(1),
});
export type ShopProfile = z.output<typeof Profile>;

const Zone = z.strictObject({
  name: z.string().min(1),
  taxonomy: z.string().min(1),
  /** An entrance: share of the arrivals, relative to the other entrances'. */
  entrance: z.number().positive().optional(),
  /** The zone that people come from; not given: an entrance. */
  from: z.string().optional(),
  /** Share of those at `from` who come here. */
  reach: share.default(0.3),
  /** Mean minutes on the way from `from`. */
  after: z.number().min(0).max(240).default(5),
});
export type ZoneShape = z.output<typeof Zone>;

const zones: z.input<typeof Zone>[] = [
  { name: "Entrance", taxonomy: "Ground:Entrance:Main Door", entrance: 1 },
  { name: "Tills", taxonomy: "Ground:Service:Tills", reach: 0.45, after: 14 },
  { name: "Shoes", taxonomy: "Ground:Fashion:Shoes", reach: 0.3, after: 3 },
  { name: "Womenswear", taxonomy: "First:Fashion:Womenswear", reach: 0.45, after: 6 },
  { name: "Menswear", taxonomy: "First:Fashion:Menswear", reach: 0.3, after: 7 },
  { name: "Homeware", taxonomy: "Second:Home:Homeware", reach: 0.2, after: 12 },
  { name: "Beauty", taxonomy: "Ground:Beauty:Counter", reach: 0.35, after: 4 },
  { name: "Fitting Rooms", taxonomy: "First:Service:Fitting Rooms", from: "Womenswear", reach: 0.3, after: 9 },
];

const SHOP_DAY = [
  0, 0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 0.95, 0.85, 0.8, 0.8, 0.75, 0.55, 0.3, 0.2, 0.1, 0, 0,
];
const MALL_DAY = [
  0, 0, 0, 0, 0, 0, 0, 0, 0.1, 0.25, 0.4, 0.55, 0.7, 0.7, 0.7, 0.75, 0.85, 1, 1, 0.85, 0.6, 0.4, 0.2, 0,
];
const WEEK = [0.7, 0.72, 0.78, 0.88, 1.1, 1.45, 0.95];
function everyDay(times: string, sunday: string): string[] {
  return [...Array<string>(6).fill(times), sunday];
}
const profiles: Readonly<Record<string, z.input<typeof Profile>>> = {
  high_street: {
    ...{ weight: 5, busiest: [14, 130], day: SHOP_DAY, week: WEEK },
    ...{ open: everyDay("09:00-18:00", "11:00-17:00"), weather: 1 },
  },
  mall: {
    ...{ weight: 3, busiest: [60, 400], day: MALL_DAY, week: WEEK },
    ...{ open: everyDay("09:30-21:00", "11:00-18:00"), weather: -0.4 },
  },
  outlet: {
    ...{ weight: 2, busiest: [25, 220], day: SHOP_DAY, week: [0.5, 0.5, 0.55, 0.7, 1, 1.9, 1.6] },
    ...{ open: everyDay("10:00-20:00", "10:00-18:00"), weather: 0.4 },
  },
};

const promotion = z.strictObject({ from: date, until: date, lift: factor, organisation: z.int().optional() });
const holiday = z.strictObject({
  ...{ on: date, country: z.string().optional(), closed: share.default(0), visits: factor.default(1) },
});
const sizes = z.array(factor).min(1).max(8);

/** docs/simulator.md says what each means. */
export const Visits = z.strictObject({
  profiles: z.record(z.string(), Profile).prefault(profiles),
  zones: z.array(Zone).min(1).max(30).superRefine(checkZones).prefault(zones),
  weather: section({ strength: z.number().min(0).max(2).default(0.18) }),
  trend: section({ per_year: share.default(0.15), season: share.default(0.25), weeks: share.default(0.08) }),
  noise: section({ day: share.default(0.07), hour: share.default(0.1) }),
  promotions: section({
    per_year: perYear.default(6),
    days: range(z.number().min(1).max(60)).default([3, 10]),
    lift: range(factor).default([1.15, 1.7]),
    dates: z.array(promotion).default([]),
  }),
  holidays: section({ countries: z.record(z.string(), z.string()).default({}), dates: z.array(holiday).default([]) }),
  groups: section({
    sizes: sizes.refine((all) => Math.max(...all) > 0, "one must be above 0").default([5, 3, 1, 1]),
    parties_per_month: z.number().min(0).max(100).default(1),
    party: range(z.number().min(1).max(200)).default([15, 45]),
  }),
  staff: section({ people: range(z.number().min(0).max(100)).default([2, 8]), passes: factor.default(0.4) }),
  local: section({
    roadworks_per_year: perYear.default(1),
    fairs_per_year: perYear.default(3),
    late_openings_per_year: perYear.default(3),
  }),
  sales: section({ rate: range(share).default([0.2, 0.5]) }),
  cameras: section({ detection: share.default(0.97), overlap: share.default(0.15), street: factor.default(1.5) }),
});
export type Visits = z.output<typeof Visits>;

function checkZones(all: readonly ZoneShape[], context: z.RefinementCtx<ZoneShape[]>): void {
  const problem = (i: number, message: string) => context.addIssue({ code: "custom", path: [i], message });
  if (!all.some(({ entrance }) => entrance)) problem(0, "one zone must be an entrance");
  for (const [i, { name, taxonomy, from, entrance }] of all.entries()) {
    const before = all.slice(0, i);
    if (before.some((other) => other.name === name || other.taxonomy === taxonomy))
      problem(i, `${name} is there twice`);
    if (from !== undefined && !before.some((other) => other.name === from))
      problem(i, `from: no zone ${from} before it`);
    if (from !== undefined && entrance) problem(i, "people come to an entrance from the street: leave out from");
  }
}
