/** The scope of a silence button: its words, and the silences that match just that. Pure. */

import { matchersFor, silencesFor } from "../alerting/prepared-silence.ts";
import { phraseOf } from "../alerting/words.ts";
import {
  type Alert,
  defaultAlertNames,
  groupName,
  groupNouns,
  groupOfSubject,
  problems,
  sharedOutages,
} from "../health/alert.ts";
import { counted } from "../lib/format.ts";
import { capital } from "../lib/text.ts";
import { clean, locationName, plainName, shortName } from "./name.ts";

/** `alerts`: what the message is about; `places`: all of the locations where that is. */
export const silenceScopeKeys = ["alerts", "places"] as const;
type SilenceScopeKey = (typeof silenceScopeKeys)[number];

export interface SilenceScope {
  readonly key: SilenceScopeKey;
  /** The text of a button below the message: `This camera (offline)`. */
  readonly label: string;
  /** By itself: `Entrance · Leeds Briggate (offline)`. */
  readonly name: string;
  /** A further consequence, as a sentence. */
  readonly note?: string | undefined;
  /** The matchers of each silence, as text. */
  readonly silences: readonly string[];
}

/** More silences than this are set on the page. */
const MOST_SILENCES = 20;
const NAMED = 3;
/** The longest name or problem in a label, code points. */
const LABEL_PART = 30;

/** The scopes that may be silenced for these alerts, the narrowest first. */
export function silenceScopes(alerts: readonly Alert[]): SilenceScope[] {
  const all = silenceScopeKeys.flatMap((key) => silenceScope(key, alerts) ?? []);
  return all.filter(({ silences }, i) => i === 0 || String(silences) !== String(all[0]?.silences));
}

/** One of them; undefined where there is none, or where it would take too many silences. */
export function silenceScope(key: SilenceScopeKey, alerts: readonly Alert[]): SilenceScope | undefined {
  const scope = key === "alerts" ? ownScope(alerts) : placesScope(alerts);
  const { length = 0 } = scope?.silences ?? [];
  return length > 0 && length <= MOST_SILENCES ? scope : undefined;
}

function ownScope(alerts: readonly Alert[]): SilenceScope | undefined {
  const [only, ...others] = alerts;
  if (!only) return undefined;
  const silences = silencesFor(alerts);
  const note = noteOf(alerts);
  if (others.length > 0) {
    const names = someOf(alerts.map((alert) => nameOf(alert)));
    const label = `These ${alerts.length} alerts`;
    return { key: "alerts", label, name: `${phraseOf(alerts)}: ${names}`, note, silences };
  }
  const label = only.subject.kind === "recording" ? problemOf(only, "This camera") : ownName(only, LABEL_PART);
  return { key: "alerts", label, name: ownName(only), note, silences };
}

/** A silence outlives the outage of the service, which hides those of cameras. */
function noteOf(alerts: readonly Alert[]): string | undefined {
  if (!alerts.some(({ subject }) => subject.kind === "service")) return undefined;
  const isUnreachable = alerts.some(({ facts }) => facts.problem === "service_unreachable");
  const cameras = isUnreachable ? ", and no camera alert is sent while the service is unreachable" : "";
  return `Later outages of the service until then are silenced too${cameras}.`;
}

/** Undefined where one of them is at no location. */
function placesScope(alerts: readonly Alert[]): SilenceScope | undefined {
  const places = new Map(alerts.map((alert) => [alert.labels.location_id ?? "", alert]));
  if (places.has("")) return undefined;
  const silences = matchersFor("location_id", [...places.keys()]);
  const [only] = places.values();
  if (places.size === 1 && only) return { key: "places", label: allOf(only, LABEL_PART), name: allOf(only), silences };
  const names = someOf([...places.values()].map((alert) => locationName(alert, LABEL_PART)));
  const label = `All of these ${counted(places.size, "location")}`;
  return { key: "places", label, name: `All of ${counted(places.size, "location")} (${names})`, silences };
}

/** `All of Leeds Briggate`, `Camera server edge-7 (counts dropped together)`, `Service unreachable`. */
function ownName(alert: Alert, max?: number): string {
  const { subject, facts } = alert;
  if (sharedOutages.has(facts.problem)) return allOf(alert, max);
  if (subject.kind === "service") return capital(wordOf(alert)) || plainName(alert, max);
  const name = nameOf(alert, max);
  return subject.kind === "external" ? name : problemOf(alert, name);
}

function allOf(alert: Alert, max?: number): string {
  const group = groupOfSubject(alert.subject);
  return `All of ${group ? `${groupNouns[group.label]} ${clean(groupName(group, alert.labels), max)}` : locationName(alert, max)}`;
}

/** The problem is named as the rule where the rule is not the default one: a silence is about the rule's alerts. */
function problemOf(alert: Alert, name: string): string {
  return `${name} (${wordOf(alert)})`;
}

function wordOf({ facts: { problem }, labels: { alertname } }: Alert): string {
  const isDefault = problem !== undefined && defaultAlertNames[problem] === alertname;
  return isDefault ? problems[problem].name.toLowerCase() : clean(alertname, LABEL_PART);
}

/** `Till 3 · Leeds Briggate`. */
export function nameOf(alert: Alert, max?: number): string {
  return [...new Set([shortName(alert, max), locationName(alert, max)])].filter(Boolean).join(" · ");
}

/** `Leeds, York and 3 more`, in the order of the names. */
function someOf(all: readonly string[]): string {
  const names = all.toSorted();
  const left = names.length - NAMED;
  return left > 0 ? `${names.slice(0, NAMED).join(", ")} and ${left} more` : names.join(", ");
}
