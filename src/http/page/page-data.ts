/** The state that a page shows: the fleet and its alerts at one moment, and a version that changes with it. */
import { isOfLenswatch } from "../../alerting/attention.ts";
import { type Silence, silenceState } from "../../alerting/silence.ts";
import type { Alert } from "../../health/alert.ts";
import { type RecordingStatus, recordingStatuses } from "../../health/recording.ts";
import { GAP_INTERVALS } from "../../health/rhythm.ts";
import { currentStatus, type FleetParts, type FleetSnapshot, type RecordingState } from "../../health/shard-state.ts";
import type { Instant } from "../../lib/clock.ts";
import { withDeadline } from "../../lib/closer.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { cut } from "../../lib/text.ts";
import { span, timesSeenAt } from "../../lib/when.ts";
import { eachRow } from "../../lib/yield.ts";
import type { ActiveAlert, HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { limitsOf } from "../limits.ts";
import { type Moment, timeAt } from "./when.ts";

export interface PageData {
  readonly fleet: FleetSnapshot;
  /** Firing ones. */
  readonly alerts: readonly Alert[];
  /** The same by `key`, with what suppresses them. */
  readonly suppressed: ReadonlyMap<string, ActiveAlert>;
  /** By id, including recently expired ones. */
  readonly silences: ReadonlyMap<string, Silence>;
  readonly moment: Moment;
}

export type PageDataDeps = Pick<HttpDeps, "fleet" | "alerts" | "silences" | "limits">;

/** Throws HttpError `unavailable` where the state cannot be read in time. */
export async function readPageData(deps: PageDataDeps, parts?: FleetParts): Promise<PageData> {
  const reading = Promise.all([deps.fleet(parts), deps.alerts(), deps.silences()]);
  const [fleet, alerts, silences] = await inTime(reading, deps);
  const firing = alerts.filter(({ alert }) => alert.state === "firing");
  return {
    fleet,
    alerts: firing.map(({ alert }) => alert),
    suppressed: new Map(firing.map((active) => [active.alert.key, active])),
    silences: new Map(silences.map((silence) => [silence.id, silence])),
    moment: { now: fleet.now, times: timesSeenAt(fleet.now) },
  };
}

const LATE =
  "The stored state cannot be read in time, Redis may be slow or unreachable: " +
  "the current status of recordings is not known. /readyz says more.";

/** The result of `reading`, or HttpError `unavailable` once it takes too long. */
export function inTime<T>(reading: Promise<T>, deps: Pick<HttpDeps, "limits">): Promise<T> {
  return withDeadline(reading, limitsOf(deps).readMs, () => new HttpError("unavailable", LATE));
}

/** The last good sweep, where no shard has had one for so long that all readings count as unknown; else undefined. */
export function oldSince({ fleet }: Pick<PageData, "fleet">): Instant | undefined {
  const newest = Math.max(0, ...fleet.shards.map(({ sweptAt }) => sweptAt));
  return newest > 0 && fleet.now - newest > GAP_INTERVALS * fleet.statusIntervalMs ? newest : undefined;
}

/** Trouble of lenswatch itself, on every page that shows the state of a part of the fleet: louder than all else. */
export function unreachableNotice(data: PageData): Markup {
  const { alerts, moment } = data;
  const lines = alerts.filter(isOfLenswatch).map((alert) => html`<p>${troubleOf(alert, moment)}</p>`);
  const at = oldSince(data);
  if (at !== undefined) {
    const since = html`${timeAt(at, "UTC", moment)} (${span(at, moment.now)})`;
    lines.push(html`<p>No good reading since ${since}: the alerts shown are the last known ones.</p>`);
  }
  return lines.length === 0 ? nothing : html`<div id="trouble" class="trouble" role="alert">${lines}</div>`;
}

/** Name, subject and start of an alert about lenswatch itself, with its cause where that is known. */
function troubleOf({ subject, labels, annotations, startsAt, facts }: Alert, moment: Moment): Markup {
  const failing = `Notifications to ${labels.receiver ?? ""} by ${labels.integration ?? ""} are failing`;
  const summary = annotations.summary ?? (subject.kind === "service" ? "Part of the service cannot be read" : failing);
  const cause = cut(facts.detail ?? "", 300);
  return html`<strong>${cut(summary, 200)}</strong>, since ${timeAt(startsAt, facts.timezone, moment)}
(${span(startsAt, moment.now)}).${cause === "" ? nothing : html` <bdi>${cause}</bdi>`}`;
}

/**
 * A short text that changes with the shown state, the same at every replica, whatever the order of rows; ages and
 * figures that change all the time do not count. Sums stay below 2^53: a hundred thousand of 32 bits.
 */
export function* versionOf({ fleet, suppressed, silences, moment }: PageData): Generator<void, string> {
  let [recordings, states] = [0, 0];
  for (const shard of fleet.shards) {
    recordings += shard.recordings.size;
    yield* eachRow(shard.recordings.values(), (state) => {
      states = (states + markOf(state, currentStatus(state, fleet.now, fleet.statusIntervalMs))) | 0;
    });
    yield;
  }
  let alerts = 0;
  yield* eachRow(suppressed.values(), (active) => {
    alerts += textSum(suppressionText(active));
  });
  for (const silence of silences.values()) {
    alerts += textSum(`${silence.id} ${silence.updatedAt} ${silenceState(silence, moment.now)}`);
  }
  return [recordings, states >>> 0, suppressed.size, alerts >>> 0].map((n) => n.toString(36)).join("-");
}

/** A number of 32 bits that differs where a status, its start or the number of pending alerts differs. */
function markOf({ since, alerts }: RecordingState, status: RecordingStatus): number {
  const pending = alerts ? Object.values(alerts).filter(({ state }) => state === "pending").length : 0;
  let mark = Math.imul(since % 0x7fffffff, 0x01000193) ^ Math.floor(since / 0x7fffffff);
  mark = Math.imul(mark ^ (recordingStatuses.indexOf(status) + 1), 0x01000193);
  mark = Math.imul(mark ^ (mark >>> 15) ^ pending, 0x2c1b3c6d);
  return mark ^ (mark >>> 13);
}

function suppressionText({ alert, silencedBy, inhibitedBy, mutedBy, maintenance, ...acks }: ActiveAlert): string {
  const ack = JSON.stringify(acks.acknowledgement ?? [acks.endedAcknowledgement]);
  const suppressions = [silencedBy, inhibitedBy, mutedBy].map((ids = []) => ids.toSorted().join());
  return [alert.id, ...suppressions, maintenance?.by, maintenance?.until, ack, alert.facts.paused ? "paused" : ""].join(
    "|",
  );
}

/** FNV-1a, 32 bits. */
function textSum(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
