import { describe, expect, test } from "vitest";
import type { ActiveAlert } from "../../src/http/deps.ts";
import { firingAlert, serve } from "./serve.ts";

const offline: ActiveAlert = {
  alert: firingAlert("RecordingOffline", { severity: "critical", location: "Leeds" }),
  receivers: ["ops", "quiet"],
};
const silenced: ActiveAlert = {
  alert: firingAlert("LowQuality", { severity: "warning" }),
  receivers: ["quiet"],
  silencedBy: ["5bd3a7a0-0000-4000-8000-000000000000"],
};
const inhibited: ActiveAlert = {
  alert: firingAlert("LowUptime"),
  receivers: ["ops"],
  inhibitedBy: ["0123456789abcdef"],
};
const muted: ActiveAlert = { alert: firingAlert("Muted"), receivers: ["ops"], mutedBy: ["out-of-hours"] };
const resolved: ActiveAlert = {
  alert: { ...firingAlert("Gone"), state: "resolved", endsAt: 1, endReason: "recovered" },
  receivers: ["ops"],
};
const all = [offline, silenced, inhibited, muted, resolved];

describe("GET /api/v2/alerts", () => {
  const names = (body: unknown) =>
    (body as { labels: { alertname: string } }[]).map(({ labels }) => labels.alertname).sort();

  test("gives alerts in Alertmanager's shape, with what holds them back", async () => {
    const { get } = await serve({
      alerts: async () => [offline, silenced],
      externalUrl: "https://lenswatch.example.com",
    });
    const response = await get("/api/v2/alerts");
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await response.json()).toMatchSnapshot();
  });

  test("calls what waits for its recording's schedule suppressed: nobody hears of it", async () => {
    const alert = { ...firingAlert("RecordingOffline"), facts: { timezone: "UTC", paused: true } };
    const { json } = await serve({ alerts: async () => [{ alert, receivers: ["ops"] }] });
    expect((await json("/api/v2/alerts")).body).toMatchObject([{ status: { state: "suppressed" } }]);
  });

  test("counts a maintenance among what mutes, as Alertmanager has no word for it, and says more beside", async () => {
    const maintenance = {
      reason: "maintenance",
      by: "stock-take",
      until: Date.UTC(2026, 0, 31, 14),
      comment: "off",
    } as const;
    const { json } = await serve({ alerts: async () => [{ ...muted, maintenance }] });
    const status = {
      state: "suppressed",
      mutedBy: ["out-of-hours", "stock-take"],
      maintenance: { name: "stock-take", comment: "off", until: "2026-01-31T14:00:00.000Z" },
    };
    expect((await json("/api/v2/alerts")).body).toMatchObject([{ status }]);
    expect((await json("/api/v2/alerts/groups")).body).toMatchObject([
      { alerts: [{ status: { state: "suppressed" } }] },
    ]);
  });

  test("sorts by fingerprint", async () => {
    const { json } = await serve({ alerts: async () => [...all, resolved] });
    const prints = ((await json("/api/v2/alerts")).body as { fingerprint: string }[]).map((a) => a.fingerprint);
    expect(prints).toEqual([...prints].sort());
    expect(new Set(prints).size).toBe(4);
  });

  test.each([
    ["", ["LowQuality", "LowUptime", "Muted", "RecordingOffline"]],
    [
      "active=true&inhibited=true&silenced=true&unprocessed=true",
      ["LowQuality", "LowUptime", "Muted", "RecordingOffline"],
    ],
    ["active=true&silenced=false&inhibited=false&unprocessed=false", ["Muted", "RecordingOffline"]],
    ["active=false", ["LowQuality", "LowUptime", "Muted"]],
    ["silenced=false", ["LowUptime", "Muted", "RecordingOffline"]],
    ["inhibited=false", ["LowQuality", "Muted", "RecordingOffline"]],
    ["filter=severity%3D%22warning%22", ["LowQuality"]],
    ["filter=severity!%3D%22%22&filter=alertname%3D~%22Rec.*%22", ["RecordingOffline"]],
    ["filter=severity%3D%22%22", ["LowUptime", "Muted"]],
    ["receiver=quiet", ["LowQuality", "RecordingOffline"]],
    ["receiver=qui", []],
    ["receiver=qui.*%7Cops", ["LowQuality", "LowUptime", "Muted", "RecordingOffline"]],
    ["receiver_matchers=team%3D%22%22", ["LowQuality", "LowUptime", "Muted", "RecordingOffline"]],
    ["receiver_matchers=team%3D%22cameras%22", []],
    ["unprocessed=false", ["LowQuality", "LowUptime", "Muted", "RecordingOffline"]],
    ["some=thing", ["LowQuality", "LowUptime", "Muted", "RecordingOffline"]],
  ])("?%s gives %j", async (query, expected) => {
    const { json } = await serve({ alerts: async () => all });
    expect(names((await json(`/api/v2/alerts?${query}`)).body)).toEqual(expected);
  });

  test.each([
    ["active=maybe", "active: "],
    ["filter=severity", "filter: column"],
    ["filter=a%3D~%22(%22", "filter: column"],
    ["receiver=(", "receiver: "],
    ["receiver_matchers=(", "receiver_matchers: column"],
  ])("?%s is a 400 whose body is a JSON string naming it", async (query, start) => {
    const { json } = await serve({ alerts: async () => all });
    const { status, body } = await json(`/api/v2/alerts?${query}`);
    expect(status).toBe(400);
    expect(typeof body === "string" && body.startsWith(start), String(body)).toBe(true);
  });
});
