/** A week with every kind of trouble, for pictures and for tests of a whole digest. */
import type { Digest, DigestEpisode, DigestRecording } from "../../src/digest/digest.ts";
import { digestPeriod, type PeriodName } from "../../src/digest/period.ts";
import type { UptimeBucket } from "../../src/health/recording.ts";
import { anUptimeBucket } from "../support/fixtures.ts";
import { digestWith } from "./compute-digest.ts";
import { episode, HOUR, locationOffline, MINUTE, offline, subject } from "./fixtures.ts";

const DAY = 24 * HOUR;
const LOCATIONS = ["Leeds Briggate", "Manchester Market Street", "Bath Southgate", "York Coney Street"];
const VIEWS = ["Entrance", "Shoes", "Tills"];

const monday = (text: string) => Date.parse(`2026-11-${text}`);

const recordings: DigestRecording[] = LOCATIONS.flatMap((locationName, place) =>
  VIEWS.map((name, view) =>
    subject(`${place}${view}`, {
      name,
      locationName,
      ...(place === 0 && view === 1 ? { status: "offline", since: monday("22T21:40:00Z") } : {}),
    }),
  ),
);

const outages: DigestEpisode[] = [
  offline("01", monday("22T21:40:00Z")),
  ...[0, 1, 2].map((view) => offline(`1${view}`, monday("17T11:12:00Z"), monday("17T17:33:00Z"))),
  locationOffline("manchester-market-street", monday("17T11:12:00Z"), monday("17T17:33:00Z")),
  ...[0, 1, 2, 3, 4, 5].map((i) =>
    offline("22", monday("19T09:20:00Z") + i * 70 * MINUTE, monday("19T09:20:00Z") + (i * 70 + 36) * MINUTE),
  ),
  offline("20", monday("20T14:00:00Z"), monday("20T18:40:00Z")),
  ...[0, 1].map((view) => offline(`3${view}`, monday("21T10:05:00Z"), monday("21T19:10:00Z"))),
  offline("31", monday("11T14:00:00Z"), monday("11T16:00:00Z")),
  episode("flapping", "22", monday("19T10:30:00Z"), monday("19T17:10:00Z")),
  episode("low_quality", "30", monday("18T08:00:00Z"), monday("18T12:30:00Z")),
];

/** The service's figures: days, from nine weeks ago on. */
function days(recordingId: string, now: number): UptimeBucket[] {
  const own = outages.filter((one) => one.subject.id === recordingId && one.problem === "offline");
  const first = Date.parse("2026-09-20T00:00:00Z");
  return Array.from({ length: Math.floor((now - first) / DAY) }, (_, i) => {
    const from = first + i * DAY;
    const lost = own.map(({ startsAt, endsAt = now }) =>
      Math.max(0, Math.min(endsAt, from + DAY) - Math.max(startsAt, from)),
    );
    const ratio = 0.999 - lost.reduce((sum, ms) => sum + ms, 0) / DAY;
    return anUptimeBucket(from, Math.max(0, ratio), { segmentsExpected: 1440 });
  });
}

/** As made on Monday, 23 November 2026; the month's on 1 December. */
export function sampleDigest(name: PeriodName = "1w"): Digest {
  const now = Date.parse(name === "1mo" ? "2026-12-01T08:00:00Z" : "2026-11-23T08:00:00Z");
  const timezone = "Europe/London";
  const period = digestPeriod(name, now, timezone);
  const before = { period: digestPeriod(name, period.from, timezone), isWatched: true };
  const unreachable = [{ from: monday("18T03:00:00Z"), to: monday("18T03:25:00Z") }];
  const scope = { now, period, before, timezone, episodes: outages, matchers: [], unreachable };
  return digestWith(
    scope,
    recordings.map((one) => [one, { buckets: days(one.recording.id, now) }]),
  );
}
