/** Incidents in words: pages, messages, digests and the command line name them with the same. */
import { type Alert, groupNouns, groupOfSubject, problems, recordingProblems } from "../health/alert.ts";
import { groupNameIn } from "../health/directory.ts";
import type { Inventory } from "../health/shard-state.ts";
import { count, counted, nameOf, nameWithin } from "../lib/format.ts";
import { own } from "../lib/own.ts";
import { capital } from "../lib/text.ts";
import { MOST_NAMED } from "./extent.ts";
import {
  type Episode,
  fires,
  type Incident,
  type IncidentSize,
  sizeOfIncident,
  subjectKey,
  timesOf,
  widestSubjects,
} from "./incident.ts";
import { failingIntegration, integrationName } from "./integration-name.ts";
import { formatMatcher, type Matcher } from "./matcher.ts";
import { valuesOf } from "./prepared-silence.ts";

/** Names of subjects, undefined where none is known. */
export interface IncidentNames {
  recording(id: string): string | undefined;
  location(id: string): string | undefined;
  /** The id of a recording's location. */
  locationOf?(id: string): string | undefined;
  /** Of a camera server or an organisation. */
  nameOf?(value: string): string | undefined;
}

/** The names that the fleet and a directory have. */
export function namesFrom(inventory: Inventory): IncidentNames {
  return {
    recording: (id) => inventory.recording(id)?.name,
    location: (id) => inventory.location(id)?.name,
    locationOf: (id) => inventory.recording(id)?.locationId,
    nameOf: (value) => inventory.nameOf?.(value),
  };
}

/** The subject of an alert by the names in its labels. */
export function alertSubjectName({ subject, labels }: Pick<Alert, "subject" | "labels">): string {
  if (subject.kind === "integration") return failingIntegration({ subject, labels });
  const group = groupOfSubject(subject);
  const names = {
    recording: () => labels.recording,
    location: () => labels.location,
    nameOf: () => labels[`${group?.label}_name`],
  };
  return subjectName(subject, names, labels.location_id);
}

/** The number of times from which on an incident is said to flap. */
const OFTEN = 3;
const LENGTH = 60;

/**
 * `Entrance · Leeds Briggate flapped 11 times`, `240 cameras at 30 locations offline`: of an open one what is wrong now, of
 * another what was.
 */
export function incidentTitle(incident: Incident, names: IncidentNames): string {
  const { episodes: all, cause } = incident;
  const open = all.filter(fires);
  const isOne = new Set(all.map(subjectKey)).size === 1;
  const episodes = isOne || open.length === 0 ? all : open;
  const size = sizeOfIncident({ episodes });
  const isOutage = !isOne && size.recordings + size.locations.size > 0;
  const server = isOutage && cause?.label === "camera_server" && size.locations.size !== 1 ? cause : undefined;
  const [widest] = widestSubjects({ episodes }, 1);
  const subject = widest ? subjectName(widest, names, episodes[0]?.locationId) : "No alert";
  const where = (!isOne && placeWords(isOutage ? size : sizeOfAlerts(episodes), names)) || subject;
  const name = server ? `Camera server ${groupName(server.value, names)}: ${where}` : where;
  const times = timesOf(incident);
  if (times >= OFTEN) return `${name} flapped ${count(times)} times`;
  if (isOutage) return `${name} offline`;
  const said = [...new Set(episodes.map(problemWords))].filter(Boolean).join(", ");
  return said === "" ? name : `${name}: ${said}`;
}

/** `240 cameras at 30 locations`, `8 cameras at Leeds Briggate`, `3 locations`; empty of none. */
function placeWords({ recordings, locations }: IncidentSize, names: IncidentNames): string {
  const [only = ""] = locations;
  const at = locations.size === 1 ? locationName(only, names) : counted(locations.size, "location");
  return [recordings > 0 && counted(recordings, "camera"), locations.size > 0 && at].filter(Boolean).join(" at ");
}

/** The locations that alerts are about; else recordings, and theirs. */
function sizeOfAlerts(episodes: readonly Episode[]): IncidentSize {
  const whole = episodes.filter(({ subject }) => subject.kind === "location");
  const apart = whole.length > 0 ? [] : episodes.filter(({ subject }) => subject.kind === "recording");
  const locations = new Set([...whole, ...apart].flatMap(({ locationId }) => locationId || []));
  return { recordings: new Set(apart.map(subjectKey)).size, locations };
}

/** The names of an incident's locations, at most eight: `Leeds, York and 3 more`. */
export function incidentPlaces(incident: Incident, names: IncidentNames): string {
  const counts = Map.groupBy(incident.episodes, ({ locationId = "" }) => locationId);
  counts.delete("");
  const worst = [...counts].sort(([a, { length: m }], [b, { length: n }]) => n - m || (a < b ? -1 : 1));
  return listWords(worst.map(([id]) => locationName(id, names)));
}

/** `Leeds, York and 3 more`: at most eight. */
export function listWords(all: readonly string[]): string {
  const more = all.length > MOST_NAMED ? [`${count(all.length - MOST_NAMED)} more`] : [];
  const [last = "", ...others] = [...all.slice(0, MOST_NAMED), ...more].reverse();
  return others.length === 0 ? last : `${others.reverse().join(", ")} and ${last}`;
}

function problemWords({ problem, alertname = "" }: Episode): string {
  if (problem === undefined) return alertname === "" ? "" : nameOf(alertname, "", LENGTH);
  if (Object.hasOwn(recordingProblems, problem))
    return recordingProblems[problem as keyof typeof recordingProblems].short;
  return problem.endsWith("_offline") ? "offline" : (problems[problem]?.name ?? "").toLowerCase();
}

/** `Leeds Briggate, severity="warning"`: what a silence is about, the ids in it by their names. */
export function matchersInWords(all: readonly Matcher[], names: IncidentNames): string {
  const nameFor: Readonly<Record<string, (id: string) => string | undefined>> = {
    recording_id: (id) => names.recording(id) && subjectName({ kind: "recording", id }, names),
    location_id: (id) => names.location(id),
    camera_server: (id) => `camera server ${groupNameIn(names, id)}`,
    organisation: (id) => groupNameIn(names, id),
  };
  const words = all.map((matcher) => {
    const known = valuesOf(matcher).map((value) => (value && own(nameFor, matcher.name)?.(value)) || "");
    const areAll = known.length > 0 && !known.includes("");
    return areAll ? listWords(known.map((name) => nameOf(name, ""))) : formatMatcher(matcher);
  });
  return words.join(", ");
}

const OTHERS: Readonly<Record<string, string>> = {
  service: "Analytics service",
  directory: "Directory of shops",
  external: "External alert",
};

/** `Entrance · Leeds Briggate`, of a recording at a known location. */
export function subjectName(subject: Episode["subject"], names: IncidentNames, locationId?: string): string {
  const group = groupOfSubject(subject);
  if (group) return capital(`${groupNouns[group.label]} ${groupName(group.value, names)}`);
  if (subject.kind === "location") return locationName(subject.id, names);
  if (subject.kind === "integration") return integrationName(subject.id);
  if (subject.kind !== "recording") return OTHERS[subject.kind] ?? nameOf(subject.id, subject.kind, LENGTH);
  const at = locationId ?? names.locationOf?.(subject.id);
  const location = at === undefined ? "" : locationName(at, names);
  const name = nameWithin(nameOf(names.recording(subject.id) ?? "", subject.id, LENGTH), location);
  return location === "" ? name : `${name} · ${location}`;
}

const locationName = (id: string, names: IncidentNames) => nameOf(names.location(id) ?? "", id, LENGTH);
const groupName = (value: string, names: IncidentNames) => nameOf(groupNameIn(names, value), "unnamed", LENGTH);
