/** The words for what an alert reports: in a count, in a line of its own, and once it is resolved. */
import {
  type Alert,
  groupLabels,
  groupNouns,
  leftOutPhrase,
  type ProblemKind,
  placesPhrase,
  type RecordingProblemWords,
  recordingProblems,
} from "../health/alert.ts";
import { counted, count as figure } from "../lib/format.ts";
import { span } from "../lib/when.ts";
import { clean, NAME_IN_TITLE, plainName, shortName } from "./name.ts";

interface Wording {
  /** Alerts with the same key are counted together. */
  readonly key: ProblemKind | `${Alert["subject"]["kind"]}/${string}`;
  /** `2 recordings offline`; with `still`, `2 recordings still offline`. Given all alerts of this key. */
  readonly count: (alerts: readonly Alert[], still: boolean) => string;
  /** Of one alert, in a title: `Entrance offline`, with `still` `Entrance still offline`. */
  readonly one: (alert: Alert, still: boolean) => string;
  /** After another problem of recordings: `1 quality low`. Undefined: `count` serves there too. */
  readonly short?: (count: number) => string;
  /** In an alert's own line, after its name: `offline`. */
  readonly is: (alert: Alert) => string;
  /** In an alert's own line once it is resolved: `was offline`. */
  readonly was: string;
  /** A sentence on what it means for the reader. */
  readonly meaning?: string;
}

/** By the problem that the alert's rule watches; an external alert, or an unknown problem, by the alert's name. */
export function wordingOf(alert: Alert): Wording {
  const { problem } = alert.facts;
  return (problem && WORDINGS.get(problem)) ?? namedWording(alert);
}

/** `offline`, `flapping`: the first word or two of what is wrong. */
export function bareState(alert: Alert): string {
  return wordingOf(alert)
    .is(alert)
    .replace(/[:,].*/s, "");
}

function recordingWording(key: ProblemKind, { adjective, short, was }: RecordingProblemWords): Wording {
  return {
    key,
    count(alerts, still) {
      const left = alerts.filter(({ facts }) => !facts.clearing).length;
      if (left === 0) return `${counted(alerts.length, "recording")} recovering`;
      return `${counted(left, "recording")}${still ? " still" : ""} ${adjective}`;
    },
    one: (alert, still) =>
      `${shortName(alert, NAME_IN_TITLE)}${alert.facts.clearing ? " recovering" : still ? ` still ${adjective}` : ` ${short}`}`,
    short: (count) => `${figure(count)} ${short}`,
    is: (alert) =>
      alert.facts.changes === undefined
        ? `${alert.facts.clearing ? "recovering, " : ""}${short}`
        : changesPhrase(alert),
    was,
  };
}

/** `flapping: 6 changes in 9 m,` with a comma for what follows. */
function changesPhrase({ facts: { changes, changesSince }, updatedAt }: Alert): string {
  if (!changes || changesSince === undefined) return "flapping";
  return `flapping: ${changes} changes in ${span(changesSince, updatedAt)},`;
}

const PLACES_LENGTH = 120;

/** `all 4 recordings offline`, or as many of them as are; of a group, with where they are. */
function outageExtent({ facts, labels }: Alert): string {
  const { offline, of, outside = 0, unread = 0 } = facts;
  if (offline === undefined || of === undefined) return "offline";
  const leftOut = leftOutPhrase(facts);
  if (leftOut !== "" && offline > 0)
    return `${figure(offline)} of ${counted(of + outside + unread, "recording")} offline; ${leftOut}`;
  if (offline === 0) return `recovering, 0 of ${counted(of, "recording")} still offline, down`;
  const names = clean(labels.location_id === undefined ? placesPhrase(facts) : "", PLACES_LENGTH);
  const places = names && ` at ${names}`;
  if (offline < of) return `${figure(offline)} of ${counted(of, "recording")} offline${places}`;
  return of === 1 ? "its only recording offline" : `all ${figure(of)} recordings offline${places}`;
}

/** Of a location, or of recordings that share another label. */
function outageWording(key: ProblemKind, noun: string): Wording {
  const one: Wording["one"] = (alert, still) => {
    const extent = alert.facts.offline === 0 ? "recovering" : `${still ? "still " : ""}${outageExtent(alert)}`;
    return `${plainName(alert, 60)}: ${extent}`;
  };
  return {
    key,
    count: ([first, ...others], still) =>
      first && others.length === 0
        ? one(first, still)
        : `${counted(others.length + 1, noun)} ${still ? "still " : ""}offline`,
    one,
    is: outageExtent,
    was: "was offline",
  };
}

function countsWording(key: "counts_low" | "counts_high"): Wording {
  const { short, adjective, was } = recordingProblems[key];
  return {
    key,
    count: (alerts, still) => `${subjectsOf(alerts)}${still ? " still" : ""} ${adjective}`,
    one: (alert, still) => `${shortName(alert, NAME_IN_TITLE)}${still ? " still" : ""}: ${short}`,
    short: (count) => `${figure(count)} ${short}`,
    is: () => short,
    was,
  };
}

/** `1 location and 2 recordings`. */
function subjectsOf(alerts: readonly Alert[]): string {
  const locations = alerts.filter(({ subject }) => subject.kind === "location").length;
  const parts = [
    locations && counted(locations, "location"),
    alerts.length > locations && counted(alerts.length - locations, "recording"),
  ];
  return parts.filter((part) => part).join(" and ");
}

const COUNTS_TOGETHER: Wording = {
  key: "counts_together",
  count: (alerts, still) =>
    alerts.length === 1 && alerts[0]
      ? COUNTS_TOGETHER.one(alerts[0], still)
      : `Counts ${still ? "still " : ""}dropped together in ${figure(alerts.length)} groups`,
  one: (alert, still) => `${shortName(alert, NAME_IN_TITLE)}: counts ${still ? "still " : ""}dropped together`,
  is: () => "counts dropped together",
  was: "counted less at most locations",
};

const NOTIFICATIONS_FAILING: Wording = {
  key: "notifications_failing",
  count(alerts, still) {
    const names = alerts.slice(0, 2).map((alert) => plainName(alert));
    const where = alerts.length > 2 ? `${figure(alerts.length)} integrations` : names.join(" and ");
    return `Notifications ${still ? "still " : ""}failing: ${where}`;
  },
  one: (alert, still) => NOTIFICATIONS_FAILING.count([alert], still),
  is: () => "notifications failing",
  was: "was failing",
  meaning: "Notifications to that receiver are not delivered.",
};

function serviceWording(key: ProblemKind, state: string, meaning: string): Wording {
  return {
    key,
    count: (_, still) => `Analytics service ${still ? "still " : ""}${state}`,
    one: (_, still) => `Analytics service ${still ? "still " : ""}${state}`,
    is: () => state,
    was: `was ${state}`,
    meaning,
  };
}

const WORDINGS: ReadonlyMap<string, Wording> = new Map(
  [
    ...Object.entries(recordingProblems).map(([key, words]) => recordingWording(key as ProblemKind, words)),
    countsWording("counts_low"),
    countsWording("counts_high"),
    COUNTS_TOGETHER,
    outageWording("location_offline", "location"),
    ...groupLabels.map((label) => outageWording(`${label}_offline`, groupNouns[label])),
    serviceWording(
      "service_unreachable",
      "unreachable",
      "The status of recordings is unknown until they can be read again: no alert does not mean that a recording is online.",
    ),
    serviceWording(
      "service_partly_unreachable",
      "partly unreachable",
      "Some recordings or uptime figures are not up to date: for those, no alert does not mean that all is well.",
    ),
    NOTIFICATIONS_FAILING,
  ].map((wording) => [wording.key, wording]),
);

/** `CameraDown` reads `2 recordings: camera down`; the name of an external alert stays as its sender writes it. */
function namedWording(alert: Alert): Wording {
  const { kind } = alert.subject;
  const name = alert.labels.alertname ?? (kind === "external" ? "alert" : alert.ruleId);
  const words = kind === "external" ? clean(name, 60) || "alert" : inWords(name);
  const noun = kind === "service" || kind === "external" ? "alert" : kind;
  return {
    key: `${kind}/${name}`,
    count: (alerts, still) => `${counted(alerts.length, noun)}${still ? " still" : ""}: ${words}`,
    one: (alert, still) => namedOne(alert, words, still),
    short: (count) => `${figure(count)} ${words}`,
    is: () => words,
    was: `was reported: ${words}`,
  };
}

/** `Entrance: camera down`; of an external alert its own name first, `DiskFull: nas-1`. */
function namedOne(alert: Alert, words: string, still: boolean): string {
  const name = shortName(alert, NAME_IN_TITLE);
  if (alert.subject.kind !== "external") return `${name}${still ? " still" : ""}: ${words}`;
  return [`${words}${still ? " still firing" : ""}`, ...(name === words ? [] : [name])].join(": ");
}

function inWords(name: string): string {
  const spaced = clean(name, 60)
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .replace(/[_\s]+/g, " ");
  return spaced.trim().toLowerCase() || "alert";
}
