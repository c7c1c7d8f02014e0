/** Words for what stands out and for locations as a whole, the same in HTML and text. */
import { humanDuration } from "../../lib/duration.ts";
import {
  type Digest,
  type Flapper,
  type LocationDigest,
  type LongOutage,
  UP_ALL_THE_TIME,
} from "../digest.ts";
import { counted, dayName, type Figure, nameAt, nameOf, outageTimes, percent } from "./words.ts";

/** `Locations by day, Mon 16 Nov to Sun 22 Nov`. */
export function daysTitle({ days }: Digest): string {
  return `Locations by day, ${dayName(days[0] ?? "")} to ${dayName(days.at(-1) ?? "")}`;
}

/** `61.2 % up, was 99.2 %`; empty without a figure. */
export function uptimeNow({ uptime, uptimeBefore }: LocationDigest): string {
  if (uptime === undefined) return "";
  return `${percent(uptime)} up${uptimeBefore === undefined ? "" : `, was ${percent(uptimeBefore)}`}`;
}

const MOST_DAYS = 4;

/** Whether any of its days was not up throughout. */
export function hasLowDay({ days }: LocationDigest): boolean {
  return days.some((uptime) => uptime !== undefined && uptime < UP_ALL_THE_TIME);
}

/** The days that were not up throughout, the worst ones where there are many. */
export function lowDays({ days }: LocationDigest, digest: Digest): string {
  const low = days
    .map((uptime, i) => ({ date: digest.days[i] ?? "", uptime }))
    .filter(({ uptime }) => uptime !== undefined && uptime < UP_ALL_THE_TIME);
  if (low.length === 0) return `no day below ${percent(UP_ALL_THE_TIME)}`;
  const worst = low.toSorted((a, b) => (a.uptime ?? 0) - (b.uptime ?? 0)).slice(0, MOST_DAYS);
  const named = low.filter((day) => worst.includes(day));
  const more = low.length - named.length;
  const list = named.map(({ date, uptime }) => `${dayName(date)} ${percent(uptime)}`).join(", ");
  return more > 0 ? `${list} and ${counted(more, "more day")}` : list;
}

export interface Ranked extends Figure {
  readonly note: string;
}

export function longOutage(long: LongOutage, digest: Digest): Ranked {
  const { recording, outage } = long;
  const place = nameOf(long.locationName, long.locationId);
  return {
    name: recording ? `${nameAt(recording, long)} · ${place}` : `All of ${place}`,
    value: humanDuration(outage.lostMs),
    note: outageTimes(outage, digest),
  };
}

export function flapper(one: Flapper): Ranked {
  const { recording } = one;
  const { flapping, outages } = recording;
  const times = flapping && flapping.count > 1 ? ` ${flapping.count} ×,` : "";
  return {
    name: `${nameAt(recording, one)} · ${nameOf(one.locationName, one.locationId)}`,
    value: counted(outages.length, "outage"),
    note: flapping ? `flapping${times} ${humanDuration(flapping.lengthMs)} in all` : "",
  };
}
