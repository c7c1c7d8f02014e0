import { describe, expect, test } from "vitest";
import { fingerprint } from "../../../src/alerting/fingerprint.ts";
import type { Alert } from "../../../src/health/alert.ts";
import { toIncident } from "../../../src/store/incidents.ts";
import { fleetOf, NOW, recordingState } from "../../metrics/fleets.ts";
import { aRecording, aSilence } from "../../support/fixtures.ts";
import { serve, shownConfig } from "../serve.ts";
import { active, alertOf, smallFleet, unreachable } from "./fleet.ts";
import { elementOf, linksOf, shownText } from "./read-page.ts";
import { signedIn } from "./visitor.ts";

const MINUTE = 60_000;

async function page(alert: Alert, deps: Parameters<typeof serve>[0] = {}) {
  const { get } = await serve({ fleet: async () => smallFleet, alerts: active(alert), ...deps });
  const response = await get(`/alerts/${fingerprint(alert.labels)}`);
  return { status: response.status, html: await response.text() };
}

describe("GET /alerts/{fingerprint}", () => {
  test("stops refreshing where updates are paused", async () => {
    const alert = alertOf("RecordingOffline");
    const { get } = await serve({ fleet: async () => smallFleet, alerts: active(alert) });
    const html = await (await get(`/alerts/${fingerprint(alert.labels)}?refresh=off`)).text();
    expect(linksOf(html).get("Resume updates")).toBe("?");
    expect(html).not.toContain("<script");
  });

  test("tells what is wrong, where, since when, who was told and what its labels are", async () => {
    const asked: unknown[] = [];
    const dark = alertOf("RecordingOffline");
    const timeline = async (...given: unknown[]) => {
      asked.push(given);
      const line = { subject: dark.subject, ruleId: "RecordingOffline" };
      return [
        { ...line, at: NOW - 10 * MINUTE, reason: "firing" },
        { ...line, at: NOW - 9 * MINUTE, integration: "ops/slack/0", reason: "notified" },
        { ...line, at: NOW - 8 * MINUTE, ruleId: "LowUptime", reason: "firing" },
      ];
    };
    const { status, html } = await page(dark, { timeline });
    const shown = shownText(html);
    expect(status).toBe(200);
    expect(elementOf(html, "title")).toBe("Till 3 offline · Leeds Briggate · lenswatch");
    expect(shown).toEqual(
      expect.arrayContaining([
        "Till 3 offline · Leeds Briggate",
        "Since 11:48 GMT (12 m) RecordingOffline · critical · firing",
        "Till 3 Leeds Briggate",
        "Unacknowledged.",
        "Notified ops/slack/0 at 11:51 GMT.",
        "RecordingOffline: fires → 11:51:00 GMT Slack",
        "11:51:00 GMT RecordingOffline: notified ops/slack/0",
        "location_id",
        "leeds",
      ]),
    );
    expect(shown.join()).not.toContain("LowUptime");
    expect(asked).toEqual([[[dark.subject], NOW - 12 * MINUTE]]);
  });

  test("leads to its runbook and its source, and nowhere that is no web page", async () => {
    const external = alertOf("DiskFull", {
      subject: { kind: "external", id: "f" },
      labels: { alertname: "DiskFull", instance: "db-1" },
      annotations: { runbook_url: "https://wiki.example/a?b=c&d", summary: "The disk is full" },
      facts: { timezone: "UTC", generatorUrl: "http://prometheus.example/graph" },
    });
    const links = linksOf((await page(external)).html);
    expect(links.get("Runbook")).toBe("https://wiki.example/a?b=c&d");
    expect(links.get("Source")).toBe("http://prometheus.example/graph");
    for (const bad of ["javascript:alert(1)", "data:text/html,x", "//evil.example", "x".repeat(3_000)]) {
      const { html } = await page(alertOf("A", { annotations: { runbook_url: bad } }));
      expect(linksOf(html).has("Runbook"), bad).toBe(false);
    }
  });

  test("says what holds it back, by whom and until when", async () => {
    const dark = alertOf("RecordingOffline", { facts: { timezone: "UTC", problem: "offline", paused: true } });
    const silence = aSilence({ startsAt: NOW, endsAt: NOW + 60 * MINUTE });
    const suppressed = {
      alert: dark,
      receivers: ["ops"],
      silencedBy: ["s1", "gone"],
      inhibitedBy: [fingerprint(unreachable.labels), "0011223344556677"],
      mutedBy: ["out-of-hours"],
      maintenance: {
        reason: "maintenance",
        by: "stock-take",
        until: NOW + 60 * MINUTE,
        comment: "recorders off",
      } as const,
    };
    const alerts = async () => [suppressed, ...(await active(unreachable)())];
    const { html } = await page(dark, { alerts, silences: async () => [silence] });
    expect(shownText(html)).toEqual(
      expect.arrayContaining([
        "Silenced until 13:00 UTC by dana: rewiring",
        "Silenced.",
        "Inhibited by Service unreachable.",
        "Inhibited by another alert.",
        "Muted by the time interval out-of-hours.",
        "In the maintenance stock-take until 13:00 UTC: recorders off",
        "Paused: outside the recording's uploading schedule.",
      ]),
    );
    expect(linksOf(html).get("Service unreachable")).toBe(`../alerts/${fingerprint(unreachable.labels)}`);
  });

  test("shows the neighbours' state, what else fires there, and how often it fired", async () => {
    const alert = alertOf("RecordingOffline");
    const low = alertOf("LowQuality", { labels: { ...alert.labels, alertname: "LowQuality", recording: "Entrance" } });
    const before = { ...toIncident(alert), id: "before", startsAt: NOW - 300 * MINUTE, endsAt: NOW - 299 * MINUTE };
    const { html } = await page(alert, {
      alerts: active(alert, low),
      incidents: async () => [
        { ...before, endReason: "recovered", planned: "stock-take" },
        { ...toIncident(alert), uncounted: { estimate: 312, low: 264, high: 369 } },
      ],
    });
    const shown = shownText(html);
    expect(shown).toEqual(
      expect.arrayContaining([
        "About 310 visits uncounted so far (260–370)",
        "Other recordings of Leeds Briggate",
        expect.stringContaining("Entrance since"),
        "Also firing here: Offline (Entrance).",
        "1 other time in the last 30 days",
        "RecordingOffline | began 07:00:00 GMT | ended 07:01:00 GMT | lasted 1 m | recovered; planned: stock-take",
      ]),
    );
    expect(linksOf(html).get("Offline (Entrance)")).toBe(`../alerts/${fingerprint(low.labels)}`);
  });

  test("of a camera server lists its locations with how many are offline, and when they were last seen", async () => {
    const at = (location: string, offline: number, of: number) =>
      Array.from({ length: of }, (_, i) =>
        recordingState(`${location}-${i}`, {
          locationId: location,
          status: i < offline ? "offline" : "online",
          lastSeenAt: NOW - (12 + i) * MINUTE,
        }),
      );
    const recordings = [...at("bath", 1, 4), ...at("leeds", 3, 3), ...at("york", 2, 2), ...at("oslo", 2, 2)];
    const server = (id: string) => (id.startsWith("oslo") ? "edge-8" : "edge-7");
    const inventory = {
      recording: (id: string) => aRecording(id, { cameraServer: server(id) }),
      location: (id: string) => ({ id, name: id.toUpperCase(), timezone: "UTC" }),
    };
    const alert = alertOf("CameraServerOffline", {
      subject: { kind: "group", id: "camera_server/edge-7" },
      labels: { alertname: "CameraServerOffline", camera_server: "edge-7" },
      facts: { timezone: "UTC", problem: "camera_server_offline", offline: 6, of: 9, locations: 3 },
    });
    const { html } = await page(alert, { fleet: async () => ({ ...fleetOf({ recordings }), inventory }) });
    expect(shownText(html)).toEqual(
      expect.arrayContaining([
        "3 locations of camera server edge-7",
        "LEEDS | offline 3 of 3 | last seen 12 m ago",
        "YORK | offline 2 of 2 | last seen 12 m ago",
        "BATH | offline 1 of 4 | last seen 12 m ago",
      ]),
    );
    expect(linksOf(html).get("LEEDS")).toBe("../?location=leeds");
  });

  test("has its actions in one row, before everything else, and what is said with them", async () => {
    const alert = alertOf("RecordingOffline", { annotations: { runbook_url: "https://wiki.example/a" } });
    const open = { adminToken: "boss-token", fleet: async () => smallFleet } as const;
    const order = (html: string, ...texts: string[]) => texts.map((text) => html.indexOf(text));
    const { address } = await serve({ ...open, alerts: active(alert) });
    const { html } = await (await signedIn(address, "boss-token")).get(`/alerts/${fingerprint(alert.labels)}`);
    const at = order(html, ">Acknowledge<", ">Silence…<", ">Runbook<", 'name="comment"', 'name="for"', 'id="facts"');
    expect(at).toEqual(at.toSorted((a, b) => a - b));
    expect(Math.min(...at)).toBeGreaterThan(0);

    const acknowledgement = {
      at: NOW - MINUTE,
      author: "ana",
      comment: "on my way",
      until: NOW + 60 * MINUTE,
      notes: [{ at: NOW, author: "ben", text: "van is there" }],
    };
    const acked = await serve({ ...open, alerts: async () => [{ alert, receivers: ["ops"], acknowledgement }] });
    const after = await (await signedIn(acked.address, "boss-token")).get(`/alerts/${fingerprint(alert.labels)}`);
    expect(shownText(after.html)).toEqual(
      expect.arrayContaining([
        "Acknowledged by ana at 11:59 GMT, until 13:00 GMT: on my way",
        "Note of ben at 12:00 GMT: van is there",
        "Withdraw acknowledgement",
      ]),
    );
    expect(after.html).toContain('name="text"');
  });

  test("says of one that ended how and when, and of one that was never there that it is not known", async () => {
    const alert = alertOf("RecordingOffline");
    const ended = {
      ...toIncident(alert),
      startsAt: NOW - 90_000,
      endsAt: NOW - MINUTE,
      endReason: "recovered",
      uncounted: { estimate: 43, low: 30, high: 61 },
    } as const;
    const line = { subject: alert.subject, ruleId: "RecordingOffline" };
    const asked: unknown[] = [];
    const { get } = await serve({
      fleet: async () => smallFleet,
      config: () => shownConfig({ counts: { valuePerVisit: 2, currency: "GBP" } }),
      incidents: async () => [
        { ...ended, id: "older", startsAt: NOW - 500 * MINUTE, endsAt: NOW - 490 * MINUTE },
        ended,
      ],
      timeline: async (...given) => {
        asked.push(given);
        return [
          { ...line, at: NOW - 90_000, reason: "firing" },
          { ...line, at: NOW - 80_000, reason: "notified", integration: "ops/slack/0" },
          { ...line, at: NOW - MINUTE, reason: "resolved" },
        ];
      },
    });
    const response = await get(`/alerts/${fingerprint(alert.labels)}`);
    const html = await response.text();
    expect(response.status).toBe(200);
    expect(elementOf(html, "title")).toBe("Recovered · Till 3 offline · Leeds Briggate · lenswatch");
    expect(shownText(html)).toEqual(
      expect.arrayContaining([
        "Till 3 offline · Leeds Briggate",
        "Recovered 11:59:00 UTC, lasted 30 s; began 11:58:30 UTC RecordingOffline",
        "About 45 visits uncounted (30–60), about 86 GBP",
        "RecordingOffline: fires → Slack → 11:59:00 UTC recovered",
        "1 other time in the last 30 days",
      ]),
    );
    expect(asked).toEqual([[[alert.subject], NOW - 90_000 - 1]]);

    const unknown = await get("/alerts/0011223344556677");
    expect(unknown.status).toBe(404);
    expect(shownText(await unknown.text()).join()).toContain("the link may be cut off");
  });
});
