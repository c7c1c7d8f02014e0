/** `GET /recordings/{id}`: one recording, its alerts and its history. */

import { ratedIn } from "../../alerting/overview.ts";
import { countsTone, toneOf, worstTone } from "../../alerting/tone.ts";
import { alertKey, type SubjectKind } from "../../health/alert.ts";
import type { AlertStates } from "../../health/alert-machine.ts";
import { contactLine, groupNameIn } from "../../health/directory.ts";
import { recordingLabels } from "../../health/recording-evaluator.ts";
import { GAP_INTERVALS } from "../../health/rhythm.ts";
import { tallyOf } from "../../health/shard-overview.ts";
import type { FleetSnapshot, RecordingState } from "../../health/shard-state.ts";
import type { Instant } from "../../lib/clock.ts";
import { nameOf, percent } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { capital } from "../../lib/text.ts";
import type { UptimeKept } from "../../poll/uptime-reader.ts";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { episodeListing } from "../v1/episodes.ts";
import { alertCard, type CardContext, plainCard } from "./alert-card.ts";
import { qualitySection, thresholdsOf, uptimeSection } from "./charts.ts";
import { DECISION_LOG_DAYS, decisionLogSection, episodeSection, historySince, PERIOD_DAYS } from "./history.ts";
import type { HtmlPage } from "./layout.ts";
import { homeLink, type RecordingQuery, sameLink, silenceButton } from "./links.ts";
import { section } from "./listing.ts";
import { inTime, type PageData, readShardOf } from "./page-data.ts";
import {
  linkOf,
  locationNameOf,
  presentRecording,
  recordingNameOf,
  sinceText,
  zonesInWords,
} from "./recording-table.ts";
import { statusBadges } from "./summary.ts";
import { uptimeDays, withPlanned, withRecalled } from "./uptime-days.ts";
import type { Visitor } from "./visitor.ts";
import { agoAt, timeAt } from "./when.ts";

const EPISODES_A_PAGE = 50;

const ROOT = "../";

const GONE = "There is no watched recording with this id; it may have left the fleet, or the link may be cut off.";

/** The recording with this id, in the shard of its location. Throws HttpError `not_found` where none is watched. */
export async function readRecording(id: string, at: string | undefined, data: PageData, deps: HttpDeps) {
  const { fleet, alerts } = data;
  // Where its name is not known, the link or an alert says where it is.
  const locationId =
    fleet.inventory.recording(id)?.locationId ??
    at ??
    alerts.find(({ labels }) => labels.recording_id === id)?.labels.location_id;
  const shard = await readShardOf(locationId ?? "", data, deps);
  const state = shard.shards.flatMap(({ recordings }) => recordings.get(id) ?? [])[0];
  if (state) return { state, shard };
  throw new HttpError("not_found", GONE);
}

/** The histories of a recording. Throws HttpError `unavailable` where these cannot be read in time. */
export async function recordingDetails(state: RecordingState, shard: FleetSnapshot, now: Instant, deps: HttpDeps) {
  const { id, locationId } = state;
  const { timezone } = presentRecording(state, shard);
  const subjects = [
    { kind: "recording", id },
    { kind: "location", id: locationId },
  ] as const;
  const since = historySince(now);
  const reading = Promise.all([
    deps.episodes(since.episodes),
    deps.timeline(subjects, since.decisions),
    uptimeOf(id, timezone, deps),
    deps.zones([locationId]),
  ]);
  const [episodes, lines, uptime, zonesOf] = await inTime(reading, deps);
  const { rules, maintenance } = deps.config();
  const zones = zonesOf.get(locationId)?.get(id) ?? [];
  return { state, shard, episodes, lines, uptime, thresholds: thresholdsOf(rules), maintenance, zones };
}

async function uptimeOf(id: string, zone: string, deps: HttpDeps): Promise<UptimeKept> {
  const kept = (await deps.uptimes([id])).get(id);
  const { timezone = zone } = kept ?? {};
  return withRecalled(kept, await deps.recallUptime(id, timezone), timezone);
}

type RecordingDetails = Awaited<ReturnType<typeof recordingDetails>> & { readonly visitor: Visitor };

export function recordingPage(data: PageData, query: RecordingQuery, details: RecordingDetails): HtmlPage {
  const { fleet, moment } = data;
  const { state, shard, episodes, lines, uptime, thresholds } = details;
  const { status, timezone } = presentRecording(state, shard);
  const labels = recordingLabels(state.id, state.locationId, fleet.inventory);
  const own = data.alerts.filter((one) => one.labels.recording_id === state.id);
  const tone = worstTone([toneOf(ratedIn(data, own)), countsTone(tallyOf([state], shard).counts)]);
  const known = uptimeDays(uptime, moment.now, PERIOD_DAYS, timezone);
  const days = withPlanned(known, moment.now, [labels], details.maintenance);
  const name = nameOf(recordingNameOf(state.id, shard), state.id);
  const episodeQuery = { limit: EPISODES_A_PAGE, recording: state.id, cursor: query.cursor };
  const listing = episodeListing(episodes, episodeQuery, fleet.inventory, moment.now);
  const link = (cursor: string | undefined) => sameLink({ cursor });
  const title = `Decision log of ${DECISION_LOG_DAYS} days`;
  return {
    title: `${status === "unknown" ? "? " : ""}${capital(status)} · ${name}`,
    tone,
    path: pathOf(details),
    body: html`<div class="lead ${tone}"><h1><bdi>${name}</bdi></h1>
<p>${statusBadges(state, status)} ${sinceText(state, status, timezone, moment)}</p>
${status === "unknown" ? html`<p>${whyUnknown(details)}</p>` : nothing}${silenceButton(ROOT, "recording", state.id)}</div>
${alertSection(data, details)}
${uptimeSection(days, timezone, thresholds.uptime)}
${qualitySection(uptime.quality, moment.now, timezone, thresholds.quality)}${facts(details, data)}
${episodeSection(listing, { moment, timezone, link, root: ROOT, withPlace: false })}
${decisionLogSection(lines, { moment, timezone, title, of: "recording" })}`,
  };
}

/** The reason why its status is not known, where its location is read: the banner has the others. */
function whyUnknown({ state, shard: { shards, now, statusIntervalMs } }: RecordingDetails): string {
  const oldest = now - GAP_INTERVALS * statusIntervalMs;
  if ((shards[0]?.sweptAt ?? 0) < oldest) return "";
  return state.absentSince === undefined || state.absentSince >= oldest
    ? "The service lists it, but what it says of it cannot be read."
    : "The service lists it no more.";
}

function pathOf({ state, shard }: RecordingDetails): string {
  return linkOf(state, shard, "./").slice(2);
}

function facts({ state, shard, zones }: RecordingDetails, { moment }: PageData): Markup {
  const recording = shard.inventory.recording(state.id);
  const { quality, uptime24h, timezone } = presentRecording(state, shard);
  const named = (group = "") => nameOf(groupNameIn(shard.inventory, group), "not known");
  const contact = contactLine(shard.inventory.shop?.(state.locationId)?.contacts ?? []);
  const seen = state.lastSeenAt;
  const location = nameOf(locationNameOf(state, shard), state.locationId);
  const rows: [string, Markup | string][] = [
    ["Location", html`<a href="${homeLink(ROOT, { location: state.locationId })}"><bdi>${location}</bdi></a>`],
    ...(contact === "" ? [] : [["Contact", html`<bdi>${contact}</bdi>`] as [string, Markup]]),
    ["Last seen", seen === undefined ? "" : html`${timeAt(seen, timezone, moment)}, ${agoAt(seen, moment)}`],
    ["Quality", percent(quality)],
    ["Uptime 24 h", percent(uptime24h)],
    ["Zones", zones.length === 0 ? "" : zonesInWords(zones)],
    ["Camera server", html`<bdi>${named(recording?.cameraServer)}</bdi>`],
    ["Organisation", html`<bdi>${named(recording?.organisation)}</bdi>`],
    ["Schedule", scheduleOf(recording?.useUploadingSchedule)],
    ["Time zone", nameOf(timezone, "UTC")],
  ];
  const ids: [string, string | undefined][] = [
    ["Id", state.id],
    ["Id of the location", state.locationId],
    ["Id of the camera server", recording?.cameraServer],
    ["Id of the organisation", recording?.organisation],
  ];
  const written = (all: readonly (readonly [string, Markup | string])[]) =>
    html`<dl>${all.map(([term, value]) => html`<dt>${term}</dt><dd>${value === "" ? UNKNOWN : value}</dd>`)}</dl>`;
  const details = ids.map(([term, id = ""]) => [term, id && html`<bdi>${nameOf(id, "", 256)}</bdi>`] as const);
  return html`${written(rows)}<details id="ids"><summary>Details</summary>${written(details)}</details>`;
}

const UNKNOWN = html`<span class="soft">not known</span>`;

function scheduleOf(useUploadingSchedule: boolean | undefined): string {
  if (useUploadingSchedule === undefined) return "";
  return useUploadingSchedule ? "records by an uploading schedule" : "records all the time";
}

function alertSection(data: PageData, details: RecordingDetails): Markup {
  const { state, shard } = details;
  const { id, locationId } = state;
  const location = shard.shards[0]?.locations.get(locationId);
  const context = { ...details, data, root: ROOT, path: pathOf(details) } as const;
  const ofLocation = { ...context, of: "its location" };
  const cards = [
    ...cardsOf("recording", id, state.alerts, context),
    ...cardsOf("location", locationId, location?.alerts, ofLocation),
  ];
  const none = html`<p class="soft">No active alerts.</p>`;
  return section("alerts", "Alerts", cards.length === 0 ? none : html`<ul class="cards">${cards}</ul>`);
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
