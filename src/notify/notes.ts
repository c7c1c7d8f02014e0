/** The lines below an alert's facts: annotations that add something, inhibited alerts, the uploading schedule. */
import type { NotifiedAlert, StandsFor } from "../alerting/model.ts";
import { visitsRange } from "../alerting/uncounted.ts";
import type { GeneratedAnnotation, Labels } from "../health/alert.ts";
import { count, counted, zonePath } from "../lib/format.ts";
import { clean, withoutLocation } from "./name.ts";

const NOTE_LENGTH = 400;
const NAME_LENGTH = 40;
const NAMES_LENGTH = 300;

/** Cleaned lines, each once, without what the title and the facts state already. */
export function notesOf(alert: NotifiedAlert): string[] {
  const { zones, contact } = alert.annotations;
  const { detail } = alert.facts;
  const description = annotation(alert, "description");
  const isId = description !== undefined && /^Camera server \S+\.$/.test(description);
  const isTitle = description !== undefined && /^The service reports the recording \w+\.$/.test(description);
  const lines = [
    inhibitedNote(alert),
    annotation(alert, "summary"),
    isId || isTitle ? undefined : description,
    detail && description?.includes(detail) ? undefined : detail,
    alert.facts.isAlone ? "No other recording is offline." : undefined,
    [...(zones ? [zonesNote(zones)] : []), ...timesWords(alert)].join(" · "),
    impactNote(alert),
    contact,
    scheduleNote(alert),
    isId ? description : undefined,
  ];
  return [...new Set(lines.map((line) => clean(line, NOTE_LENGTH)).filter((line) => line !== ""))];
}

/** The usual count is left out beside an estimate. */
function impactNote({ annotations: { impact: text }, impact }: NotifiedAlert): string | undefined {
  return text && !(visitsRange(impact?.uncounted) && text === impact?.usual) ? `Impact: ${text}` : undefined;
}

/** `2nd outage in 7 days`. */
function timesWords({ impact }: NotifiedAlert): string[] {
  if (!impact?.outages) return [];
  const suffix = { one: "st", two: "nd", few: "rd" }[ORDINALS.select(impact.outages) as "one"] ?? "th";
  return [`${impact.outages}${suffix} outage in 7 days`];
}

const ORDINALS = new Intl.PluralRules("en-GB", { type: "ordinal" });

/** `Zone Ground › Entrance › Main Door`, `Zones Ground › Tills, First › Shoes`. */
function zonesNote(zones: string): string {
  return `${/, | and \d/.test(zones) ? "Zones" : "Zone"} ${zonePath(zones)}`;
}

function annotation({ annotations, facts }: NotifiedAlert, name: GeneratedAnnotation): string | undefined {
  return facts.restated?.includes(name) ? undefined : annotations[name];
}

function scheduleNote({ facts: { schedule, paused } }: NotifiedAlert): string | undefined {
  if (schedule === "unknown") return "Uploading schedule: not known yet for this hour.";
  if (paused) return "Outside its uploading schedule: evaluated again when the schedule begins.";
  return schedule === "outside" ? "Outside its uploading schedule, which this rule ignores." : undefined;
}

/**
 * `Covers 4 recordings: Entrance, Tills, Yard, Door`: the subjects of the alerts that this one inhibits. A location
 * whose recordings have no alerts yet names those that are offline; alerts of the same recording are not listed.
 */
function inhibitedNote({ subject, facts, standsFor, labels }: NotifiedAlert): string | undefined {
  // Not all of them have an alert of their own yet.
  if (!standsFor || (facts.offlineNames && standsFor.recordings < (facts.offline ?? 0))) {
    const names = namesOf({ recordings: facts.offline ?? 0, locations: 0, names: facts.offlineNames ?? [] }, labels);
    return names === "" ? undefined : `Offline: ${names}`;
  }
  if (subject.kind === "recording") return undefined;
  const subjects = [
    ...(standsFor.recordings > 0 ? [counted(standsFor.recordings, "recording")] : []),
    ...(standsFor.locations > 0 ? [counted(standsFor.locations, "location")] : []),
  ].join(" and ");
  if (subject.kind === "service")
    return `Alerts ${subjects === "" ? "that depend on it" : `of ${subjects}`} are suppressed until this is resolved.`;
  const names = namesOf(standsFor, labels);
  return subjects === "" ? undefined : `Covers ${subjects}${names === "" ? "" : `: ${names}`}`;
}

function namesOf({ recordings, locations, names }: StandsFor, labels: Labels): string {
  const shown: string[] = [];
  let left = NAMES_LENGTH;
  for (const name of names
    .map((text) => withoutLocation(text, labels, NAME_LENGTH) || clean(text, NAME_LENGTH))
    .filter((text) => text !== "")) {
    left -= name.length + 2;
    if (left < 0) break;
    shown.push(name);
  }
  const more = (recordings || locations) - shown.length;
  if (shown.length === 0) return "";
  return `${shown.join(", ")}${more > 0 ? ` and ${count(more)} more` : ""}`;
}
