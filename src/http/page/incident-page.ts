/** `GET /incidents/{id}`: one incident, with its alerts, what was decided and done, and its buttons while it is open. */

import type { LogLine } from "../../alerting/decision-log.ts";
import { findIncident, type Incident, incidentsOf, widestSubjects } from "../../alerting/incident.ts";
import { causePhrase } from "../../alerting/incident-cause.ts";
import { incidentPlaces, incidentTitle, subjectName } from "../../alerting/incident-words.ts";
import { attentionIn, entriesOf } from "../../alerting/overview.ts";
import { type VisitWorth, visitsWords } from "../../alerting/uncounted.ts";
import { DAY_MS, type Instant } from "../../lib/clock.ts";
import { counted, nameOf } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { span } from "../../lib/when.ts";
import type { StoredEpisode } from "../../store/episodes.ts";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { episodeListing } from "../v1/episodes.ts";
import { incidentButtons } from "./board.ts";
import { decisionLogSection, episodeTable } from "./history.ts";
import { incidentZone } from "./incidents-page.ts";
import type { HtmlPage } from "./layout.ts";
import { section } from "./listing.ts";
import { inTime, namesIn, type PageData, unreachableNotice } from "./page-data.ts";
import { formToken, type Visitor } from "./visitor.ts";
import { BRIEF_MS, timeAt } from "./when.ts";

const ROOT = "../";
const EPISODES_SHOWN = 100;
/** Episodes are stored for so many days; most links are to newer incidents. */
const SEARCHED_DAYS = [2, 90];
/** Messages about the end come after it. */
const AFTER_MS = 600_000;
/** Subjects whose decisions are shown, the widest first. */
const SUBJECTS_SHOWN = 12;

interface IncidentDetails {
  readonly incident: Incident<StoredEpisode>;
  readonly lines: readonly LogLine[];
  readonly worth: VisitWorth | undefined;
}

/** Throws HttpError `not_found` where no incident has or had this id. */
export async function readIncident(
  id: string,
  { moment: { now } }: PageData,
  deps: HttpDeps,
): Promise<IncidentDetails> {
  for (const days of SEARCHED_DAYS) {
    const incident = findIncident(incidentsOf(await inTime(deps.episodes(now - days * DAY_MS), deps)), id);
    if (!incident) continue;
    const lines = await inTime(deps.timeline(widestSubjects(incident, SUBJECTS_SHOWN), incident.startsAt - 1), deps);
    return {
      incident,
      lines: lines.filter(({ at }) => at <= (incident.endsAt ?? now) + AFTER_MS),
      worth: deps.config().counts,
    };
  }
  throw new HttpError("not_found", "No incident of the last 90 days has this id: the link may be cut off.");
}

export function incidentPage({ incident, lines, worth }: IncidentDetails, data: PageData, visitor: Visitor): HtmlPage {
  const { moment, fleet } = data;
  const { id, startsAt, endsAt, episodes } = incident;
  const title = incidentTitle(incident, namesIn(data));
  const zone = incidentZone(incident, data);
  const isBrief = (endsAt ?? moment.now) - startsAt < BRIEF_MS;
  const at = (instant: Instant) => timeAt(instant, zone, moment, isBrief);
  const lasted = span(startsAt, endsAt ?? moment.now);
  const when =
    endsAt === undefined ? html`Since ${at(startsAt)} (${lasted})` : html`${at(startsAt)} to ${at(endsAt)}, ${lasted}`;
  const places = incidentPlaces(incident, namesIn(data));
  const { items, total } = episodeListing(episodes, { limit: EPISODES_SHOWN }, fleet.inventory, moment.now);
  const timezoneOf = () => zone;
  const table = episodeTable(items, {
    moment,
    timezoneOf,
    root: ROOT,
    caption: "Alerts of the incident",
    withPlace: true,
  });
  const more =
    total > items.length ? html`<p class="soft">and ${counted(total - items.length, "older alert")}</p>` : nothing;
  return {
    title: `${id} · ${title}`,
    mood: endsAt === undefined ? "bad" : "good",
    here: "incidents",
    path: `incidents/${id}`,
    refresh: endsAt === undefined ? "on" : "never",
    body: html`<div class="lead ${endsAt === undefined ? "bad" : "good"}"><h1><bdi>${title}</bdi></h1>
<p>${when} <small>incident ${id} · ${endsAt === undefined ? "open" : "over"}</small></p></div>
${unreachableNotice(data)}${buttons(incident, data, visitor)}
<section aria-labelledby="facts"><h2 id="facts" class="hidden">What is known</h2><div class="panel facts">
${places === "" ? nothing : html`<p>At <bdi>${places}</bdi></p>`}${ownerLine(incident, data, at)}${causeLine(incident, data)}${costLine(episodes, worth, endsAt === undefined)}</div></section>
${section("alerts", counted(total, "alert"), html`${table}${more}`)}
${decisionLogSection(lines, { moment, timezone: zone, title: "Timeline", of: "recording", nameOf: (subject) => subjectName(subject, namesIn(data)) })}`,
  };
}

function buttons({ id, episodes }: Incident, data: PageData, visitor: Visitor): Markup {
  const ids = new Set(episodes.map((one) => one.id));
  const needed = data.alerts.filter((one) => ids.has(one.id) && attentionIn(data, one) === "needed");
  if (visitor.formToken === undefined || needed.length === 0) return nothing;
  return html`<form method="post" action="../incidents/ack">${formToken(visitor)}
<input type="hidden" name="seen" value="${data.moment.now}">${incidentButtons(ROOT, id, needed.length)}</form>`;
}

/** The latest acknowledgement of its alerts. */
function ownerLine({ episodes }: Incident, data: PageData, at: (instant: Instant) => Markup): Markup {
  const ids = new Set(episodes.map(({ id }) => id));
  const acks = data.suppressed.values().flatMap(({ alert, acknowledgement }) => {
    return acknowledgement && ids.has(alert.id) ? [acknowledgement] : [];
  });
  const [last] = [...acks].sort((a, b) => b.at - a.at);
  if (!last) return nothing;
  const { author, eta, comment } = last;
  const when = eta === undefined ? nothing : html`, ETA ${at(eta)}`;
  return html`<p>Acknowledged by <bdi>${nameOf(author, "somebody")}</bdi>${when}${comment === "" ? nothing : html`: <bdi>${comment}</bdi>`}</p>`;
}

function causeLine({ id }: Incident, data: PageData): Markup {
  const entry = entriesOf(data.alerts, data).find(({ incident }) => incident.id === id);
  return entry?.cause ? html`<p><bdi>${causePhrase(entry.cause)}</bdi></p>` : nothing;
}

function costLine(episodes: readonly StoredEpisode[], worth: VisitWorth | undefined, isOpen: boolean): Markup {
  const sum = { estimate: 0, low: 0, high: 0 };
  // Of one location the widest alert has what all lost.
  for (const same of Map.groupBy(episodes, ({ locationId }) => locationId).values()) {
    const [most] = same.flatMap(({ uncounted }) => uncounted ?? []).sort((a, b) => b.estimate - a.estimate);
    if (!most) continue;
    sum.estimate += most.estimate;
    sum.low += most.low;
    sum.high += most.high;
  }
  const words = sum.estimate === 0 ? "" : visitsWords(sum, worth, isOpen);
  return words === "" ? nothing : html`<p>${words}</p>`;
}
