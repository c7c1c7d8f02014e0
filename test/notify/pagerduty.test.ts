import { describe, expect, it } from "vitest";
import type { Notification, PageChange, Paging } from "../../src/alerting/model.ts";
import { createPagerDutyNotifier, renderPagerDuty } from "../../src/notify/pagerduty.ts";
import { startHttpSink } from "../support/http-sink.ts";
import { describeChannel, type RigOptions } from "./contract.ts";
import { alertOf, NOW, notificationOf } from "./fixtures.ts";
import { CANARY, type HttpRig, httpFaults } from "./http-faults.ts";

async function startRig({ timeoutMs, log }: RigOptions): Promise<HttpRig> {
  const sink = await startHttpSink();
  sink.respond({ status: 202 });
  const http = { authorization: undefined, basicAuth: undefined, tls: undefined };
  const notifier = createPagerDutyNotifier({
    routingKey: CANARY,
    url: `${sink.url}/v2/enqueue`,
    sendResolved: true,
    http,
    timeoutMs,
    log,
  });
  return {
    sink,
    notifier,
    secrets: [CANARY],
    accepted: () => sink.messages.length,
    hang: () => sink.respond("hang"),
    vanish: () => sink.close(),
    async close() {
      await notifier.close();
      await sink.close();
    },
  };
}

describeChannel("PagerDuty", startRig, [
  ...httpFaults,
  {
    when: "the routing key is none",
    arrange: ({ sink }) => sink.respond({ status: 400, body: `{"errors":["'routing_key' ${CANARY} is invalid"]}` }),
    code: "auth",
    retryable: true,
    scope: "endpoint",
  },
]);

const till = alertOf("Till 3");
const key = "0123456789abcdef";
const conversation = { id: key, openedAt: NOW, isOver: false };
const eventsOf = (changes: readonly Partial<PageChange>[], more: Partial<Notification> = {}, options = {}) => {
  const paged = changes.map((change) => ({ action: "trigger" as const, key, firing: [], resolved: [], ...change }));
  const paging: Paging = { changes: paged, pages: new Map() };
  const notification = notificationOf({ standing: [], ...more, conversation: { ...conversation, paging } });
  return renderPagerDuty(notification, { sendResolved: true, ...options });
};

describe("an event for PagerDuty", () => {
  it("triggers an incident, with what is wrong in it, where, and how bad", () => {
    const entrance = alertOf("Entrance", { labels: { alertname: "RecordingOffline", severity: "warning" } });
    const about = [till, entrance];
    const [{ payload, ...rest } = {}] = eventsOf([{ firing: about }], { firing: [...about, alertOf("Other")] });
    expect(rest).toMatchObject({ event_action: "trigger", dedup_key: key, client: "lenswatch" });
    expect(payload).toMatchObject({
      source: "Leeds Briggate",
      severity: "critical",
      class: "RecordingOffline",
      timestamp: new Date(till.startsAt).toISOString(),
      custom_details: { firing: 2, alerts: expect.stringMatching(/Till 3: .*\n.*Entrance: /s) },
    });
    expect(payload).not.toHaveProperty("component");
    expect(payload?.summary).toBe("🔴 2 recordings offline · Leeds Briggate");
  });

  it.each([
    ["critical", "critical"],
    ["Page", "critical"],
    ["error", "error"],
    ["warning", "warning"],
    ["info", "info"],
    ["sev-9", "error"],
    ["", "error"],
  ])("maps the severity %j to %s", (severity, expected) => {
    const alert = alertOf("Till 3", { labels: { alertname: "RecordingOffline", severity } });
    expect(eventsOf([{ firing: [alert] }])[0]?.payload?.severity).toBe(expected);
  });

  it("is one of each incident that changes, in their order", () => {
    const changes = [{ firing: [till] }, { action: "acknowledge", key: "b" }, { action: "resolve", key: "c" }] as const;
    expect(eventsOf(changes).map((one) => [one.event_action, one.dedup_key])).toEqual([
      ["trigger", key],
      ["acknowledge", "b"],
      ["resolve", "c"],
    ]);
    expect(eventsOf(changes, {}, { sendResolved: false })).toHaveLength(2);
    expect(eventsOf([])).toEqual([]);
  });

  it("opens an incident of a test, which is part of none", () => {
    const [event] = renderPagerDuty(notificationOf({ reason: "test", firing: [till] }), { sendResolved: true });
    expect(event).toMatchObject({ event_action: "trigger", dedup_key: notificationOf().group.id });
  });
});
