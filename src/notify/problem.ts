/** What an alert says is wrong, in words: alone, in a count, and in the past. */

import type { Alert } from "../health/alert.ts";
import { problems, type RecordingProblemWords } from "../health/problem-kinds.ts";
import { recordingProblems } from "../health/recording-conditions.ts";
import { counted, count as figure } from "../lib/format.ts";
import { changesPhrase } from "./flapping.ts";
import { clean, locationName, plainName } from "./name.ts";

/** The words of one problem. */
export interface Problem {
  /** Alerts with the same key are counted together. */
  readonly key: string;
  /** `2 recordings offline`; with `still`, `2 recordings still offline`. Given all alerts of this key. */
  readonly title: (alerts: readonly Alert[], still: boolean) => string;
  /** After another problem of recordings: `1 quality low`. Undefined: `title` says it. */
  readonly short: ((count: number) => string) | undefined;
  /** In an alert's own line, after its name: `offline`. */
  readonly is: (alert: Alert) => string;
  /** In an alert's own line once it is over: `was offline`. */
  readonly was: string;
  /** A sentence on what this means for whoever reads it. */
  readonly meaning?: string;
}

/** The problem of an alert: what its rule watches; else by its name; else that name in words. */
export function problemOf(alert: Alert): Problem {
  // What others send means what they mean by it, whatever it is called.
  if (alert.subject.kind === "external") return ownProblem(alert, alert.labels.alertname ?? "alert");
  const name = alert.labels.alertname ?? alert.ruleId;
  const watched = alert.facts.problem && problems[alert.facts.problem]?.rule;
  return PROBLEMS.get(watched ?? name) ?? ownProblem(alert, name);
}

function ofRecordings({ rule: key, adjective, short, was }: RecordingProblemWords): [string, Problem] {
  return [
    key,
    {
      key,
      title: (alerts, still) => `${counted(alerts.length, "recording")}${still ? " still" : ""} ${adjective}`,
      short: (count) => `${figure(count)} ${short}`,
      is: (alert) => (alert.facts.changes === undefined ? short : changesPhrase(alert)),
      was,
    },
  ];
}

/** `all 4 recordings offline`, or as many of them as are. */
function locationExtent({ facts: { offline, of } }: Alert): string {
  if (offline === undefined || of === undefined) return "offline";
  if (offline === 0) return `coming back, 0 of ${counted(of, "recording")} still offline, down`;
  if (offline < of) return `${figure(offline)} of ${counted(of, "recording")} offline`;
  return of === 1 ? "its only recording offline" : `all ${figure(of)} recordings offline`;
}

function whole(
  key: string,
  words: Pick<Problem, "was" | "meaning"> & { now: string; still: string; is: string },
): [string, Problem] {
  const { now, still, is, ...rest } = words;
  return [key, { key, title: (_, again) => (again ? still : now), short: undefined, is: () => is, ...rest }];
}

const PROBLEMS: ReadonlyMap<string, Problem> = new Map([
  ...Object.values(recordingProblems).map(ofRecordings),
  [
    "LocationOffline",
    {
      key: "LocationOffline",
      title(alerts, still) {
        const [only] = alerts;
        const again = still ? "still " : "";
        if (alerts.length === 1 && only?.facts.offline === 0) return `${locationName(only, 60)}: coming back`;
        return alerts.length === 1 && only
          ? `${locationName(only, 60)}: ${again}${locationExtent(only)}`
          : `${counted(alerts.length, "location")} ${again}offline`;
      },
      short: undefined,
      is: locationExtent,
      was: "was offline",
    },
  ],
  whole("ServiceUnreachable", {
    now: "lenswatch cannot see the service",
    still: "lenswatch still cannot see the service",
    is: "out of reach",
    was: "was out of reach",
    meaning:
      "Nobody knows now which recordings are online: until this is over, no news about a recording is not good news.",
  }),
  whole("ServicePartlyUnreachable", {
    now: "lenswatch sees only part of the service",
    still: "lenswatch still sees only part of the service",
    is: "partly out of reach",
    was: "was partly out of reach",
    meaning: "Some recordings or uptime figures are not up to date: for those, no news is not good news.",
  }),
  [
    "NotificationsFailing",
    {
      key: "NotificationsFailing",
      title(alerts, still) {
        const names = alerts.slice(0, 2).map((alert) => plainName(alert));
        const where = alerts.length > 2 ? `${alerts.length} integrations` : names.join(" and ");
        return `Notifications ${still ? "still " : ""}failing: ${where}`;
      },
      short: undefined,
      is: () => "messages do not get out",
      was: "messages did not get out",
      meaning: "Whoever relies on that receiver is not being told what happens.",
    },
  ],
] as [string, Problem][]);

/** A rule nobody here knows: `CameraDown` reads `2 recordings: camera down`. Names from outside stay as they are known there. */
function ownProblem(alert: Alert, name: string): Problem {
  const { kind } = alert.subject;
  const words = kind === "external" ? clean(name, 60) || "alert" : inWords(name);
  const noun = kind === "service" || kind === "external" ? "alert" : kind;
  return {
    key: `${alert.subject.kind}/${name}`,
    title: (alerts, still) => `${counted(alerts.length, noun)}${still ? " still" : ""}: ${words}`,
    short: (count) => `${figure(count)} ${words}`,
    is: () => words,
    was: `was reported: ${words}`,
  };
}

function inWords(name: string): string {
  const spaced = clean(name, 60)
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .replace(/[_\s]+/g, " ");
  return spaced.trim().toLowerCase() || "alert";
}
