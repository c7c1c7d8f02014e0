/** A handover: what one shift tells the next. Pure. */

import type { Alert } from "../health/alert.ts";
import { DAY_MS, type Instant } from "../lib/clock.ts";
import { count, counted, nameOf } from "../lib/format.ts";
import type { Interval } from "../lib/intervals.ts";
import { cut, stripControls } from "../lib/text.ts";
import { lastedText, timesSeenAt } from "../lib/when.ts";
import type { StoredAcknowledgement } from "./acknowledgement.ts";
import { latestOf } from "./acknowledgement.ts";
import { isOfPeople, type LogLine, sentenceOf } from "./decision-log.ts";
import type { Document, Row, Section } from "./document.ts";
import { durationOf, fires, type Incident, subjectKey } from "./incident.ts";
import { type IncidentNames, incidentPlaces, incidentTitle, matchersInWords } from "./incident-words.ts";
import { integrationName } from "./integration-name.ts";
import { type Silence, silencedBy, silenceOf, silenceState } from "./silence.ts";
import { acknowledgedText, suppressionText } from "./suppression-words.ts";
import { severityTone, worstTone } from "./tone.ts";

/** What somebody wrote for the next shift. */
export interface ShiftNote {
  readonly at: Instant;
  readonly author: string;
  readonly text: string;
}

export interface Shift {
  readonly span: Interval;
  readonly now: Instant;
  /** IANA zone of all times. */
  readonly timezone: string;
  /** Those that were open in the span, the newest first. */
  readonly incidents: readonly Incident[];
  /** The firing alerts, by id. */
  readonly alerts: ReadonlyMap<string, Alert>;
  /** In force, by id of an episode. */
  readonly acknowledgements: ReadonlyMap<string, StoredAcknowledgement>;
  /** The lines of the decision log about their episodes. */
  readonly lines: readonly LogLine[];
  readonly silences: readonly Silence[];
  /** Windows of maintenance that last now. */
  readonly maintenance: readonly { readonly name: string; readonly until: Instant | undefined }[];
  /** Oldest first. */
  readonly notes: readonly ShiftNote[];
  readonly names: IncidentNames;
}

const MOST_ROWS = 40;
const MOST_NOTES_OF_ROW = 6;
const TEXT_LENGTH = 300;
const RECEIVERS_NAMED = 4;

/** The handover of a shift: what is open and who has it, what is over, what ends within a day, and what people wrote. */
export function handoverOf(shift: Shift): Document {
  const { span: within, now, timezone, incidents, silences, maintenance, notes } = shift;
  const times = timesSeenAt(now);
  const at = (instant: Instant) => times.at(instant, timezone);
  const [open, over] = [incidents.filter(fires), incidents.filter((one) => !fires(one))];
  const free = open.filter((one) => !latestOf(one.episodes, shift.acknowledgements) && !silenceOn(one, shift));
  const ending = silences
    .filter((one) => silenceState(one, now) === "active" && one.endsAt - now <= DAY_MS)
    .sort((a, b) => a.endsAt - b.endsAt);
  const planned = maintenance.filter(({ until }) => until !== undefined && until - now <= DAY_MS);
  const endings = [
    ...ending.map((one) => silenceRow(one, shift.names, at)),
    ...planned.map(({ name, until = 0 }) => rowOf(`Maintenance ${nameOf(name, "")}`, `ends ${at(until)}`)),
  ];
  return {
    title: `Handover ${times.between(within.from, within.to, timezone)}: ${count(open.length)} open, ${count(over.length)} over`,
    tone: worstTone([
      ...free.flatMap(({ episodes }) => episodes.filter(({ endsAt }) => !endsAt).map(severityTone)),
      ...open.map(() => "info" as const),
    ]),
    lead: [leadOf(open.length, free.length)],
    sections: [
      sectionOf(
        "Notes of the shift",
        notes.map((one) => rowOf(`${nameOf(one.author, "somebody")}, ${at(one.at)}`, one.text)),
      ),
      sectionOf(
        "Open",
        open.map((one) => incidentRow(one, shift, at)),
      ),
      sectionOf(
        "Over",
        over.map((one) => incidentRow(one, shift, at)),
      ),
      sectionOf("Silences and maintenance that end within a day", endings),
    ].filter(({ total }) => total > 0),
    notes: [],
    actions: [],
  };
}

function leadOf(open: number, free: number): string {
  if (open === 0) return "No incident is open.";
  const are = `${counted(open, "incident")} ${open === 1 ? "is" : "are"} open`;
  if (free === 0) return `${are}, and ${open === 1 ? "it" : "each"} is acknowledged or silenced.`;
  return free === open
    ? `${are}, and nobody has acknowledged ${open === 1 ? "it" : "any"}.`
    : `${are}, ${count(free)} of them neither acknowledged nor silenced.`;
}

function sectionOf(heading: string, rows: readonly Row[]): Section {
  const total = rows.length;
  return { heading: `${heading} (${count(total)})`, rows: rows.slice(0, MOST_ROWS), total, unit: "alert" };
}

function rowOf(name: string, text: string, notes: readonly string[] = []): Row {
  return { name, text: line(text), notes: notes.map(line), links: [] };
}

const line = (text: string) => cut(stripControls(text).trim(), TEXT_LENGTH);

function incidentRow(incident: Incident, shift: Shift, at: (instant: Instant) => string): Row {
  const { startsAt, endsAt, episodes } = incident;
  const ack = latestOf(episodes, shift.acknowledgements);
  const lasted = lastedText(durationOf(incident, shift.now), startsAt, endsAt ?? shift.now);
  const when =
    endsAt === undefined ? `since ${at(startsAt)}, for ${lasted}` : `${at(startsAt)} to ${at(endsAt)}, ${lasted}`;
  const silence = silenceOn(incident, shift);
  const silenced = silence ? `, ${suppressionText({ ...silencedBy(silence), comment: undefined }, at)}` : "";
  const who = ack ? acknowledgedText(ack, at) : endsAt === undefined ? `unacknowledged${silenced}` : "";
  const isWide = new Set(episodes.map(({ locationId }) => locationId)).size > 1;
  const lines = linesOf(incident, shift);
  const said = [...(ack ? [{ ...ack, text: ack.comment }] : []), ...(ack?.notes ?? [])].filter(({ text }) => text);
  const notes = said.map(({ author, text, at: when }) => `${nameOf(author, "somebody")}, ${at(when)}: ${text}`);
  return rowOf(`${incidentTitle(incident, shift.names)} · ${incident.id}`, who === "" ? when : `${when}; ${who}`, [
    ...(isWide ? [`At ${incidentPlaces(incident, shift.names)}`] : []),
    ...(ack ? notes : doneIn(lines, at)).slice(-MOST_NOTES_OF_ROW),
    ...notifiedIn(incident, lines, at),
  ]);
}

/** The silence that ends first of those on what fires of it; undefined where something is not silenced. */
function silenceOn({ episodes }: Incident, { silences, alerts, now }: Shift): Silence | undefined {
  const firing = episodes.filter(fires).map(({ id }) => alerts.get(id));
  const found = firing.flatMap((alert) => (alert && silenceOf(silences, alert, now)) || []);
  return found.length === firing.length ? found.sort((a, b) => a.endsAt - b.endsAt)[0] : undefined;
}

/** The lines of the decision log about an incident while it was open. */
function linesOf({ episodes, startsAt, endsAt }: Incident, { lines, now }: Shift): LogLine[] {
  const subjects = new Set(episodes.map(subjectKey));
  return lines.filter((one) => one.at >= startsAt && one.at <= (endsAt ?? now) && subjects.has(subjectKey(one)));
}

/** `02:41 GMT: acknowledged by Bob: engineer on the way`: what people did, once of all alerts. */
function doneIn(lines: readonly LogLine[], at: (instant: Instant) => string): string[] {
  const done = lines.filter(isOfPeople).map((one) => `${at(one.at)}: ${sentenceOf({ ...one, ruleId: undefined }, at)}`);
  return [...new Set(done)];
}

/** `Notified Slack (ops) at 02:32 GMT, a@b.example (ops) at 02:33 GMT`: the first message to each. */
function notifiedIn({ endsAt }: Incident, lines: readonly LogLine[], at: (instant: Instant) => string): string[] {
  const first = new Map<string, Instant>();
  for (const { at: when, reason, integration } of lines)
    if (reason === "notified" && integration !== undefined && !first.has(integration)) first.set(integration, when);
  if (first.size === 0) return endsAt === undefined ? ["Nobody was notified of it."] : [];
  const named = [...first]
    .slice(0, RECEIVERS_NAMED)
    .map(([to, when]) => `${nameOf(integrationName(to), "")} at ${at(when)}`);
  const more = first.size > RECEIVERS_NAMED ? [`${count(first.size - RECEIVERS_NAMED)} more`] : [];
  return [`Notified ${[...named, ...more].join(", ")}`];
}

function silenceRow(
  { matchers, createdBy, comment, endsAt }: Silence,
  names: IncidentNames,
  at: (instant: Instant) => string,
): Row {
  const words = line(matchersInWords(matchers, names));
  const why = comment === "" ? "" : `: ${comment}`;
  return rowOf(`Silence ${words}`, `ends ${at(endsAt)}; by ${nameOf(createdBy, "somebody")}${why}`);
}
