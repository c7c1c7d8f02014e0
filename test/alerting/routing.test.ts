import { describe, expect, test } from "vitest";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { groupOf, groupRoute, type Route, routesFor } from "../../src/alerting/route.ts";
import type { Alert } from "../../src/health/alert.ts";

function route(receiver: string, matchers: string, more: Partial<Route> = {}): Route {
  return {
    key: `{}/${receiver}`,
    receiver,
    matchers: parseMatchers(matchers),
    continue: false,
    groupBy: ["location_id"],
    groupWaitMs: 30_000,
    groupIntervalMs: 300_000,
    repeatIntervalMs: 14_400_000,
    routes: [],
    ...more,
  };
}

describe("routes", () => {
  const tree = route("root", "", {
    routes: [
      route("log", 'alertname=~"Recording.*"', { continue: true }),
      route("critical", 'severity="critical"', {
        routes: [
          route("leeds", 'location_id="L1"'),
          route("york", 'location_id="L2"', { continue: true }),
          route("york-too", 'location_id="L2"'),
        ],
      }),
      route("late", 'severity=~"critical|warning"'),
    ],
  });
  const rows: [string, Record<string, string>, string[]][] = [
    ["whatever nobody takes is the root's", { alertname: "X" }, ["root"]],
    ["the first child that matches wins", { severity: "critical" }, ["critical"]],
    ["deeper nodes win over their parents", { severity: "critical", location_id: "L1" }, ["leeds"]],
    ["`continue` goes on to the next sibling", { severity: "critical", location_id: "L2" }, ["york", "york-too"]],
    [
      "`continue` at every depth",
      { alertname: "RecordingOffline", severity: "critical", location_id: "L2" },
      ["log", "york", "york-too"],
    ],
    ["a later child is asked when earlier ones do not match", { severity: "warning" }, ["late"]],
    ["`continue` with nobody after it is enough", { alertname: "RecordingOffline" }, ["log"]],
  ];
  test.each(rows)("%s", (_, labels, expected) => {
    expect(routesFor(tree, labels).map(({ receiver }) => receiver)).toEqual(expected);
  });
});

const camera = (labels: Record<string, string>) => ({ labels, subject: { kind: "recording", id: "a" } as const });

describe("groups", () => {
  const labels = { alertname: "A", location_id: "L1", recording_id: "a" };
  const group = (groupBy: Route["groupBy"], some: Record<string, string> = labels) =>
    groupOf(route("ops", "", { groupBy }), camera(some));

  test("share the labels grouped by; the others do not matter", () => {
    expect(group(["location_id"]).labels).toEqual({ location_id: "L1" });
    expect(group(["location_id"]).id).toBe(group(["location_id"], { ...labels, recording_id: "b" }).id);
    expect(group(["location_id"]).id).not.toBe(group(["location_id"], { ...labels, location_id: "L2" }).id);
  });

  test("leave out labels an alert does not have", () => {
    expect(group(["location_id", "nothing", "toString"]).labels).toEqual({ location_id: "L1" });
    expect(group(["nothing"]).labels).toEqual({});
  });

  test("do not depend on the order of names, and not on a name given twice", () => {
    expect(group(["alertname", "location_id"]).id).toBe(group(["location_id", "alertname", "location_id"]).id);
  });

  test('with "..." are an alert each', () => {
    expect(group("...").labels).toEqual(labels);
    expect(group("...").id).not.toBe(group("...", { ...labels, recording_id: "b" }).id);
  });

  test("of different routes are different, also with the same labels", () => {
    expect(groupOf(route("a", ""), camera(labels)).id).not.toBe(groupOf(route("b", ""), camera(labels)).id);
  });

  test("cannot be forged by a label's text", () => {
    const forged = group("...", { a: '1", "b"="2' });
    expect(forged.id).not.toBe(group("...", { a: "1", b: "2" }).id);
  });

  const whole = [[], "...", ["location_id"], ["alertname"], ["severity"], ["camera_server", "severity"]] as const;
  test.each(whole.map((groupBy) => [groupBy]))(
    "by %j have alerts about the service and notifications apart",
    (groupBy) => {
      const root = route("root", "", { groupBy: [], routes: [route("ops", "", { groupBy })] });
      const [child = root] = root.routes;
      const of = (kind: Alert["subject"]["kind"], alertname: string) =>
        groupOf(child, { labels: { alertname, severity: "critical" }, subject: { kind, id: "x" } });
      const own = [
        of("service", "ServiceUnreachable"),
        of("service", "ServicePartlyUnreachable"),
        of("integration", "NotificationsFailing"),
      ];
      const others = [
        of("group", "CameraServerOffline"),
        of("external", "DiskFull"),
        of("recording", "RecordingOffline"),
      ];
      const fleet = new Set(others.map(({ id }) => id));
      expect(own.filter(({ id }) => fleet.has(id))).toEqual([]);
      expect(new Set(own.map(({ id }) => id)).size).toBe(3);
      for (const group of [...own, ...others]) expect(groupRoute(root, group)).toBe(child);
    },
  );

  test("have an id that is the same in every process", () => {
    expect(group(["location_id"]).id).toMatch(/^[0-9a-f]{16}$/);
    expect(group(["location_id"]).id).toBe(groupOf({ key: "{}/ops", groupBy: ["location_id"] }, camera(labels)).id);
  });
});
