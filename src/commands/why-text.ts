/** The decision log of a recording, a location or a group as text. */
import type { z } from "zod";
import { type LogLine, sentenceOf } from "../alerting/decision-log.ts";
import { type FoldedDecisions, foldDecisions } from "../alerting/fold-decisions.ts";
import { listWords } from "../alerting/incident-words.ts";
import { visitsWords } from "../alerting/uncounted.ts";
import type { Subject } from "../health/alert.ts";
import { worstFirst } from "../health/recording.ts";
import type { ApiEpisode } from "../http/v1/episodes.ts";
import type { ApiIncidentTimeline } from "../http/v1/incidents.ts";
import type { ApiLocation } from "../http/v1/locations.ts";
import type { ApiRecording } from "../http/v1/recordings.ts";
import type { ApiTimeline } from "../http/v1/timeline.ts";
import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";
import { count, counted } from "../lib/format.ts";
import { stripControls } from "../lib/text.ts";
import { inZone, lastedText, timesSeenAt } from "../lib/when.ts";
import { ackText } from "./cli/command.ts";

type IncidentTimeline = z.infer<typeof ApiIncidentTimeline>;
export type Timeline = z.infer<typeof ApiTimeline>;

/** The facts that are printed; times in ISO 8601. */
export interface Explained {
  readonly timeline: Timeline;
  /** The state of a recording in the fleet. */
  readonly row?: Pick<ApiRecording, "status" | "since"> | undefined;
  /** The recordings of a location by status. */
  readonly recordings?: z.infer<typeof ApiLocation>["recordings"] | undefined;
  /** Visits that were not counted while alerts fired, newest first. */
  readonly uncounted: readonly (NonNullable<ApiEpisode["uncounted"]> &
    Pick<ApiEpisode, "alertname" | "subject" | "startsAt" | "endsAt">)[];
  /** A line for each decision. */
  readonly all: boolean | undefined;
  readonly now: Instant;
  /** Of the times. */
  readonly zone: string;
}

export function explainedText(explained: Explained): string {
  const { timeline, row, recordings } = explained;
  const { recording, recordingId, location, timezone, items } = timeline;
  const head = [...new Set([recording, location])].filter((part) => part !== null).join(" · ");
  const isGroup = !row && items.some(({ about }) => about.kind === "group" && about.id === recordingId);
  const own = recordings ? "location" : isGroup ? "group" : "recording";
  const lines = decisionLines(items, explained, timezone, (about) => aboutText(about, own));
  const body = items.length === 0 ? ["", recordings ? NO_DECISIONS.location : NO_DECISIONS.recording] : lines;
  const state = isGroup ? [] : [standing(explained)];
  return `${[head, ...state, ...countsLines(explained), ...visitsLines(explained), ...body].map(stripControls).join("\n")}\n`;
}

type Decisions = Timeline["items"];
type Asked = Pick<Explained, "now" | "zone" | "all">;
type Naming = (about: Subject) => string;

/** The decisions of each day below its date. */
function decisionLines(items: Decisions, { now, zone, all }: Asked, timezone: string, nameOf: Naming): string[] {
  const times = timesSeenAt(now, zone);
  const written = (at: Instant) => times.at(at, timezone);
  const lines = items.map(toLogLine);
  const entries = all
    ? lines.map((line) => ({ at: line.at, text: `${nameOf(line.subject)}${sentenceOf(line, written)}` }))
    : foldDecisions(lines, written).map((entry) => foldedEntry(entry, zone, nameOf));
  const isThere = timezone === "UTC" || inZone(now, zone).offset === inZone(now, timezone).offset;
  const dayAt = (at: Instant) => inZone(at, zone).toFormat("ccc d LLL yyyy");
  return entries.flatMap(({ at, text }, i) => {
    const entry = `  ${inZone(at, zone).toFormat("HH:mm:ss")}  ${text}`;
    const isNewDay = i === 0 || dayAt(entries[i - 1]?.at ?? 0) !== dayAt(at);
    return isNewDay ? ["", `${dayAt(at)}, ${zone}${isThere ? "" : ` (${timezone} there)`}`, entry] : [entry];
  });
}

/** An incident: since when, who has it, what it cost and the decisions about what is in it. */
export function incidentText(incident: IncidentTimeline, asked: Asked): string {
  const { id, title, startsAt, endsAt, acknowledgement, timezone, decisions } = incident;
  const { now, zone } = asked;
  const times = timesSeenAt(now, zone);
  const at = (instant: Instant) => times.at(instant, timezone);
  const [from, to] = [Date.parse(startsAt), endsAt === null ? undefined : Date.parse(endsAt)];
  const lasted = lastedText(incident.durationSeconds * 1000, from, to ?? now);
  const state = to === undefined ? `open since ${at(from)}` : `over: ${at(from)} – ${at(to)}`;
  const ack = acknowledgement ? ackText(acknowledgement, at) : to === undefined ? "unacknowledged" : "";
  const locations = [...new Set(incident.episodes.flatMap(({ location }) => location ?? []))];
  const cost = visitsWords(incident.uncounted ?? undefined, {}, to === undefined);
  const names = new Map(decisions.map(({ about }) => [`${about.kind}/${about.id}`, `${about.name} · `]));
  const lines = decisionLines(decisions, asked, timezone, ({ kind, id: of }) => names.get(`${kind}/${of}`) ?? "");
  const head = [
    `${title} · ${id}`,
    `${state} (${lasted})${ack && `; ${ack}`}`,
    locations.length > 1 ? `at ${listWords(locations)}` : "",
    cost,
  ];
  return `${[...head.filter(Boolean), ...lines].map(stripControls).join("\n")}\n`;
}

type Standing = Pick<Explained, "row" | "recordings" | "now" | "zone"> & {
  readonly timeline: Pick<Timeline, "timezone">;
};

/** `offline since 11:00 GMT (1 h)`; of a location, `1 offline, 3 online of 4 recordings`. */
export function standing({ row, recordings, now, zone, timeline }: Standing): string {
  if (recordings) return standingText(recordings);
  if (!row) return "not in the fleet";
  const at = row.since === null ? undefined : Date.parse(row.since);
  const times = timesSeenAt(now, zone);
  const since = at === undefined ? "–" : times.at(at, timeline.timezone, false, humanDuration(now - at));
  if (row.status !== "unknown") return `${row.status} since ${since}`;
  const read = at === undefined ? "never read" : `not read since ${since}`;
  return `unknown: ${read}; it is not evaluated until the service gives its status`;
}

/** `1 offline, 3 online of 4 recordings`. */
function standingText(recordings: NonNullable<Explained["recordings"]>): string {
  const known = worstFirst.filter((status) => (recordings[status] ?? 0) > 0);
  const total = known.reduce((sum, status) => sum + (recordings[status] ?? 0), 0);
  return `${known.map((status) => `${count(recordings[status] ?? 0)} ${status}`).join(", ")} of ${counted(total, "recording")}`;
}

/** `counts (low/30, Sat 14:20): as usual; the location: as usual`, a line for each condition. */
function countsLines({ zone, timeline: { counts, recordingId, locationId } }: Explained): string[] {
  return [...Map.groupBy(counts, ({ condition }) => condition)].map(([condition, of]) => {
    const at = inZone(Date.parse(of[0]?.at ?? ""), zone).toFormat("ccc HH:mm");
    const isOther = recordingId !== locationId;
    const texts = of.map(({ about, text }) => `${isOther && about.kind === "location" ? "the location: " : ""}${text}`);
    return `counts (${condition}, ${at}): ${texts.join("; ")}`;
  });
}

const MOST_COSTS = 5;
const NO_DECISIONS = {
  recording: "No decisions in that time.",
  location: "No decisions about the location in that time; those about its recordings, or a group of them, are apart.",
};

/** `RecordingOffline, Fri 23 Jan 10:02 – 10:40: about 310 visits uncounted (260–370)`, the newest; of a recording also those of its location. */
function visitsLines({ uncounted, zone, timeline: { recordingId, locationId } }: Explained): string[] {
  const timeAt = (iso: string) => inZone(Date.parse(iso), zone).toFormat("ccc d LLL HH:mm");
  const lines = uncounted.flatMap(({ alertname, subject, startsAt, endsAt, ...visits }) => {
    const about = recordingId !== locationId && subject.kind === "location" ? "(location) " : "";
    const words = visitsWords(visits, {}, endsAt === null);
    return words === ""
      ? []
      : [`${about}${alertname}, ${timeAt(startsAt)} – ${endsAt === null ? "now" : timeAt(endsAt)}: ${words}`];
  });
  const more = lines.length - MOST_COSTS;
  return [...lines.slice(0, MOST_COSTS), ...(more > 0 ? [`and ${count(more)} more that cost visits`] : [])];
}

function toLogLine({ at, about, rule, integration, reason, detail, ...ends }: Timeline["items"][number]): LogLine {
  const [ruleId, to, more] = [rule, integration, detail].map((value) => value ?? undefined);
  const [until, eta] = [ends.until, ends.eta].map((iso) => (iso ? Date.parse(iso) : undefined));
  return { at: Date.parse(at), subject: about, ruleId, integration: to, reason, detail: more, until, eta };
}

/** `RecordingOffline: offline → 10:02:00 Slack (ops) → 10:40:00 recovered`. */
function foldedEntry({ subject, ruleId, steps, lines }: FoldedDecisions, timezone: string, nameOf: Naming) {
  const first = steps[0]?.at ?? 0;
  const words = steps.map(({ at, words }, i) => {
    const before = steps[i - 1]?.at ?? at;
    if (at === before) return words;
    const time = inZone(at, timezone);
    return `${time.toFormat(time.hasSame(inZone(before, timezone), "day") ? "HH:mm:ss" : "ccc d LLL HH:mm:ss")} ${words}`;
  });
  const rule = lines.length > 1 && ruleId !== undefined ? `${ruleId}: ` : "";
  return { at: first, text: `${nameOf(subject)}${rule}${words.join(" → ")}` };
}

/** `own`: the kind of what was asked for, which every line is about unless it says otherwise. */
function aboutText({ kind }: Subject, own: string): string {
  return kind === own ? "" : `(${kind}) `;
}
