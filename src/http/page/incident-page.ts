/** `GET /incidents/{id}`: one incident, with its alerts, what was decided and done, and its buttons while it is open. */

import { latestOf, suppressionBy } from "../../alerting/acknowledgement.ts";
import type { LogLine } from "../../alerting/decision-log.ts";
import { durationOf, findIncident, type Incident } from "../../alerting/incident.ts";
import { causePhrase } from "../../alerting/incident-cause.ts";
import { incidentPlaces, incidentTitle, subjectName } from "../../alerting/incident-words.ts";
import { attentionIn, entriesOf, ratedIn } from "../../alerting/overview.ts";
import { type Silence, silencedBy, undoneTogether } from "../../alerting/silence.ts";
import { type Tone, toneOf } from "../../alerting/tone.ts";
import { type VisitWorth, visitsOf, visitsWords } from "../../alerting/uncounted.ts";
import type { Instant } from "../../lib/clock.ts";
import { counted } from "../../lib/format.ts";
import { html, type Markup, nothing } from "../../lib/markup.ts";
import { lastedText } from "../../lib/when.ts";
import type { StoredEpisode } from "../../store/episodes.ts";
import { acknowledgementsIn, incidentZone } from "../incidents.ts";
import { episodeListing } from "../v1/episodes.ts";
import { suppressionLine, undoForm } from "./alert-card.ts";
import { allOf, incidentButtons } from "./board.ts";
import { hiddenFields, reasonField } from "./field.ts";
import { decisionLogSection, episodeTable } from "./history.ts";
import type { HtmlPage } from "./layout.ts";
import { section } from "./listing.ts";
import { namesIn, type PageData } from "./page-data.ts";
import { formToken, type Visitor } from "./visitor.ts";
import { BRIEF_MS, sinceAt, timeAt } from "./when.ts";

const ROOT = "../";
const EPISODES_SHOWN = 100;
interface IncidentDetails {
  readonly incident: Incident<StoredEpisode>;
  readonly lines: readonly LogLine[];
  readonly worth: VisitWorth | undefined;
}

export function incidentPage({ incident, lines, worth }: IncidentDetails, data: PageData, visitor: Visitor): HtmlPage {
  const { moment, fleet } = data;
  const { id, startsAt, endsAt, episodes } = incident;
  const title = incidentTitle(incident, namesIn(data));
  const zone = incidentZone(incident, data);
  const isBrief = (endsAt ?? moment.now) - startsAt < BRIEF_MS;
  const at = (instant: Instant) => timeAt(instant, zone, moment, isBrief);
  const when =
    endsAt === undefined
      ? html`Since ${sinceAt(startsAt, zone, moment, isBrief)}`
      : html`${at(startsAt)} to ${at(endsAt)}, ${lastedText(durationOf(incident, moment.now), startsAt, endsAt)}`;
  const cost = visitsWords(visitsOf(episodes), worth, endsAt === undefined);
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
  const tone = incidentTone(incident, data);
  const more =
    total > items.length ? html`<p class="soft">and ${counted(total - items.length, "older alert")}</p>` : nothing;
  return {
    title: `${id} · ${title}`,
    tone,
    here: "incidents",
    path: `incidents/${id}`,
    refresh: endsAt === undefined ? "on" : "never",
    body: html`<div class="lead ${tone}"><h1><bdi>${title}</bdi></h1>
<p>${when} <small>incident ${id} · ${endsAt === undefined ? "open" : "over"}</small></p></div>
${buttons(incident, data, visitor)}
<section aria-labelledby="facts"><h2 id="facts" class="hidden">What is known</h2><div class="panel facts">
${places === "" ? nothing : html`<p>At <bdi>${places}</bdi></p>`}${ownerLine(incident, data, zone)}${causeLine(incident, data)}${cost === "" ? nothing : html`<p>${cost}</p>`}</div></section>
${section("alerts", counted(total, "alert"), html`${table}${more}`)}
${decisionLogSection(lines, { moment, timezone: zone, title: "Timeline", of: "recording", nameOf: (subject) => subjectName(subject, namesIn(data)) })}`,
  };
}

/** The tone of what fires of it; once it is over, of how it ended. */
function incidentTone({ episodes, endsAt }: Incident<StoredEpisode>, data: PageData): Tone {
  if (endsAt !== undefined) return episodes.every(({ endReason }) => endReason === "recovered") ? "good" : "unknown";
  const ids = new Set(episodes.map(({ id }) => id));
  return toneOf(
    ratedIn(
      data,
      data.alerts.filter(({ id }) => ids.has(id)),
    ),
  );
}

function buttons(incident: Incident, data: PageData, visitor: Visitor): Markup {
  const { id, episodes } = incident;
  const ids = new Set(episodes.map((one) => one.id));
  const firing = data.alerts.filter((one) => ids.has(one.id));
  const needed = firing.filter((one) => attentionIn(data, one) === "needed").length;
  const path = `incidents/${id}`;
  const undo = html`${undoForm(id, firing, data, { root: ROOT, visitor, path })}${undoSilences(incident, data, visitor)}`;
  if (visitor.formToken === undefined || needed === 0) return undo;
  const hidden = html`${formToken(visitor)}${hiddenFields({ seen: String(data.moment.now), back: path })}`;
  return html`<form method="post" action="../incidents/ack">${hidden}${incidentButtons(ROOT, id, needed)}</form>${undo}
<form class="sheet" id="silence" method="post" action="../incidents/silence">${hidden}${reasonField()}
<p><button name="incident" value="${id}">Silence ${allOf(needed)} for 1 h</button></p></form>`;
}

/** The silences of the last press, with a button that undoes it. */
function undoSilences(incident: Incident, data: PageData, visitor: Visitor): Markup {
  const { silences, moment } = data;
  const isOwn = ({ annotations: { incident: of = "" } }: Silence) => findIncident([incident], of) !== undefined;
  const [last] = undoneTogether([...silences.values()].filter(isOwn), moment.now);
  if (!last || visitor.formToken === undefined) return nothing;
  const words = suppressionLine(silencedBy(last), { timezone: incidentZone(incident, data), moment, root: ROOT });
  const { incident: of = "" } = last.annotations;
  return html`<form method="post" action="../incidents/undo">${formToken(visitor)}
<p class="actions"><span>${words}</span><button name="incident" value="${of}" aria-label="Undo the silence">Undo</button></p></form>`;
}

function ownerLine({ episodes }: Incident, data: PageData, timezone: string): Markup {
  const { moment } = data;
  const last = suppressionBy(latestOf(episodes, acknowledgementsIn(data)), moment.now);
  return last ? html`<p>${suppressionLine(last, { timezone, moment, root: ROOT })}</p>` : nothing;
}

function causeLine({ id }: Incident, data: PageData): Markup {
  const entry = entriesOf(data.alerts, data).find(({ incident }) => incident.id === id);
  return entry?.cause ? html`<p><bdi>${causePhrase(entry.cause)}</bdi></p>` : nothing;
}
