/**
 * The input of a digest, and its figures. Lengths are ms, ratios 0–1; undefined means that there is no
 * figure, and is shown as a blank: never as 0 %, never as 100 %.
 */
import type { StoredAcknowledgement } from "../alerting/acknowledgement.ts";
import type { Episode, Incident } from "../alerting/incident.ts";
import type { IncidentNames } from "../alerting/incident-words.ts";
import type { Maintenance } from "../alerting/maintenance.ts";
import type { Matcher } from "../alerting/matcher.ts";
import type { VisitWorth } from "../alerting/uncounted.ts";
import type { VisitsLost } from "../counts/visits-lost.ts";
import type { EndReason } from "../health/alert.ts";
import type { Shop } from "../health/directory.ts";
import type { Recording, RecordingStatus, UptimeBucket } from "../health/recording.ts";
import type { Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import type { LossTally } from "../report/tally.ts";

export interface DigestPeriod extends Interval {
  /** For people: `Thu 19 Nov 2026`. */
  readonly label: string;
}

/** One episode of an alert; without an `endsAt` it is still firing. */
export interface DigestEpisode extends Episode {
  readonly endReason?: EndReason | undefined;
  /** The maintenance in which it began or ended. */
  readonly planned?: string | undefined;
  /** Visits of its location not counted meanwhile. */
  readonly uncounted?: VisitsLost | undefined;
}

/** An incident inside a period, of the recordings that the digest is about. */
export interface DigestIncident extends Pick<Incident, "id" | "startsAt" | "endsAt"> {
  readonly title: string;
  readonly durationMs: number;
  /** Recordings were offline, or missing. */
  readonly isOutage: boolean;
  /** Visits of the period that were not counted, each at one incident. */
  readonly visits: VisitsLost | undefined;
  /** In force, of one that is open. */
  readonly acknowledgement: StoredAcknowledgement | undefined;
  /** The keys of its subjects (`createIncidents`). */
  readonly keys: ReadonlySet<string>;
}

/** A maintenance, with its windows in and around the period. */
export interface PlannedWindows extends Pick<Maintenance, "name" | "matchers" | "comment"> {
  readonly windows: readonly Interval[];
}

export interface DigestRecording {
  readonly recording: Recording;
  readonly locationName: string;
  /** What the directory says of its location. */
  readonly shop?: Shop | undefined;
  /** Now; undefined or `unknown`: no recent good reading. */
  readonly status: RecordingStatus | undefined;
  /** Since when it has that status; 0 where there is none. */
  readonly since: Instant;
}

/** The service's figures of one recording. */
export interface RecordingFigures {
  /** Hourly or daily, oldest first, as far back as they are stored: the period before is read from them too. */
  readonly buckets: readonly UptimeBucket[];
  /** `1` inside the schedule, `0` outside, `?` unknown, for each hour from Monday 00:00 on; undefined: not known. */
  readonly scheduleHours?: string | undefined;
}

/** The scope of a digest: its period, and everything in it that is not a recording's own figures. */
export interface DigestScope {
  readonly now: Instant;
  readonly period: DigestPeriod;
  /** The period before, to compare with; `isWatched`: lenswatch ran nearly throughout and knows its outages. */
  readonly before?: { readonly period: DigestPeriod; readonly isWatched: boolean } | undefined;
  /** IANA zone in which every time is shown. */
  readonly timezone: string;
  /** The zone of the days of figures, where it is not each recording's own. */
  readonly dayZone?: string | undefined;
  readonly episodes: readonly DigestEpisode[];
  /** In force, by id of an episode. */
  readonly acknowledgements?: ReadonlyMap<string, StoredAcknowledgement> | undefined;
  readonly names: IncidentNames;
  /** Selects recordings by the labels that an alert of theirs would carry; all must match. */
  readonly matchers: readonly Matcher[];
  /** While the service was unreachable: neither up nor down. */
  readonly unreachable: readonly Interval[];
  /** While lenswatch did not run, or before it was installed: outages then are unknown. */
  readonly unwatched?: readonly Interval[] | undefined;
  /** Downtime inside them is planned, of recordings that all matchers match. */
  readonly maintenance?: readonly PlannedWindows[] | undefined;
  /** The number of recordings of a location or camera server, by `groupKey`: of two alerts the larger group's explains. */
  readonly groupSizes?: ReadonlyMap<string, number> | undefined;
}

/**
 * The part of a digest that counts a recording. `down_now`: offline or missing when the digest is made. `down_some`: it
 * was inside the period. `low`: its uptime is below `UP_ALL_THE_TIME` without an outage. `planned`: it was down inside
 * maintenance windows alone. `up`: neither, with evidence. `closed`: outside
 * its schedule throughout. `unknown`: no evidence.
 */
export const digestParts = ["down_now", "down_some", "low", "planned", "up", "closed", "unknown"] as const;
export type DigestPart = (typeof digestParts)[number];

/** One outage in its true length; `lostMs` is its downtime inside the period. */
export interface Outage {
  readonly startsAt: Instant;
  readonly endsAt: Instant | undefined;
  readonly lostMs: number;
  /** The part of its true length that is inside maintenance windows. */
  readonly plannedMs: number;
  /** It ended with the recording online, not by leaving the fleet. */
  readonly recovered: boolean;
}

export interface RecordingDigest {
  readonly id: string;
  readonly name: string;
  readonly part: DigestPart;
  /** The beginning of the downtime of a recording that is down now. */
  readonly downSince: Instant | undefined;
  /** It is down now, and that is no incident of the period: it began later, or has no alert. */
  readonly isAside: boolean;
  readonly uptime: number | undefined;
  /** Downtime inside the period, except while the service was unreachable and outside the schedule. */
  readonly lostMs: number;
  /** Downtime inside maintenance windows: not part of `lostMs`. */
  readonly plannedMs: number;
  /** By cause, with what only the service's figures lack. */
  readonly loss: LossTally;
}

export type Located = { readonly locationId: string; readonly locationName: string };

/** The recordings of one location that belong to one part. */
export interface LocationGroup extends Located {
  /** Over all recordings of the location, whatever part they are in. */
  readonly uptime: number | undefined;
  /** The number of recordings of the location in all parts together. */
  readonly size: number;
  /** The number of them in this part, and their downtime, added up. */
  readonly count: number;
  readonly lostMs: number;
  /** Most downtime first; of a large fleet fewer than `count`, those with trouble (`createListed`). */
  readonly recordings: readonly RecordingDigest[];
}

/** A location as a whole, in the figures of its recordings. */
export interface LocationDigest extends Located {
  readonly uptime: number | undefined;
  /** Uptime of the period before; undefined where figures do not go back so far. */
  readonly uptimeBefore: number | undefined;
  /** Uptime by day, in the order of `Digest.days`; undefined: no figure, or outside the schedule. */
  readonly days: readonly (number | undefined)[];
}

/** Totals of all recordings, and the number of them in each part. */
export interface DigestTotals extends Readonly<Record<DigestPart, number>> {
  readonly recordings: number;
  /** Recordings with downtime. */
  readonly affected: number;
  readonly lostMs: number;
  readonly plannedMs: number;
  readonly loss: LossTally;
  readonly uptime: number | undefined;
  /** Mean time to recovery of the outages that ended inside the period. */
  readonly recoveryMs: number | undefined;
}

/** Totals of the period before; undefined: nothing to compare with. */
export type TotalsBefore = Readonly<Record<"uptime" | "lostMs" | "incidents" | "recoveryMs", number | undefined>>;

export interface Digest {
  readonly now: Instant;
  readonly period: DigestPeriod;
  readonly timezone: string;
  readonly totals: DigestTotals;
  /** Undefined without a period to compare with. */
  readonly before: TotalsBefore | undefined;
  readonly parts: Readonly<Record<DigestPart, readonly LocationGroup[]>>;
  /** `YYYY-MM-DD` of the days shown by location: those of the period, or the week that ends with its day. */
  readonly days: readonly string[];
  /** Lowest uptime first, those without a figure last. */
  readonly locations: readonly LocationDigest[];
  /** Worst first. */
  readonly incidents: readonly DigestIncident[];
  readonly unreachable: readonly Interval[];
  readonly unwatched: readonly Interval[];
  readonly visitWorth?: VisitWorth | undefined;
  /** Windows inside the period. */
  readonly maintenance: readonly Pick<PlannedWindows, "name" | "comment" | "windows">[];
}

/** From this ratio on a recording without an outage counts as up all the time: some segments are always lost. */
export const UP_ALL_THE_TIME = 0.99;
