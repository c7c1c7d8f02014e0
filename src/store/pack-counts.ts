/** Counts as short texts: eight weeks of a location take about a kilobyte. */
import type { CountSeries } from "../counts/series.ts";
import { type Instant, MINUTE_MS } from "../lib/clock.ts";
import { packSeries, unpackSeries } from "./pack-series.ts";

/** Whole numbers from 0 by the start of their hour; `early`: hours that the service may still correct. */
export function packHours(hours: CountSeries["hours"], early: ReadonlySet<Instant>): string {
  const starts = [...hours.keys()].sort((a, b) => a - b);
  return packSeries({
    starts,
    values: starts.map((at) => hours.get(at) ?? undefined),
    marks: starts.map((at) => early.has(at)),
  });
}

/** Gives what `packHours` was given. */
export function unpackHours(text = ""): { hours: Map<Instant, number | null>; early: Set<Instant> } {
  const [hours, early] = [new Map<Instant, number | null>(), new Set<Instant>()];
  unpackSeries(text, (at, count, isEarly) => {
    hours.set(at, count ?? null);
    if (isEarly) early.add(at);
  });
  return { hours, early };
}

/** A reading, in whole minutes, oldest first: minutes since the one before, minutes it covers where they begin elsewhere, and its count. */
export function packReadings(readings: CountSeries["readings"]): string {
  let [lastAt, lastSince] = [0, -1];
  const rows = readings.map(({ at, since, count }) => {
    const covered = since === lastSince ? "" : ((at - since) / MINUTE_MS).toString(36);
    const row = [((at - lastAt) / MINUTE_MS).toString(36), covered, count === null ? "" : count.toString(36)];
    [lastAt, lastSince] = [at, since];
    return row.join(",");
  });
  return rows.join(";");
}

/** Gives what `packReadings` was given. */
export function unpackReadings(text = ""): CountSeries["readings"] {
  let [at, since] = [0, 0];
  if (text === "") return [];
  return text.split(";").map((row) => {
    const [minutes = "", covered = "", count = ""] = row.split(",");
    at += Number.parseInt(minutes, 36) * MINUTE_MS;
    if (covered !== "") since = at - Number.parseInt(covered, 36) * MINUTE_MS;
    return { at, since, count: count === "" ? null : Number.parseInt(count, 36) };
  });
}
