import { describe, expect, test } from "vitest";
import { fingerprint } from "../../../src/alerting/fingerprint.ts";
import type { Alert } from "../../../src/health/alert.ts";
import { NOW } from "../../metrics/fleets.ts";
import { aSilence } from "../../support/fixtures.ts";
import { serve } from "../serve.ts";
import { active, alertOf, smallFleet, unreachable } from "./fleet.ts";
import { elementOf, linksOf, shownText } from "./read-page.ts";

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
    expect(elementOf(html, "title")).toBe("Offline · Till 3 · lenswatch");
    expect(shown).toEqual(
      expect.arrayContaining([
        "Offline",
        "Till 3 Leeds Briggate",
        "since 11:48 GMT (12 m) RecordingOffline · critical · firing",
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
        "Paused: outside the recording's uploading schedule.",
      ]),
    );
    expect(linksOf(html).get("Service unreachable")).toBe(`../alerts/${fingerprint(unreachable.labels)}`);
  });

  test("says of one that is over, or was never there, that it does not fire", async () => {
    const { get } = await serve({ fleet: async () => smallFleet });
    const response = await get("/alerts/0011223344556677");
    expect(response.status).toBe(404);
    expect(shownText(await response.text()).join()).toContain("it may have resolved");
    const ended = alertOf("RecordingOffline", { state: "resolved", endsAt: NOW });
    expect((await page(ended)).status).toBe(404);
  });
});
