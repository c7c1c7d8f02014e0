import { describe, expect, test } from "vitest";
import { attentionOf } from "../../src/alerting/attention.ts";
import { episodeOf, incidentsOf } from "../../src/alerting/incident.ts";
import { causePhrase, causesIn, type GroupSizes, sharedCause } from "../../src/alerting/incident-cause.ts";
import { entriesOf } from "../../src/alerting/overview.ts";
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

describe("which alerts need somebody", () => {
  test.each([
    [{}, "needed"],
    [{ silencedBy: [], inhibitedBy: [], mutedBy: [] }, "needed"],
    [{ isPaused: true }, "paused"],
    [{ mutedBy: ["night"], isPaused: true }, "muted"],
    [{ mutedBy: ["night"], maintenance: { by: "stock-take" } }, "maintenance"],
    [{ acknowledgement: { author: "dana" }, mutedBy: ["night"] }, "acknowledged"],
    [{ inhibitedBy: ["a"], acknowledgement: { author: "dana" } }, "acknowledged"],
    [{ silencedBy: ["s1"], inhibitedBy: ["a"] }, "silenced"],
  ])("%j is %s", (of, attention) => {
    expect(attentionOf(of)).toBe(attention);
  });
});

describe("what explains an incident", () => {
  const sizesOf = (known: Record<string, number>, fleet = 100, offline = 0, moved = "") => ({
    fleet: { known: fleet, offline, unknown: 0 },
    of: (label: string, value: string) => {
      const size = known[`${label}=${value}`];
      return size === undefined ? undefined : { known: size, offline: size };
    },
    has: (id: string) => id !== moved,
  });
  const explain = (alerts: readonly Alert[], sizes: GroupSizes) =>
    incidentsOf(alerts.map(episodeOf)).map(({ cause, episodes }) => {
      const own = alerts.filter(({ id }) => episodes.some((one) => one.id === id));
      return { alerts: own, cause: sharedCause(cause, own, sizes) };
    });
  const on = (server: string, n: number, minutesAgo: number) =>
    Array.from({ length: n }, (_, i) => offline(`${server}-${i}`, minutesAgo + i / 10, { camera_server: server }));

  test("is the label that nine in ten of its recordings share, of those that have it, and not the whole fleet", () => {
    const alerts = [...on("edge-7", 4, 10), ...on("edge-8", 3, 10), ...on("other", 3, 60)];
    const sizes = sizesOf({ "camera_server=edge-7": 4, "camera_server=edge-8": 3, "camera_server=other": 30 });
    expect(explain(alerts, sizes).map(({ alerts: own, cause }) => [own.length, cause && causePhrase(cause)])).toEqual([
      [3, "all 3 recordings of camera server edge-8"],
      [4, "all 4 recordings of camera server edge-7"],
      [3, undefined],
    ]);
    for (const sizes of [sizesOf({ "camera_server=edge-7": 8 }), sizesOf({ "camera_server=edge-7": 4 }, 4)])
      expect(explain(on("edge-7", 4, 10), sizes).map(({ cause }) => cause)).toEqual([undefined]);
  });

  test.each([
    ["timezone", "Europe/London", 20, 20, false],
    ["organisation", "acme", 10, 20, false],
    ["organisation", "acme", 17, 20, false],
    ["organisation", "acme", 18, 20, true],
    ["camera_server", "edge-7", 11, 20, false],
    ["camera_server", "edge-7", 20, 20, true],
  ])("a %s (%s) with %i of %i affected explains it: %s", (label, value, n, known, is) => {
    const alerts = Array.from({ length: n }, (_, i) => offline(`r${i}`, 10, { [label]: value }));
    const found = explain(alerts, sizesOf({ [`${label}=${value}`]: known }));
    expect(found.map((one) => [one.alerts.length, one.cause?.label])).toEqual([[n, is ? label : undefined]]);
  });

  test("says that no other recording is offline only where that is so", () => {
    const cause = (offlineInFleet: number) =>
      explain(on("edge-7", 4, 10), sizesOf({ "camera_server=edge-7": 4 }, 100, offlineInFleet))[0]?.cause;
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
      for (const { cause } of entriesOf(alerts, { fleet, alerts, ended: [] })) {
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

  test("says nothing of others for a problem that is not known of every recording", () => {
    const low = on("edge-7", 10, 10).map((alert) => ({
      ...alert,
      facts: { ...alert.facts, problem: "low_quality" as const },
    }));
    const words = (moved?: string) => {
      const sizes = sizesOf({ "camera_server=edge-7": 10 }, 100, 10, moved);
      const cause = sharedCause({ label: "camera_server", value: "edge-7" }, low, sizes);
      return cause && causePhrase(cause);
    };
    expect(words()).toBe("all 10 recordings of camera server edge-7");
    expect(words("edge-7-0"), "one is on another by now").toBe("9 of 10 recordings of camera server edge-7");
  });

  test("explains a message that has several of them, the widest first, and a location only among others", () => {
    const alerts = [...on("edge-7", 4, 10), ...on("edge-8", 5, 10)];
    const sizes = sizesOf({ "camera_server=edge-7": 4, "camera_server=edge-8": 5, "location_id=l": 9 });
    const incidents = explain(alerts, sizes);
    const explained = (of: readonly Alert[]) => causesIn(incidents, of).map(causePhrase);
    const [seven, eight] = ["all 4 recordings of camera server edge-7", "all 5 recordings of camera server edge-8"];
    expect(explained(alerts)).toEqual([eight, seven]);
    expect(explained(alerts.slice(1)), "the same of three as of all").toEqual([eight, seven]);
    expect(explained(alerts.slice(2))).toEqual([eight]);
    const here = alerts.map((alert) => ({ ...alert, labels: { location_id: "l", location: "Leeds" } }));
    const at = explain(here, sizes);
    expect(causesIn(at, here)).toEqual([]);
    expect(causesIn(at, [...here, offline("x", 10)]).map(causePhrase)).toEqual(["all 9 recordings at Leeds"]);
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
