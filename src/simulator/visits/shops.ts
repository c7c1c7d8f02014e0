/** Locations and their days: opening times, and visits as a share of the usual. */

import { DAY_MS, HOUR_MS } from "../../lib/clock.ts";
import { fraction, keyOf, type SimLocation } from "../fleet.ts";
import type { CalendarHour } from "../local-time.ts";
import { isClosed } from "../traits.ts";
import { gaussian, keyOfText, pick, spell, wave, within } from "./chance.ts";
import { countryOf, type Holiday, holidayOn } from "./holidays.ts";
import type { ShopProfile, Visits } from "./parameters.ts";

export interface Shop {
  readonly location: SimLocation;
  readonly key: number;
  readonly organisationKey: number;
  readonly townKey: number;
  readonly countryKey: number;
  readonly country: string | undefined;
  readonly profile: ShopProfile;
  /** People in the busiest usual hour. */
  readonly busiest: number;
  /** Minutes that its opening times are later than its profile's. */
  readonly shift: number;
  readonly staff: number;
  readonly saleRate: number;
}

/** A local day. Minutes count from its beginning, as the wall clock shows them. */
export interface DayPlan {
  readonly opens: number;
  /** `opens`: closed all day. */
  readonly closes: number;
  /** Visits as a share of the usual ones of the weekday. */
  readonly factor: number;
  readonly holiday: boolean;
}

const KIND = { profile: 41, busiest: 42, shift: 43, staff: 44, sales: 45, sunday: 46, holiday: 47, trend: 48 };
const SPELL = { promotion: 51, roadworks: 54, fair: 57, late: 60 };
const NOISE = { day: 63, weeks: 65, country: 66, town: 67, hour: 68, rain: 70 };

export function shopOf(seed: number, location: SimLocation, world: Visits): Shop {
  const key = keyOf(location.id);
  const country = world.holidays.countries[location.timezone] ?? countryOf(location.timezone);
  const [low, high] = profileOf(key, world).busiest;
  return {
    ...{ location, key, country },
    organisationKey: keyOf(location.organisation),
    townKey: keyOfText(seed, `town:${location.town}`),
    countryKey: keyOfText(seed, `country:${country ?? location.timezone}`),
    profile: profileOf(key, world),
    busiest: low * (high / low) ** fraction(key, 0, KIND.busiest),
    shift: 30 * Math.floor(-2 + 5 * fraction(key, 0, KIND.shift)),
    staff: Math.round(within(world.staff.people, fraction(key, 0, KIND.staff))),
    saleRate: within(world.sales.rate, fraction(key, 0, KIND.sales)),
  };
}

function profileOf(key: number, world: Visits): ShopProfile {
  const profiles = Object.values(world.profiles);
  const weights = profiles.map(({ weight }) => weight);
  return profiles[pick(weights, fraction(key, 0, KIND.profile))] as ShopProfile;
}

/** Day `n` since 1970-01-01, local. */
export function dayPlanOf(shop: Shop, n: number, world: Visits): DayPlan {
  const { key, location } = shop;
  const date = new Date(n * DAY_MS).toISOString().slice(0, 10);
  const weekday = ((n + 3) % 7) + 1;
  const holiday = holidayAt(shop, n, date, world);
  const [opens, closes] = openingOf(shop, weekday);
  const isShut =
    isClosed(location.closedDays, { weekday, date }) ||
    (weekday === 7 && fraction(key, 0, KIND.sunday) < shop.profile.sunday_closed) ||
    (holiday !== undefined && fraction(key, Math.floor(n / 7), KIND.holiday) < holiday.closed);
  const late = spell(key, n, SPELL.late, { perYear: world.local.late_openings_per_year, days: [1, 1] });
  return {
    opens: opens + (late === undefined ? 0 : Math.round(30 + 60 * late)),
    closes: isShut ? 0 : closes,
    factor: dayFactor(shop, n, date, world) * (holiday?.visits ?? 1),
    holiday: holiday !== undefined,
  };
}

function openingOf({ profile, shift }: Shop, weekday: number): [opens: number, closes: number] {
  const times = profile.open[weekday - 1] ?? "closed";
  if (times === "closed") return [0, 0];
  const [opens = 0, closes = 0] = times.split("-").map((at) => Number(at.slice(0, 2)) * 60 + Number(at.slice(3)));
  return [Math.max(0, opens + shift), Math.min(24 * 60, closes + shift)];
}

function holidayAt({ country }: Shop, n: number, date: string, { holidays }: Visits): Holiday | undefined {
  const own = holidays.dates.find(({ on, country: where }) => on === date && (where ?? country) === country);
  return own ?? (country ? holidayOn(n, country) : undefined);
}

/** Trend, season, promotions, what happens at the location, and what nothing explains. */
function dayFactor(shop: Shop, n: number, date: string, { trend, local, promotions, noise }: Visits): number {
  const { key, organisationKey } = shop;
  const years = (n - EPOCH) / 365;
  const growth = (2 * fraction(key, 0, KIND.trend) - 1) * trend.per_year * years;
  const season = trend.season * Math.cos(2 * Math.PI * (years - SEASON_PEAK)) * 0.5;
  const works = spell(key, n, SPELL.roadworks, { perYear: local.roadworks_per_year, days: [4, 24] });
  const fair = spell(key, n, SPELL.fair, { perYear: local.fairs_per_year, days: [1, 2] });
  const promotion = spell(organisationKey, n, SPELL.promotion, { perYear: promotions.per_year, days: promotions.days });
  const planned = promotions.dates.find(
    ({ from, until, organisation = 1 + shop.location.organisationNumber }) =>
      date >= from && date <= until && organisation === 1 + shop.location.organisationNumber,
  );
  const unexplained = gaussian(fraction(key, n, NOISE.day), fraction(key, n, NOISE.day + 1)) * noise.day;
  return (
    Math.exp(growth + season + wave(key, n / 16, NOISE.weeks) * trend.weeks + unexplained) *
    (works === undefined ? 1 : 0.5 + 0.4 * works) *
    (fair === undefined ? 1 : 0.55 + 1.2 * fair) *
    (planned?.lift ?? (promotion === undefined ? 1 : within(promotions.lift, promotion)))
  );
}

/** 2026-01-01, from which trends count; the year is fullest in the middle of December. */
const EPOCH = 20_454;
const SEASON_PEAK = 0.96;

/** People expected in an hour of the day, were it all like its middle: weather and chance of the hour within it. */
export function hourRate(shop: Shop, { startAt, hour, weekday }: CalendarHour, plan: DayPlan, world: Visits): number {
  const { key, profile, busiest } = shop;
  const at = Math.floor(startAt / HOUR_MS);
  const own = 0.85 + 0.3 * fraction(key, hour + 24 * weekday, NOISE.hour + 1);
  const chance = gaussian(fraction(key, at, NOISE.hour), fraction(key, at, NOISE.hour + 2)) * world.noise.hour;
  const usual =
    busiest *
    ((profile.day[hour] ?? 0) / highest(profile.day)) *
    ((profile.week[weekday - 1] ?? 0) / highest(profile.week));
  return usual * own * plan.factor * Math.exp(chance - badWeather(shop, at) * world.weather.strength * profile.weather);
}

/** About -2 (fine) to 2 (storm): spells of days over a country, of a day in a town, and of hours. */
function badWeather({ countryKey, townKey }: Shop, hourAt: number): number {
  const day = hourAt / 24;
  return (
    wave(countryKey, day / 3, NOISE.country) +
    0.7 * wave(townKey, day / 1.3, NOISE.town) +
    0.6 * wave(townKey, hourAt / 4, NOISE.rain)
  );
}

function highest(values: readonly number[]): number {
  return Math.max(...values) || 1;
}
