/** Words shared by the sentences and sections of a digest. Times are in the digest's zone, 24 h. */
import { DateTime } from "luxon";
import type { Instant } from "../../lib/clock.ts";
import { count, nameOf, nameWithin, percent } from "../../lib/format.ts";
import type { Digest, Located, Outage } from "../digest.ts";

const HOUR = 3_600_000;
/** A shorter outage is given with seconds. */
const BRIEF_MS = 120_000;

/** `day`, `week` or `month`, by the length of the period. */
export function periodNoun({ period }: Digest): "day" | "week" | "month" {
  const length = period.to - period.from;
  if (length <= 26 * HOUR) return "day";
  return length <= 8 * 24 * HOUR ? "week" : "month";
}

function local(at: Instant, digest: Digest): DateTime {
  return DateTime.fromMillis(at, { zone: digest.timezone, locale: "en-US" });
}

/** `14:05` inside the digest's day, `Tue 14:05` inside its week, otherwise with the date. */
export function moment(at: Instant, digest: Digest, clock: "HH:mm" | "HH:mm:ss" = "HH:mm"): string {
  const { from: start, to: end } = digest.period;
  const noun = periodNoun(digest);
  if (noun === "day" && at === end) return "24:00";
  const inside = at >= start && at < end;
  if (inside && noun === "day") return local(at, digest).toFormat(clock);
  if (inside && noun === "week") return local(at, digest).toFormat(`ccc ${clock}`);
  const sameYear = local(at, digest).hasSame(local(start, digest), "year");
  return sameYear ? local(at, digest).toFormat(`ccc d LLL ${clock}`) : fullMoment(at, digest);
}

/** `Fri 20 Nov 2026 08:00`. */
export function fullMoment(at: Instant, digest: Digest): string {
  return local(at, digest).toFormat("ccc d LLL yyyy HH:mm");
}

/** `14:05–17:40`, `Tue 23:10 – Wed 04:00`, `14:05:10–14:05:40`, `since 14:05`. */
export function outageTimes({ startsAt, endsAt }: Pick<Outage, "startsAt" | "endsAt">, digest: Digest): string {
  const clock = endsAt !== undefined && endsAt - startsAt < BRIEF_MS ? "HH:mm:ss" : "HH:mm";
  const from = moment(startsAt, digest, clock);
  if (endsAt === undefined) return `since ${from}`;
  const to = moment(endsAt, digest, clock);
  if (!from.includes(" ") && !to.includes(" ")) return `${from}–${to}`;
  if (from.includes(" ") && local(startsAt, digest).hasSame(local(endsAt, digest), "day"))
    return `${from}–${local(endsAt, digest).toFormat(clock)}`;
  return `${from} – ${to}`;
}

/** `Fri`, `Tue 17 Nov`: a day written `YYYY-MM-DD`. */
export function dayName(date: string, format: "ccc" | "ccc d LLL" = "ccc d LLL"): string {
  return DateTime.fromISO(date, { zone: "utc", locale: "en-US" }).toFormat(format);
}

/** `a, b and 3 more`. */
export function listed(items: readonly string[], more = 0): string {
  return items.join(", ") + (more > 0 ? ` and ${count(more)} more` : "");
}

/** `85 % up`, or an empty string. */
export function upShare(ratio: number | undefined): string {
  return ratio === undefined ? "" : `${percent(ratio)} up`;
}

export function locationLabel({ locationName, locationId }: Located, max?: number): string {
  return nameOf(locationName, locationId, max);
}

/** A recording's name beside its location's, which it does not repeat. */
export function nameAt(
  recording: { readonly name: string; readonly id: string },
  location: Located,
  max?: number,
): string {
  return nameWithin(nameOf(recording.name, recording.id, max), locationLabel(location, max));
}
