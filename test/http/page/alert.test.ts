import { expect, test } from "vitest";
import { fingerprint } from "../../../src/alerting/fingerprint.ts";
import type { Alert } from "../../../src/health/alert.ts";
import { toStoredEpisode } from "../../../src/store/episodes.ts";
import { fleetOf, NOW, recordingState } from "../../metrics/fleets.ts";
import { aRecording, aSilence } from "../../support/fixtures.ts";
import { serve, shownConfig } from "../serve.ts";
import { active, alertOf, pageOf, smallFleet, unreachable } from "./fleet.ts";
import { shownText } from "./read-page.ts";
import { signedIn } from "./visitor.ts";

const MINUTE = 60_000;
const alert = alertOf("RecordingOffline");
const path = `/alerts/${fingerprint(alert.labels)}`;

/** The page of an alert that fires. */
const pageAt = (one: Alert, deps: Parameters<typeof pageOf>[1] = {}) =>
  pageOf(`/alerts/${fingerprint(one.labels)}`, { alerts: active(one), ...deps });

test("the decision log is its own, since it began", async () => {
  const asked: unknown[] = [];
  const timeline = async (...given: unknown[]) => {
    asked.push(given);
    const line = { subject: alert.subject, at: NOW - 10 * MINUTE, reason: "firing" };
    return [
      { ...line, ruleId: "RecordingOffline" },
      { ...line, ruleId: "LowUptime" },
    ];
  };
  const { shown } = await pageAt(alert, { timeline });
  expect(shown).toContain("11:50 GMT RecordingOffline: fires");
  expect(shown.join()).not.toContain("LowUptime");
  expect(asked).toEqual([[[alert.subject], NOW - 12 * MINUTE]]);
});

test("links to its runbook and its source, and nowhere that is no web page", async () => {
  const external = alertOf("DiskFull", {
    subject: { kind: "external", id: "f" },
    labels: { alertname: "DiskFull", instance: "db-1" },
    annotations: { runbook_url: "https://wiki.example/a?b=c&d", summary: "The disk is full" },
    facts: { timezone: "UTC", generatorUrl: "http://prometheus.example/graph" },
  });
  const { links } = await pageAt(external);
  expect(links.get("Runbook")).toBe("https://wiki.example/a?b=c&d");
  expect(links.get("Source")).toBe("http://prometheus.example/graph");
  for (const bad of ["javascript:alert(1)", "data:text/html,x", "//evil.example", "x".repeat(3_000)]) {
    const page = await pageAt(alertOf("A", { annotations: { runbook_url: bad } }));
    expect(page.links.has("Runbook"), bad).toBe(false);
  }
});

test("what suppresses it is said, by whom and until when", async () => {
  const until = NOW + 60 * MINUTE;
  const suppressed = {
    alert: alertOf("RecordingOffline", { facts: { timezone: "UTC", problem: "offline", paused: true } }),
    receivers: ["ops"],
    silencedBy: ["s1"],
    inhibitedBy: [fingerprint(unreachable.labels)],
    mutedBy: ["out-of-hours"],
    maintenance: { reason: "maintenance", by: "stock-take", until, comment: "recorders off" } as const,
  };
  const alerts = async () => [suppressed, ...(await active(unreachable)())];
  const silences = async () => [aSilence({ startsAt: NOW, endsAt: until })];
  const { shown, links } = await pageAt(alert, { alerts, silences });
  expect(shown).toEqual(
    expect.arrayContaining([
      "Silenced by dana until 13:00 UTC: rewiring since 12:00 UTC",
      "Inhibited by ServiceUnreachable (Analytics service) since 11:50 UTC",
      "Muted by the time interval out-of-hours",
      "In the maintenance stock-take until 13:00 UTC: recorders off",
      "Paused outside the recording's uploading schedule",
    ]),
  );
  expect(links.get("ServiceUnreachable (Analytics service)")).toBe(`../alerts/${fingerprint(unreachable.labels)}`);
});

test("what else fires there is named, how often it fired, and what it costs", async () => {
  const low = alertOf("LowQuality", { labels: { ...alert.labels, alertname: "LowQuality", recording: "Entrance" } });
  const before = { ...toStoredEpisode(alert), id: "before", startsAt: NOW - 300 * MINUTE, endsAt: NOW - 299 * MINUTE };
  const { shown, links } = await pageAt(alert, {
    alerts: active(alert, low),
    episodes: async () => [
      { ...before, endReason: "recovered", planned: "stock-take" },
      { ...toStoredEpisode(alert), uncounted: { estimate: 312, low: 264, high: 369 } },
    ],
  });
  expect(shown).toEqual(
    expect.arrayContaining([
      "About 310 visits uncounted so far (260–370)",
      "Also firing here: Offline (Entrance).",
      "1 other time in the last 30 days",
      "RecordingOffline | began 07:00:00 GMT | ended 07:01:00 GMT | lasted 1 m | recovered; planned: stock-take",
    ]),
  );
  expect(links.get("Offline (Entrance)")).toBe(`../alerts/${fingerprint(low.labels)}`);
});

test("of a camera server has its locations, with how many are offline there", async () => {
  const at = (location: string, offline: number, of: number) =>
    Array.from({ length: of }, (_, i) =>
      recordingState(`${location}-${i}`, {
        locationId: location,
        status: i < offline ? "offline" : "online",
        lastSeenAt: NOW - (12 + i) * MINUTE,
      }),
    );
  const recordings = [...at("bath", 1, 4), ...at("leeds", 3, 3), ...at("york", 2, 2), ...at("oslo", 2, 2)];
  const inventory = {
    recording: (id: string) => aRecording(id, { cameraServer: id.startsWith("oslo") ? "edge-8" : "edge-7" }),
    location: (id: string) => ({ id, name: id.toUpperCase(), timezone: "UTC" }),
  };
  const group = alertOf("CameraServerOffline", {
    subject: { kind: "group", id: "camera_server/edge-7" },
    labels: { alertname: "CameraServerOffline", camera_server: "edge-7" },
    facts: { timezone: "UTC", problem: "camera_server_offline", offline: 6, of: 9, locations: 3 },
  });
  const { shown, links } = await pageAt(group, { fleet: async () => ({ ...fleetOf({ recordings }), inventory }) });
  const from = shown.indexOf("3 locations of camera server edge-7") + 3;
  expect(shown.slice(from, from + 3)).toEqual([
    "LEEDS | 3 recordings | ✕ 3 offline",
    "YORK | 2 recordings | ✕ 2 offline",
    "BATH | 4 recordings | ✕ 1 offline ✓ 3 online",
  ]);
  expect(links.get("LEEDS")).toBe("../?location=leeds");
  expect(links.get("edge-7")).toBe("../?q=edge-7");
});

test("its actions come before everything else, and are others once it is acknowledged", async () => {
  const open = { adminToken: "boss-token", fleet: async () => smallFleet } as const;
  const withRunbook = { ...alert, annotations: { runbook_url: "https://wiki.example/a" } };
  const { address } = await serve({ ...open, alerts: active(withRunbook) });
  const { html } = await (await signedIn(address, "boss-token")).get(path);
  const wanted = [">Acknowledge<", ">Silence…<", ">Runbook<", 'name="comment"', 'name="for"', 'id="facts"'];
  const at = wanted.map((text) => html.indexOf(text));
  expect(at).toEqual(at.toSorted((a, b) => a - b));
  expect(Math.min(...at)).toBeGreaterThan(0);

  const acknowledgement = {
    ...{ at: NOW - MINUTE, author: "ana", comment: "on my way", until: NOW + 60 * MINUTE },
    notes: [{ at: NOW, author: "ben", text: "van is there" }],
  };
  const acked = await serve({ ...open, alerts: async () => [{ alert, receivers: ["ops"], acknowledgement }] });
  const after = await (await signedIn(acked.address, "boss-token")).get(path);
  expect(shownText(after.html)).toEqual(
    expect.arrayContaining([
      "Acknowledged by ana until 13:00 GMT: on my way since 11:59 GMT",
      "Note of ben at 12:00 GMT: van is there",
      "Withdraw acknowledgement",
    ]),
  );
  expect(after.html).toContain('name="text"');
  expect(after.html).not.toContain(">Acknowledge<");
});

test("after its end the page says how and when, and what it cost", async () => {
  const ended = {
    ...toStoredEpisode(alert),
    ...{ startsAt: NOW - 90_000, endsAt: NOW - MINUTE },
    endReason: "recovered",
    uncounted: { estimate: 43, low: 30, high: 61 },
  } as const;
  const line = { subject: alert.subject, ruleId: "RecordingOffline" };
  const asked: unknown[] = [];
  const { shown, title } = await pageOf(path, {
    config: () => shownConfig({ counts: { valuePerVisit: 2, currency: "GBP" } }),
    episodes: async () => [{ ...ended, id: "older", startsAt: NOW - 500 * MINUTE, endsAt: NOW - 490 * MINUTE }, ended],
    timeline: async (...given) => {
      asked.push(given);
      return [
        { ...line, at: NOW - 90_000, reason: "firing" },
        { ...line, at: NOW - 80_000, reason: "notified", integration: "ops/slack/0" },
        { ...line, at: NOW - MINUTE, reason: "resolved" },
      ];
    },
  });
  expect(title).toBe("Recovered · Till 3 offline · Leeds Briggate · lenswatch");
  expect(shown).toEqual(
    expect.arrayContaining([
      "Recovered 11:59:00 UTC, lasted 30 s; began 11:58:30 UTC RecordingOffline",
      "About 45 visits uncounted (30–60), about 86 GBP",
      "RecordingOffline: fires → Slack (ops) → 11:59:00 UTC recovered",
      "1 other time in the last 30 days",
    ]),
  );
  expect(asked).toEqual([[[alert.subject], NOW - 90_000 - 1]]);
});
