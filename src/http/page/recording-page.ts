/** `GET /recordings/{id}`: one recording, its alerts and its history. */
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
import { alertCard, type CardContext, plainCard } from "./alert-card.ts";
import { decisionLogSection } from "./decision-log.ts";
import { incidentSection, PERIOD_DAYS } from "./incident-section.ts";
import type { HtmlPage, Mood } from "./layout.ts";
import { homeLink, recordingLink, sameLink } from "./links.ts";
import { type PageData, refreshOf, unreachableNotice } from "./page-data.ts";
import { qualitySection } from "./quality-line.ts";
import type { RecordingQuery } from "./query.ts";
import { locationNameOf, presentOf, recordingNameOf, sinceText } from "./recording-table.ts";
import { badge } from "./status.ts";
import { uptimeDays } from "./uptime-days.ts";
import { uptimeSection } from "./uptime-strip.ts";
import type { Visitor } from "./visitor.ts";
import { agoAt, timeAt } from "./when.ts";
import { zonesInWords } from "./zones.ts";

const INCIDENTS_A_PAGE = 50;
const DECISION_LOG_DAYS = 7;

const ROOT = "../";

const GONE = "There is no watched recording with this id; it may have left the fleet, or the link may be cut off.";

/** The recording with this id. Throws HttpError `not_found` where none is watched. */
export function recordingOf(fleet: FleetSnapshot, id: string): RecordingState {
  const states = fleet.shards.flatMap(({ recordings }) => recordings.get(id) ?? []);
  // While its location moves between shards it can be in both.
  const state = states.sort((a, b) => b.readAt - a.readAt)[0];
  if (state) return state;
  throw new HttpError("not_found", GONE);
}

/** Start of the decision log that is shown. */
export function decisionLogSince(now: Instant): Instant {
  return now - DECISION_LOG_DAYS * 86_400_000;
}

/** Read in addition to the fleet. */
interface RecordingDetails {
  readonly incidents: readonly Incident[];
  /** The decision log of it and its location, oldest first. */
  readonly lines: readonly LogLine[];
  readonly uptime: UptimeKept;
  /** Covered zones, where known. */
  readonly zones: readonly string[];
  readonly visitor: Visitor;
}

export function* recordingPage(
  data: PageData,
  query: RecordingQuery,
  state: RecordingState,
  details: RecordingDetails,
): Generator<void, HtmlPage> {
  const { fleet, moment } = data;
  const { incidents, lines, uptime, zones } = details;
  const { status, timezone, firing } = presentOf(state, fleet);
  const days = uptimeDays(uptime, moment.now, PERIOD_DAYS, timezone);
  const name = nameOf(recordingNameOf(state.id, fleet), state.id);
  const incidentQuery = { limit: INCIDENTS_A_PAGE, recording: state.id, cursor: query.cursor };
  const listing = yield* incidentListing(incidents, incidentQuery, fleet.inventory, moment.now);
  const link = (cursor: string | undefined) => sameLink({ cursor });
  const title = `Decision log of ${DECISION_LOG_DAYS} days`;
  return {
    title: `${TITLES[status]} · ${name}`,
    mood: firing > 0 && status === "online" ? "warn" : MOODS[status],
    root: ROOT,
    path: pathOf(state),
    madeAt: moment.now,
    refresh: refreshOf(query),
    body: html`<div class="lead ${MOODS[status]}"><h1><bdi>${name}</bdi></h1>
<p>${badge(status)} ${sinceText(state, status, timezone, moment)}</p></div>${unreachableNotice(data)}
${alertSection(state, data, details)}
${uptimeSection({ days, timezone, title: `Uptime of the last ${PERIOD_DAYS} days` })}
${qualitySection(uptime.quality, moment.now, timezone)}${facts(state, data, zones)}
${incidentSection(listing, { moment, timezone, isFirst: query.cursor === undefined, link })}
${decisionLogSection(lines, { moment, timezone, title, of: "recording" })}`,
  };
}

const TITLES: Readonly<Record<RecordingStatus, string>> = {
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

function pathOf({ id }: RecordingState): string {
  return recordingLink("./", id).slice(2);
}

function facts(state: RecordingState, { fleet, moment }: PageData, zones: readonly string[]): Markup {
  const recording = fleet.inventory.recording(state.id);
  const { quality, uptime24h, timezone } = presentOf(state, fleet);
  const seen = state.lastSeenAt;
  const location = nameOf(locationNameOf(state, fleet), state.locationId);
  const rows: [string, Markup | string][] = [
    ["Location", html`<a href="${homeLink(ROOT, { location: state.locationId })}"><bdi>${location}</bdi></a>`],
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
  const unknown = html`<span class="soft">not known</span>`;
  return html`<dl>${rows.map(([term, value]) => html`<dt>${term}</dt><dd>${value === "" ? unknown : value}</dd>`)}</dl>`;
}

function scheduleOf(useUploadingSchedule: boolean | undefined): string {
  if (useUploadingSchedule === undefined) return "";
  return useUploadingSchedule ? "records by an uploading schedule" : "records all the time";
}

/** Its own alerts, and those of its location. */
function alertSection(state: RecordingState, data: PageData, details: RecordingDetails): Markup {
  const { id, locationId } = state;
  const shard = data.fleet.shards.find(({ recordings }) => recordings.get(id) === state);
  const context = { ...details, data, root: ROOT, path: pathOf(state) } as const;
  const ofLocation = { ...context, of: "its location" };
  const cards = [
    ...cardsOf("recording", id, state.alerts, context),
    ...cardsOf("location", locationId, shard?.locations.get(locationId)?.alerts, ofLocation),
  ];
  const none = html`<p class="soft">No active alerts.</p>`;
  return html`<section aria-labelledby="alerts"><h2 id="alerts">Alerts</h2>
${cards.length === 0 ? none : html`<ul class="cards">${cards}</ul>`}</section>
`;
}

/** Firing alerts first. A firing one that is not stored as an alert yet has a card without buttons. */
function cardsOf(kind: SubjectKind, id: string, alerts: AlertStates | undefined, context: CardContext): Markup[] {
  return Object.entries(alerts ?? {})
    .sort(([, a], [, b]) => a.state.localeCompare(b.state) || a.startsAt - b.startsAt)
    .map(([ruleId, alert]) => {
      const active = context.data.suppressed.get(alertKey(ruleId, kind, id));
      if (alert.state === "firing" && active) return alertCard(active, context);
      return plainCard(alert, context.data.moment, context.of);
    });
}
