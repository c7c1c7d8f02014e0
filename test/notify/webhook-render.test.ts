import { describe, expect, it } from "vitest";
import { renderWebhook } from "../../src/notify/webhook.ts";
import { alertOf, endedOf, NOW, notificationOf, otherAlert } from "./fixtures.ts";

const render = (changes: Parameters<typeof notificationOf>[0], options = { maxAlerts: 0 }) =>
  renderWebhook(notificationOf(changes), options);

describe("a group as Alertmanager's webhook payload", () => {
  it("is version 4, field by field", () => {
    const till = alertOf("Till 3", { annotations: { summary: "dark", zones: "Tills" } });
    const door = endedOf("Door", { annotations: { summary: "dark" }, fingerprint: "fedcba9876543210" });
    const { labels } = till;
    expect(render({ firing: [till], resolved: [door] })).toEqual({
      receiver: "ops",
      status: "firing",
      alerts: [
        {
          status: "firing",
          labels,
          annotations: { summary: "dark", zones: "Tills" },
          startsAt: "2026-11-20T14:05:00.000Z",
          endsAt: "0001-01-01T00:00:00Z",
          generatorURL: `https://lenswatch.example.com/recordings/${till.subject.id}`,
          fingerprint: "0123456789abcdef",
        },
        {
          status: "resolved",
          labels: door.labels,
          annotations: { summary: "dark", end_reason: "recovered" },
          startsAt: "2026-11-20T14:05:00.000Z",
          endsAt: "2026-11-20T14:14:00.000Z",
          generatorURL: `https://lenswatch.example.com/recordings/${door.subject.id}`,
          fingerprint: "fedcba9876543210",
        },
      ],
      groupLabels: { location_id: "5f00000000000000000000aa" },
      commonLabels: {
        alertname: "RecordingOffline",
        severity: "critical",
        location_id: "5f00000000000000000000aa",
        location: "Leeds Briggate",
      },
      commonAnnotations: { summary: "dark" },
      externalURL: "https://lenswatch.example.com",
      version: "4",
      groupKey: '{}/location_id=5f00000000000000000000aa:{"location_id":"5f00000000000000000000aa"}',
      truncatedAlerts: 0,
    });
  });

  it("is resolved once nothing fires, with the end reason of each alert", () => {
    const payload = render({ resolved: [endedOf("Door"), endedOf("Till 3", { endReason: "no_longer_watched" })] });
    expect(payload.status).toBe("resolved");
    expect(payload.alerts.map(({ annotations }) => annotations.end_reason)).toEqual(["recovered", "no_longer_watched"]);
  });

  it("leaves out what max_alerts does, the ended first, and counts it", () => {
    const firing = [alertOf("a"), alertOf("b")];
    const payload = render({ firing, resolved: [endedOf("c")] }, { maxAlerts: 1 });
    expect(payload.alerts.map(({ labels }) => labels.recording)).toEqual(["a"]);
    expect(payload).toMatchObject({ truncatedAlerts: 2, commonLabels: { recording: "a" } });
  });

  it("has no addresses where none is configured, and the status page for what has no page of its own", () => {
    const service = otherAlert("service", "service", { alertname: "ServiceUnreachable" });
    expect(render({ firing: [service] }).alerts[0]?.generatorURL).toBe("https://lenswatch.example.com/");
    expect(render({ firing: [service], externalUrl: undefined })).toMatchObject({
      externalURL: "",
      alerts: [{ generatorURL: "" }],
    });
  });

  it("is well-formed whatever the service calls its recordings", () => {
    const payload = render({ firing: [alertOf('"}\ud800\u0000</script>\u202e')] });
    expect(JSON.parse(JSON.stringify(payload))).toEqual(payload);
    expect(JSON.stringify(payload).isWellFormed()).toBe(true);
    expect(payload.alerts[0]?.labels.recording).toBe('"}\ufffd\u0000</script>\u202e');
  });

  it("leaves annotations out where the receiver refused the whole", () => {
    const firing = [alertOf("a", { annotations: { description: "x".repeat(4_000) } })];
    const plain = renderWebhook(notificationOf({ firing, now: NOW }), { maxAlerts: 0, plain: true });
    expect(plain.alerts[0]?.annotations).toEqual({});
  });
});
