import { describe, expect, test } from "vitest";
import { matchesAll, parseMatchers } from "../../src/alerting/matcher.ts";
import { matchersOf, silencesFor } from "../../src/alerting/prepared-silence.ts";
import {
  type Alert,
  defaultAlertNames,
  groupLabels,
  type ProblemKind,
  recordingProblems,
  scopeOf,
  sharedOutages,
} from "../../src/health/alert.ts";
import { anAlert } from "../support/fixtures.ts";
import { seededRandom } from "../support/random.ts";

/** Names that have to be escaped, in a matcher or in a pattern. */
const SITES = ["1", 'l"2|.*', "l3\\d+"];

/** Every problem, of every subject it can be of, in a small fleet. */
function everyAlert(): Alert[] {
  const all: Alert[] = [];
  const add = (problem: ProblemKind, kind: Alert["subject"]["kind"], id: string, labels: Alert["labels"]) =>
    all.push(
      anAlert({
        subject: { kind, id },
        labels: { alertname: defaultAlertNames[problem], severity: "critical", ...labels },
        facts: { timezone: "UTC", problem },
      }),
    );
  const shared = { organisation: "acme", timezone: "Europe/London", camera_server: "edge-7" };
  for (const site of SITES) {
    const here = { location_id: site, location: `Site ${site}`, ...shared };
    for (const camera of ["a", "b"]) {
      const id = `${site}-${camera}`;
      for (const problem of Object.keys(recordingProblems) as ProblemKind[])
        add(problem, "recording", id, { recording_id: id, recording: camera, ...here });
    }
    for (const problem of ["location_offline", "counts_low"] as const) add(problem, "location", site, here);
  }
  for (const label of groupLabels) {
    const value = shared[label];
    for (const problem of [`${label}_offline`, "counts_together"] as const)
      add(problem, "group", `${label}/${value}`, { [label]: value });
  }
  for (const problem of ["service_unreachable", "service_partly_unreachable"] as const)
    add(problem, "service", "analytics", {});
  for (const integration of ["slack", "email"])
    add("notifications_failing", "integration", `ops/${integration}`, { receiver: "ops", integration });
  return all;
}

const holding = (texts: readonly string[], all: readonly Alert[]) => {
  const silences = texts.map((text) => parseMatchers(text));
  return all.filter(({ labels }) => silences.some((matchers) => matchesAll(matchers, labels))).map(({ key }) => key);
};

/** Whether what is said of all recordings with a label explains the other: an outage any problem, others the same one. */
function explains({ subject, facts, labels: own }: Alert, { labels }: Alert): boolean {
  const scope = scopeOf(subject);
  const isOne = sharedOutages.has(facts.problem) || labels.alertname === own.alertname;
  return scope !== undefined && isOne && labels[scope.label] === scope.value;
}

describe("a silence prepared for an alert", () => {
  const all = everyAlert();
  test.each(all.map((alert) => [alert.key, alert] as const))(
    "matches %s, and of others what it explains",
    (_, alert) => {
      const text = matchersOf(alert);
      const expected = all.filter((other) => other === alert || explains(alert, other));
      expect(holding([text], all), text).toEqual(expected.map(({ key }) => key));
    },
  );

  test.each([
    ["LowQuality/recording/1-a", 'alertname="LowQuality", recording_id="1-a"'],
    ["LocationOffline/location/1", 'location_id="1"'],
    ["CountsImplausible/location/1", 'alertname="CountsImplausible", location_id="1"'],
    ["CameraServerOffline/group/camera_server/edge-7", 'camera_server="edge-7"'],
    [
      "CountsDroppedTogether/group/timezone/Europe/London",
      'alertname="CountsDroppedTogether", timezone="Europe/London"',
    ],
    [
      "NotificationsFailing/integration/ops/slack",
      'alertname="NotificationsFailing", receiver="ops", integration="slack"',
    ],
    ["ServiceUnreachable/service/analytics", 'alertname="ServiceUnreachable"'],
  ])("of %s reads %s", (key, expected) => {
    const alert = all.find((one) => one.key === key);
    expect(alert && matchersOf(alert)).toBe(expected);
  });

  test("from outside names each of its labels", () => {
    const labels = { alertname: "A", odd: 'a"b', location_id: "1" };
    expect(matchersOf(anAlert({ subject: { kind: "external", id: "x" }, labels }))).toBe(
      'alertname="A", location_id="1", odd="a\\"b"',
    );
  });
});

describe("the silences prepared for many alerts", () => {
  test("match what those of each match, whatever is picked, and are the same for any order", () => {
    const all = everyAlert();
    const random = seededRandom(5);
    for (let round = 0; round < 60; round++) {
      const picked = all.filter(() => random() < 0.02 + round / 100);
      const silences = silencesFor(picked);
      expect(holding(silences, all)).toEqual(holding(picked.map(matchersOf), all));
      expect(silencesFor(picked.toReversed())).toEqual(silences);
    }
  });

  test("are one for a thousand locations of short ids, and stay below the length of a pattern for any", () => {
    const sites = (length: number) =>
      Array.from({ length: 1_000 }, (_, i) => {
        const id = String(i).padStart(length, "0");
        const facts = { timezone: "UTC", problem: "location_offline" } as const;
        return anAlert({ labels: { alertname: "LocationOffline", location_id: id }, facts });
      });
    expect(silencesFor(sites(3))).toHaveLength(2);
    for (const text of silencesFor(sites(24))) expect(text.length).toBeLessThan(4_096);
    expect(silencesFor(sites(24))).toHaveLength(7);
  });
});
