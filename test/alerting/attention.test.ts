import { describe, expect, test } from "vitest";
import { attentionOf } from "../../src/alerting/attention.ts";
import { alertsOfCluster, causePhrase, causesIn, clustersOf } from "../../src/alerting/clusters.ts";
import { readClusters } from "../../src/alerting/group-sizes.ts";
import { phraseOf } from "../../src/alerting/words.ts";
import type { Alert } from "../../src/health/alert.ts";
import { NOW as FLEET_NOW, fleetOf, recordingState } from "../metrics/fleets.ts";
import { anAlert, aRecording } from "../support/fixtures.ts";
import { overviewOfFleet } from "../support/overviews.ts";
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
  const sizesOf = (known: Record<string, number>, fleet = 100, offline = 0, moved = "") => ({
    fleet: { known: fleet, offline, unknown: 0 },
    of: (label: string, value: string) => {
      const size = known[`${label}=${value}`];
      return size === undefined ? undefined : { known: size, offline: size };
    },
    has: (id: string) => id !== moved,
  });
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
      const sizes = round % 2 ? sizesOf({ "location_id=l1": 5, "location_id=l2": 3, "location_id=l3": 2 }) : undefined;
      const { clusters, single } = clustersOf(alerts, sizes);
      expect(ids([...clusters.flatMap((cluster) => cluster.alerts), ...single])).toEqual(ids(alerts));
      for (const { key, alerts: own } of clusters)
        expect(ids(alertsOfCluster(key, alerts, sizes && (() => sizes)))).toEqual(ids(own));
    }
  });

  const on = (server: string, n: number, minutesAgo: number) =>
    Array.from({ length: n }, (_, i) => offline(`${server}-${i}`, minutesAgo + i / 10, { camera_server: server }));

  test("that began together are apart by the label that explains them, and their keys mean them alone", () => {
    const alerts = [...on("edge-7", 4, 10), ...on("edge-8", 3, 10), ...on("other", 3, 11)];
    const sizes = sizesOf({ "camera_server=edge-7": 4, "camera_server=edge-8": 3, "camera_server=other": 30 });
    const { clusters } = clustersOf(alerts, sizes);
    expect(clusters.map(({ alerts: own, cause }) => [own.length, cause && causePhrase(cause)])).toEqual([
      [4, "all 4 recordings of camera server edge-7"],
      [3, "all 3 recordings of camera server edge-8"],
      [3, undefined],
    ]);
    for (const { key, alerts: own } of clusters) {
      expect(ids(alertsOfCluster(key, alerts))).toEqual(ids(own));
      expect(ids(alertsOfCluster(key, own.slice(1)))).toEqual(ids(own.slice(1)));
    }
  });

  test("are not explained by a label of the whole fleet, or with too few of those that have it", () => {
    const alerts = on("edge-7", 4, 10).map((alert) => ({ ...alert, labels: { ...alert.labels, timezone: "UTC" } }));
    for (const sizes of [sizesOf({ "camera_server=edge-7": 8 }), sizesOf({ "timezone=UTC": 4 }, 4), undefined])
      expect(clustersOf(alerts, sizes).clusters.map(({ cause }) => cause)).toEqual([undefined]);
  });

  test.each([
    ["timezone", "Europe/London", 20, 20, false],
    ["organisation", "acme", 10, 20, false],
    ["organisation", "acme", 17, 20, false],
    ["organisation", "acme", 18, 20, true],
    ["camera_server", "edge-7", 11, 20, false],
    ["camera_server", "edge-7", 20, 20, true],
  ])(
    "of a %s (%s) with %i of %i affected: one, with a cause where it is that of nine in ten",
    (label, value, n, known, is) => {
      const alerts = Array.from({ length: n }, (_, i) => offline(`r${i}`, 10, { [label]: value }));
      const others = Array.from({ length: 12 }, (_, i) => offline(`o${i}`, 10));
      const { clusters, single } = clustersOf([...alerts, ...others], sizesOf({ [`${label}=${value}`]: known }));
      expect(clusters.map((one) => [one.alerts.length, one.cause?.label])).toEqual(
        is
          ? [
              [n, label],
              [12, undefined],
            ]
          : [[n + 12, undefined]],
      );
      expect(single).toEqual([]);
    },
  );

  test("say that no other recording is offline only where that is so", () => {
    const cause = (offlineInFleet: number) =>
      clustersOf(on("edge-7", 4, 10), sizesOf({ "camera_server=edge-7": 4 }, 100, offlineInFleet)).clusters[0]?.cause;
    expect([4, 5].map((n) => cause(n)?.isAlone)).toEqual([true, false]);
    const leeds = { label: "location_id", value: "l1", name: "Leeds", affected: 4, known: 4, isAlone: true };
    expect(causePhrase(leeds)).toBe("all 4 recordings at Leeds, no other");
  });

  test("claim no more of any fleet than is so: all of a label only where each is offline, no other where none is", () => {
    const claims = { all: 0, alone: 0, part: 0 };
    for (let seed = 1; seed <= 300; seed++) {
      const random = seededRandom(seed);
      const pick = <T>(...of: readonly T[]) => of[Math.floor(random() * of.length)] as T;
      const bad = pick("edge-1", "edge-2");
      const rows = Array.from({ length: 16 + Math.floor(random() * 24) }, (_, i) => {
        const server = pick("edge-1", "edge-1", "edge-2", "edge-3");
        const isDown = server === bad && random() < 0.95;
        const odd = random() < 0.02 ? pick("online", "offline", "unknown") : undefined;
        const moved = random() < 0.02 ? pick("edge-1", "edge-2") : server;
        return {
          id: `r${i}`,
          at: pick("a", "b", "c"),
          server,
          moved,
          isDown,
          status: odd ?? (isDown ? "offline" : "online"),
        };
      });
      const alerts = rows
        .filter(({ isDown, status }) => isDown || status === "offline")
        .map(({ id, at, server }) =>
          offline(id, random() < 0.05 ? 900 : 10, { location_id: at, camera_server: server }),
        );
      const states = rows.map(({ id, at, status }) =>
        recordingState(id, {
          locationId: at,
          readAt: status === "unknown" ? 0 : FLEET_NOW,
          status: status as "online",
        }),
      );
      const servers = new Map(rows.map(({ id, moved }) => [id, aRecording(id, { cameraServer: moved })]));
      const inventory = { recording: (id: string) => servers.get(id), location: () => undefined };
      const fleet = overviewOfFleet({ ...fleetOf({ recordings: states }), inventory });
      const { clusters } = readClusters(alerts, fleet);
      for (const { cause } of clusters) {
        if (!cause || !["camera_server", "location_id"].includes(cause.label)) continue;
        const own = rows.filter((row) => (cause.label === "location_id" ? row.at : row.moved) === cause.value);
        const words = causePhrase(cause);
        const down = own.filter(({ status }) => status === "offline").length;
        expect(cause.known, `${seed}: ${words}`).toBe(own.length);
        expect(cause.affected, `${seed}: ${words}`).toBeLessThanOrEqual(down);
        if (words.startsWith("all ")) expect(down, `${seed}: ${words}`).toBe(own.length);
        const others = rows.filter((row) => !own.includes(row) && row.status !== "online");
        if (words.endsWith(", no other")) expect([others, down], `${seed}: ${words}`).toEqual([[], cause.affected]);
        claims[words.endsWith(", no other") ? "alone" : words.startsWith("all ") ? "all" : "part"] += 1;
      }
    }
    expect(Math.min(...Object.values(claims)), JSON.stringify(claims)).toBeGreaterThan(10);
  });

  test("say nothing of others for a problem that is not known of every recording", () => {
    const low = on("edge-7", 10, 10).map((alert) => ({
      ...alert,
      facts: { ...alert.facts, problem: "low_quality" as const },
    }));
    const words = (moved?: string) => {
      const [cluster] = clustersOf(low, sizesOf({ "camera_server=edge-7": 10 }, 100, 10, moved)).clusters;
      return cluster?.cause && causePhrase(cluster.cause);
    };
    expect(words()).toBe("all 10 recordings of camera server edge-7");
    expect(words("edge-7-0"), "one is on another by now").toBe("9 of 10 recordings of camera server edge-7");
  });

  test("explain a message that has several of them, the widest first, and a location only among others", () => {
    const alerts = [...on("edge-7", 4, 10), ...on("edge-8", 5, 10)];
    const sizes = sizesOf({ "camera_server=edge-7": 4, "camera_server=edge-8": 5, "location_id=l": 9 });
    const { clusters } = clustersOf(alerts, sizes);
    const explained = (of: readonly Alert[]) => causesIn(clusters, of).map(causePhrase);
    const [seven, eight] = ["all 4 recordings of camera server edge-7", "all 5 recordings of camera server edge-8"];
    expect(explained(alerts)).toEqual([eight, seven]);
    expect(explained(alerts.slice(1)), "the same of three as of all").toEqual([eight, seven]);
    expect(explained(alerts.slice(2))).toEqual([eight]);
    const here = alerts.map((alert) => ({ ...alert, labels: { location_id: "l", location: "Leeds" } }));
    const at = clustersOf(here, sizes).clusters;
    expect(causesIn(at, here)).toEqual([]);
    expect(causesIn(at, [...here, offline("x", 10)]).map(causePhrase)).toEqual(["all 9 recordings at Leeds"]);
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
    "1 DiskFull alert firing, 2 locations offline, 1 recording offline",
  );
});
