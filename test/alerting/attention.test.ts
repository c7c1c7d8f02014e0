import { describe, expect, test } from "vitest";
import { alertsOfCluster, attentionOf, clustersOf, phraseOf } from "../../src/alerting/attention.ts";
import type { Alert } from "../../src/health/alert.ts";
import { anAlert } from "../support/fixtures.ts";
import { seededRandom } from "../support/random.ts";

const MINUTE = 60_000;
const NOW = Date.parse("2026-01-31T12:00:00Z");

function offline(id: string, minutesAgo: number, labels: Record<string, string> = {}): Alert {
  return anAlert({
    subject: { kind: "recording", id },
    labels: { alertname: "RecordingOffline", recording_id: id, location_id: `loc-${id}`, ...labels },
    startsAt: NOW - minutesAgo * MINUTE,
    facts: { timezone: "UTC", problem: "offline" },
  });
}

const ids = (alerts: readonly Alert[]) => alerts.map(({ subject }) => subject.id).sort();

describe("which alerts need somebody", () => {
  test.each([
    [{}, "needed"],
    [{ silencedBy: [], inhibitedBy: [], mutedBy: [] }, "needed"],
    [{ isPaused: true }, "paused"],
    [{ mutedBy: ["night"], isPaused: true }, "muted"],
    [{ mutedBy: ["night"], maintenance: { by: "stock-take" } }, "maintenance"],
    [{ acknowledgement: { author: "dana" }, mutedBy: ["night"] }, "acknowledged"],
    [{ inhibitedBy: ["a"], acknowledgement: { author: "dana" } }, "inhibited"],
    [{ silencedBy: ["s1"], inhibitedBy: ["a"] }, "silenced"],
  ])("%j is %s", (of, attention) => {
    expect(attentionOf(of)).toBe(attention);
  });
});

describe("clusters", () => {
  test("are what began within a few minutes; then what shares a location, or a camera server", () => {
    const together = [offline("a", 10), offline("b", 11), offline("c", 12.5)];
    const here = [offline("d", 60, { location_id: "leeds" }), offline("e", 300, { location_id: "leeds" })];
    const server = [offline("f", 600, { camera_server: "cs-1" }), offline("g", 900, { camera_server: "cs-1" })];
    const alone = [offline("h", 2_000), offline("i", 2_001)];
    const { clusters, single } = clustersOf([...alone, ...server, ...here, ...together]);
    expect(clusters.map(({ alerts }) => ids(alerts))).toEqual([
      ["a", "b", "c"],
      ["d", "e"],
      ["f", "g"],
    ]);
    expect(clusters[0]?.since).toBe(NOW - 12.5 * MINUTE);
    expect(ids(single)).toEqual(["h", "i"]);
  });

  test("leave out alerts about lenswatch itself", () => {
    const own = anAlert({ subject: { kind: "service", id: "analytics" }, startsAt: NOW - 10 * MINUTE });
    const { clusters, single } = clustersOf([own, offline("a", 10), offline("b", 10)]);
    expect(clusters).toEqual([]);
    expect(single[0]).toBe(own);
  });

  test("of any alerts hold each of them once, and their keys mean them and what joined", () => {
    const random = seededRandom(7);
    for (let round = 0; round < 50; round++) {
      const alerts = Array.from({ length: 1 + Math.floor(random() * 60) }, (_, i) =>
        offline(`r${i}`, random() * 400, { location_id: `l${Math.floor(random() * 20)}`, camera_server: "" }),
      );
      const { clusters, single } = clustersOf(alerts);
      expect(ids([...clusters.flatMap((cluster) => cluster.alerts), ...single])).toEqual(ids(alerts));
      for (const { key, alerts: own } of clusters) expect(ids(alertsOfCluster(key, alerts))).toEqual(ids(own));
    }
  });

  test("a key still means those that are left once others have ended, and nothing else", () => {
    const alerts = [offline("a", 10), offline("b", 11), offline("c", 12), offline("d", 500)];
    const key = clustersOf(alerts).clusters[0]?.key ?? "";
    expect(ids(alertsOfCluster(key, alerts.slice(1)))).toEqual(["b", "c"]);
    for (const other of ["", "t:1-x", "location_id:", "location_id:nowhere", "severity:critical"])
      expect(alertsOfCluster(other, alerts)).toEqual([]);
  });
});

test("a phrase counts each subject once, the most severe problem first, then the most frequent", () => {
  const location = (id: string) =>
    anAlert({ subject: { kind: "location", id }, facts: { timezone: "UTC", problem: "location_offline" } });
  const disk = anAlert({
    subject: { kind: "external", id: "x" },
    labels: { alertname: "DiskFull", severity: "critical" },
  });
  expect(phraseOf([offline("a", 1), offline("a", 2), location("l1"), location("l2"), disk])).toBe(
    "1 alert: DiskFull, 2 locations offline, 1 recording offline",
  );
});
