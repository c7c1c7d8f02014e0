/** `GET /recordings/{id}`: one recording, its alerts, and what befell it in the last 30 days. */
import type { LogLine } from "../../alerting/decision-log.ts";
import { alertKey, type SubjectKind } from "../../health/alert.ts";
import type { RecordingStatus } from "../../health/recording.ts";
import type { AlertStates, FleetSnapshot, RecordingState } from "../../health/shard-state.ts";
import type { Instant } from "../../lib/clock.ts";
import { nameOf, percent } from "../../lib/format.ts";
import { html, type Markup } from "../../lib/markup.ts";
import type { UptimeKept } from "../../poll/uptime-reader.ts";
import type { Incident } from "../../store/incidents.ts";
import { HttpError } from "../errors.ts";
import { incidentListing } from "../v1/incidents.ts";
import { alertCard, type CardPlace, plainCard } from "./alert-card.ts";
import { decisionLogSection } from "./decision-log.ts";
import { incidentSection, PERIOD_DAYS } from "./incident-section.ts";
import type { Mood, Page } from "./layout.ts";
import { homeLink, recordingLink, sameLink } from "./links.ts";
import { type PageData, refreshOf, unreachableNotice } from "./page-data.ts";
import { qualitySection } from "./quality-line.ts";
import type { RecordingQuery } from "./query.ts";
import { locationNameOf, presentOf, recordingNameOf, sinceOf } from "./recording-table.ts";
import { badge } from "./status.ts";
import { uptimeDays } from "./uptime-days.ts";
import { uptimeSection } from "./uptime-strip.ts";
import type { Visitor } from "./visitor.ts";
import { agoAt, timeAt } from "./when.ts";
import { zonesInWords } from "./zones.ts";

const INCIDENTS_A_PAGE = 50;
const DECISION_LOG_DAYS = 7;

const ROOT = "../";

/** The recording with this id. Throws HttpError `not_found` where none is watched. */
export function recordingOf(fleet: FleetSnapshot, id: string): RecordingState {
  const states = fleet.shards.flatMap(({ recordings }) => recordings.get(id) ?? []);
  // While its location moves between shards it can stand in both.
  const state = states.sort((a, b) => b.readAt - a.readAt)[0];
  if (state) return state;
  throw new HttpError(
    "not_found",
    "There is no watched recording with this id; it may have left the fleet, or the link may be cut off.",
  );
}

/** From when on its story is told. */
export function decisionLogSince(now: Instant): Instant {
  return now - DECISION_LOG_DAYS * 86_400_000;
}

/** What was read beside the fleet. */
export interface Seen {
  readonly incidents: readonly Incident[];
  /** What was decided about it and its location, oldest first. */
  readonly lines: readonly LogLine[];
  readonly uptime: UptimeKept;
  /** Those it covers, as far as they are known. */
  readonly zones: readonly string[];
  readonly visitor: Visitor;
}

export function* recordingPage(
  data: PageData,
  query: RecordingQuery,
  state: RecordingState,
  { incidents, lines, uptime, zones, visitor }: Seen,
): Generator<void, Page> {
  const { fleet, moment } = data;
  const present = presentOf(state, fleet);
  const { timezone } = present;
  const days = uptimeDays(uptime, moment.now, PERIOD_DAYS, timezone);
  const link = (cursor: string | undefined) => sameLink({ cursor });
  const name = nameOf(recordingNameOf(state.id, fleet), state.id);
  const page = yield* incidentListing(
    incidents,
    { limit: INCIDENTS_A_PAGE, recording: state.id, cursor: query.cursor },
    fleet.inventory,
    moment.now,
  );
  const decisionLog = decisionLogSection(lines, {
    moment,
    timezone,
    title: `What was decided in ${DECISION_LOG_DAYS} days, and why`,
    of: "recording",
  });
  return {
    title: `${SAID[present.status]} · ${name}`,
    mood: present.firing > 0 && present.status === "online" ? "warn" : MOODS[present.status],
    root: ROOT,
    path: recordingLink("./", state.id).slice(2),
    madeAt: moment.now,
    refresh: refreshOf(query),
    body: html`<div class="lead ${MOODS[present.status]}"><h1><bdi>${name}</bdi></h1>
<p>${badge(present.status)} ${sinceOf(state, present.status, timezone, moment)}</p></div>${unreachableNotice(data)}
${alertSection(state, data, visitor, lines)}${uptimeSection({ days, timezone, title: `Uptime of the last ${PERIOD_DAYS} days` })}${qualitySection(uptime.quality, moment.now, timezone)}${facts(state, data, zones)}${incidentSection(page, { moment, timezone, isFirst: query.cursor === undefined, link })}${decisionLog}`,
  };
}

const SAID: Readonly<Record<RecordingStatus, string>> = {
  offline: "Offline",
  unknown: "? Unknown",
  degraded: "Degraded",
  online: "Online",
};

const MOODS: Readonly<Record<RecordingStatus, Mood>> = {
  offline: "bad",
  unknown: "unknown",
  degraded: "warn",
  online: "good",
};

function facts(state: RecordingState, { fleet, moment }: PageData, zones: readonly string[]): Markup {
  const recording = fleet.inventory.recording(state.id);
  const { quality, uptime24h, timezone } = presentOf(state, fleet);
  const seen = state.lastSeenAt;
  const place = nameOf(locationNameOf(state, fleet), state.locationId);
  const rows: [string, Markup | string][] = [
    ["Location", html`<a href="${homeLink(ROOT, { location: state.locationId })}"><bdi>${place}</bdi></a>`],
    ["Last seen", seen === undefined ? "" : html`${timeAt(seen, timezone, moment)}, ${agoAt(seen, moment)}`],
    ["Quality", percent(quality)],
    ["Uptime 24 h", percent(uptime24h)],
    ["Zones", zones.length === 0 ? "" : zonesInWords(zones)],
    ["Camera server", html`<bdi>${nameOf(recording?.cameraServer ?? "", "not known")}</bdi>`],
    ["Organisation", html`<bdi>${nameOf(recording?.organisation ?? "", "not known")}</bdi>`],
    ["Schedule", scheduleOf(recording?.useUploadingSchedule)],
    ["Time zone", nameOf(timezone, "UTC")],
    ["Id", html`<bdi>${nameOf(state.id, "", 256)}</bdi>`],
  ];
  return html`<dl>${rows.map(([term, value]) => html`<dt>${term}</dt><dd>${value === "" ? html`<span class="soft">not known</span>` : value}</dd>`)}</dl>`;
}

function scheduleOf(useUploadingSchedule: boolean | undefined): string {
  if (useUploadingSchedule === undefined) return "";
  return useUploadingSchedule ? "records by an uploading schedule" : "records all the time";
}

/** Its own alerts, and those of its location as a whole. */
function alertSection(
  state: RecordingState,
  data: PageData,
  visitor: Visitor,
  lines: readonly LogLine[],
): Markup {
  const { fleet } = data;
  const shard = fleet.shards.find(({ recordings }) => recordings.get(state.id) === state);
  const path = recordingLink("./", state.id).slice(2);
  const place = { data, root: ROOT, visitor, path, lines } as const;
  const cards = [
    ...cardsOf({ kind: "recording", id: state.id }, state.alerts, place),
    ...cardsOf({ kind: "location", id: state.locationId }, shard?.locations.get(state.locationId)?.alerts, {
      ...place,
      of: "its location",
    }),
  ];
  const none = html`<p class="soft">None fires, none is pending.</p>`;
  return html`<section aria-labelledby="alerts"><h2 id="alerts">Alerts</h2>${cards.length === 0 ? none : html`<ul class="cards">${cards}</ul>`}</section>
`;
}

/** Those that fire first. What fires and is not remembered as an alert yet is shown by what is known of it. */
function cardsOf(
  { kind, id }: { readonly kind: SubjectKind; readonly id: string },
  alerts: AlertStates | undefined,
  place: CardPlace,
): Markup[] {
  return Object.entries(alerts ?? {})
    .sort(([, a], [, b]) => a.state.localeCompare(b.state) || a.startsAt - b.startsAt)
    .map(([ruleId, alert]) => {
      const active = place.data.suppressed.get(alertKey(ruleId, kind, id));
      if (alert.state === "firing" && active) return alertCard(active, place);
      return plainCard(alert, place.data.moment, place.of);
    });
}
