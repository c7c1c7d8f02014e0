/** `GET /alerts/{fingerprint}`: one alert while it fires, and after its end. */

import { NOTE_CHARACTERS } from "../../alerting/acknowledgement.ts";
import { attentionTo } from "../../alerting/attention.ts";
import type { LogLine } from "../../alerting/decision-log.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import { toneOf } from "../../alerting/tone.ts";
import { type VisitWorth, visitsWords } from "../../alerting/uncounted.ts";
import type { Alert } from "../../health/alert.ts";
import { tallyOf } from "../../health/shard-overview.ts";
import type { FleetSnapshot, RecordingState } from "../../health/shard-state.ts";
import { counted, nameOf, nameWithin } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { capital, cut, webHref } from "../../lib/text.ts";
import { span } from "../../lib/when.ts";
import type { StoredEpisode } from "../../store/episodes.ts";
import type { ActiveAlert } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { episodeListing } from "../v1/episodes.ts";
import { actions, alertCard, alertForm, type CardContext, noteOf, stateLines } from "./alert-card.ts";
import { alertHeading, alertTitle, classOf, headingOf, subjectOf } from "./alert-table.ts";
import { inputField, optionsOf } from "./field.ts";
import { groupPlaces } from "./group-places.ts";
import { decisionLogSection, endWords, episodeTable, PERIOD_DAYS } from "./history.ts";
import type { HtmlPage } from "./layout.ts";
import { alertPageLink, homeLink, recordingLink } from "./links.ts";
import { firstOf } from "./listing.ts";
import { type PageData, statesAt } from "./page-data.ts";
import { linkOf, presentRecording, recordingNameOf, recordingSortKey, sinceText } from "./recording-table.ts";
import { countBadges, statusBadges } from "./summary.ts";
import type { Visitor } from "./visitor.ts";
import { BRIEF_MS, knownZone, sinceAt, timeAt } from "./when.ts";

const ROOT = "../";

const NEIGHBOURS_SHOWN = 12;
const OTHERS_SHOWN = 6;
const EARLIER_SHOWN = 20;

/** The firing alerts with this fingerprint, usually one; none after their end. */
export function alertsOf(print: string, { alerts, suppressed }: PageData): ActiveAlert[] {
  const found = alerts.filter(({ labels }) => fingerprint(labels) === print);
  return found.flatMap(({ key }) => suppressed.get(key) ?? []);
}

interface AlertHistory {
  /** The decision log of its subject since it began, oldest first. */
  readonly lines: readonly LogLine[];
  /** At least those of 30 days. */
  readonly episodes: readonly StoredEpisode[];
  readonly worth: VisitWorth | undefined;
}

type AlertDetails = AlertHistory & {
  /** The shard of its location; none for an alert of no location. */
  readonly shard: FleetSnapshot;
};

/** `active` have the same fingerprint; the page is about the first. */
export function alertPage(
  active: readonly ActiveAlert[],
  data: PageData,
  visitor: Visitor,
  { lines, episodes, worth, shard }: AlertDetails,
): HtmlPage {
  const [first, ...others] = active;
  if (!first) throw new Error("an alert's page without an alert");
  const { alert } = first;
  const { subject, labels, facts } = alert;
  const { moment } = data;
  const print = fingerprint(labels);
  const tone = toneOf(active.map((one) => [one.alert, attentionTo(one)]));
  const path = `alerts/${print}`;
  const context: CardContext = { data, root: ROOT, visitor, path, lines };
  const heading = alertHeading(alert);
  const isBrief = moment.now - alert.startsAt < BRIEF_MS;
  const since = sinceAt(alert.startsAt, facts.timezone, moment, isBrief);
  const own = lines.filter(({ ruleId }) => ruleId === undefined || ruleId === alert.ruleId);
  const cards = others.map((one) => html`<ul class="cards">${alertCard(one, context)}</ul>`);
  const earlier = episodes.filter((one) => one.fingerprint === print && one.id !== alert.id);
  const { uncounted } = episodes.find(({ id }) => id === alert.id) ?? {};
  return {
    title: heading,
    tone,
    path,
    body: html`<div class="lead ${tone}"><h1><bdi>${heading}</bdi></h1>
<p>Since ${since} <small>${classOf(alert)} · firing</small></p></div>
${actionRow(first, print, context)}
<section aria-labelledby="facts"><h2 id="facts" class="hidden">What is known</h2><div class="panel facts">
<p>${subjectOf(alert, ROOT)}</p>${noteOf(alert)}${costLine(visitsWords(uncounted, worth, true))}${stateLines(first, context)}</div></section>${cards}
${groupPlaces(alert, data, ROOT)}${neighbours(alert, data, shard)}${earlierSection(earlier, facts.timezone, data)}
${decisionLogSection(own, { moment, timezone: facts.timezone, title: "Decision log", of: subject.kind })}${labelList(alert)}`,
  };
}

const NOT_KNOWN = "No alert with this fingerprint fires or is remembered: the link may be cut off.";

/** The latest episode with this fingerprint. Throws HttpError `not_found` where none is stored. */
export function endedAlert(print: string, episodes: readonly StoredEpisode[]): StoredEpisode {
  const own = episodes.filter((one) => one.fingerprint === print);
  const [latest] = own.sort((a, b) => b.startsAt - a.startsAt);
  if (latest) return latest;
  throw new HttpError("not_found", NOT_KNOWN);
}

/** After its end: how it ended, how long it lasted, and the decisions about it. */
export function endedAlertPage(
  ended: StoredEpisode,
  data: PageData,
  { lines, episodes, worth }: AlertHistory,
): HtmlPage {
  const { moment, fleet } = data;
  const {
    subject,
    alertname,
    problem,
    startsAt,
    endsAt = moment.now,
    endReason = null,
    planned = null,
    locationId,
    uncounted,
  } = ended;
  const { inventory } = fleet;
  const recording = subject.kind === "recording" ? inventory.recording(subject.id)?.name || subject.id : undefined;
  const location = locationId === undefined ? undefined : inventory.location(locationId)?.name || locationId;
  const heading = headingOf({ kind: subject.kind, recording, location, alertname, problem });
  const timezone = knownZone(inventory.recording(subject.id)?.timezone, inventory.location(locationId ?? "")?.timezone);
  const isBrief = endsAt - startsAt < BRIEF_MS;
  const [began, over] = [startsAt, endsAt].map((at) => timeAt(at, timezone, moment, isBrief));
  const tone = endReason === "recovered" ? "good" : "unknown";
  const end = capital(endWords({ endReason, planned }) || "over");
  const links = [
    ...(recording === undefined ? [] : [html`<a href="${recordingLink(ROOT, subject.id)}">The recording</a> `]),
    ...(locationId === undefined ? [] : [html`<a href="${homeLink(ROOT, { location: locationId })}">The location</a>`]),
  ];
  const same = episodes.filter((one) => one.fingerprint === ended.fingerprint && one.id !== ended.id);
  const own = lines.filter(({ ruleId, at }) => (ruleId === undefined ? at <= endsAt : ruleId === ended.ruleId));
  return {
    title: `${end} · ${heading}`,
    tone,
    path: `alerts/${ended.fingerprint}`,
    body: html`<div class="lead ${tone}"><h1><bdi>${heading}</bdi></h1>
<p>${end} ${over ?? nothing}, lasted ${span(startsAt, endsAt)}; began ${began ?? nothing}
<small>${nameOf(alertname, "alert", 80)}</small></p>${costLine(visitsWords(uncounted, worth))}</div><p class="pager">${links}</p>
${decisionLogSection(own, { moment, timezone, title: "Decision log", of: subject.kind })}
${earlierSection(same, timezone, data)}`,
  };
}

/** `About 310 visits uncounted (260–370)`: of the whole location. */
function costLine(words: string): Markup {
  return words === "" ? nothing : html`<p class="soft">${capital(words)}</p>`;
}

/** The buttons of the alert, the first thing on the page; then the fields of what is said with them. */
function actionRow(active: ActiveAlert, print: string, context: CardContext): Markup {
  const buttons = actions(active, context, { more: linksOf(active.alert) });
  if (context.visitor.formToken === undefined) return buttons;
  return html`${buttons}
${active.acknowledgement ? noteForm(print, context) : acknowledgementFields()}`;
}

const DURATIONS = [
  ["", "until it resolves"],
  ["1h", "for 1 hour"],
  ["4h", "for 4 hours"],
  ["1d", "for 1 day"],
] as const;

/** Fields of the form of the button above. */
function acknowledgementFields(): Markup {
  const comment = inputField("comment", "Comment", undefined, {
    attributes: html` form="ack" maxlength="1000" autocomplete="off"`,
  });
  const short = (name: string, label: string, placeholder: string) =>
    inputField(name, label, undefined, {
      attributes: html` form="ack" maxlength="40" placeholder="${placeholder}" autocomplete="off"`,
    });
  return html`<details id="ack-fields"><summary>Acknowledge for somebody, with an ETA, a comment, or for a time</summary>
<div class="sheet beside">${short("owner", "Who has it", "you")}${short("eta", "ETA", "09:00, or 2h")}${comment}<div class="field"><label for="for">How long</label>
<select id="for" name="for" form="ack">${optionsOf(DURATIONS)}</select></div>
<button form="ack">Acknowledge</button></div></details>`;
}

function noteForm(print: string, context: CardContext): Markup {
  const text = inputField("text", "Note", undefined, {
    attributes: html` required maxlength="${NOTE_CHARACTERS}" autocomplete="off"`,
  });
  const fields = html`<div class="sheet beside">${text}<button>Add the note</button></div>`;
  return html`<details id="note-fields"><summary>Add a note</summary>${alertForm("note", print, context, fields)}</details>`;
}

/** The alert's own links; only http and https ones. */
function linksOf({ annotations, facts }: Alert): Markup[] {
  const all = { Runbook: annotations.runbook_url, Source: facts.generatorUrl };
  return Object.entries(all).flatMap(([words, text]) => {
    const href = webHref(text);
    return href ? [html` <a class="button" href="${href}" rel="noreferrer noopener">${words}</a>`] : [];
  });
}

/** The other recordings of its location, and what else fires there. */
function neighbours(alert: Alert, data: PageData, fleet: FleetSnapshot): Markup {
  const { moment } = data;
  const { location_id: id = "", location = "" } = alert.labels;
  const states = statesAt(fleet, id).filter((one) => one.id !== alert.labels.recording_id);
  if (id === "" || states.length === 0) return nothing;
  const key = (state: RecordingState) => recordingSortKey(state, fleet);
  const sorted = states.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)).slice(0, NEIGHBOURS_SHOWN);
  const items = sorted.map((state) => {
    const { status, timezone } = presentRecording(state, fleet);
    const name = nameOf(nameWithin(recordingNameOf(state.id, fleet), location), state.id);
    return html`<li>${statusBadges(state, status)} <a href="${linkOf(state, fleet, ROOT)}"><bdi>${name}</bdi></a>
<small>${sinceText(state, status, timezone, moment)}</small></li>`;
  });
  const left = states.length - sorted.length;
  const here = homeLink(ROOT, { location: id });
  const more = html`<p><a href="${here}">${counted(left, "more recording")}</a></p>`;
  const title = alert.labels.recording_id === undefined ? "Recordings" : "Other recordings";
  return html`<section aria-labelledby="neighbours"><h2 id="neighbours">${title} of
<a href="${here}"><bdi>${nameOf(location, id)}</bdi></a></h2><div class="panel"><p>${countBadges(tallyOf(states, fleet))}</p>
<ul class="neighbours">${items}</ul>${left === 0 ? nothing : more}${othersHere(alert, id, data)}</div></section>`;
}

function othersHere(alert: Alert, id: string, { alerts }: PageData): Markup {
  const here = alerts.filter(({ labels, key }) => labels.location_id === id && key !== alert.key);
  if (here.length === 0) return nothing;
  const named = firstOf(here, OTHERS_SHOWN, (one) => {
    const { recording, location: around = "" } = one.labels;
    const at = recording === undefined ? "" : ` (${nameOf(nameWithin(recording, around), "")})`;
    return html`<a href="${alertPageLink(ROOT, fingerprint(one.labels))}"><bdi>${alertTitle(one)}${at}</bdi></a>`;
  });
  return html`<p>Also firing here: ${named}.</p>`;
}

function earlierSection(episodes: readonly StoredEpisode[], timezone: string, { fleet, moment }: PageData): Markup {
  const { items, total } = episodeListing(episodes, { limit: EARLIER_SHOWN }, fleet.inventory, moment.now);
  if (total === 0) return nothing;
  const caption = "Other times that it fired, the newest first";
  const table = episodeTable(items, { moment, timezoneOf: () => timezone, root: ROOT, caption, withPlace: false });
  return html`<section aria-labelledby="earlier"><h2 id="earlier">${counted(total, "other time")} in the last
${PERIOD_DAYS} days</h2>${table}</section>`;
}

function labelList({ labels }: Alert): Markup {
  const rows = Object.entries(labels).map(
    ([name, value]) => html`<dt><bdi>${cut(name, 80)}</bdi></dt><dd><bdi>${cut(value, 300)}</bdi></dd>`,
  );
  return html`<details id="labels"><summary>Labels</summary><dl>${rows}</dl></details>`;
}
