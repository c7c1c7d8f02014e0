import { describe, expect, it } from "vitest";
import type { Notification, NotifiedAlert } from "../../src/alerting/notification.ts";
import { createPagerDutyNotifier, renderPagerDuty } from "../../src/notify/pagerduty.ts";
import { startHttpSink } from "../support/http-sink.ts";
import { describeChannel, type RigOptions } from "./contract.ts";
import { alertOf, endedOf, NOW, notificationOf } from "./fixtures.ts";
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
const byAna = { ...till, isNew: false, suppressedBy: { reason: "acknowledged", by: "ana" } } as NotifiedAlert;
const conversation = { id: "0123456789abcdef", openedAt: NOW, isOver: false };
const inConversation = (more: Partial<Notification>) => notificationOf({ conversation, standing: [], ...more });
const event = (more: Partial<Notification>, sendResolved = true) =>
  renderPagerDuty(inConversation(more), { sendResolved });

describe("an event for PagerDuty", () => {
  it("triggers the incident of the conversation, with what is wrong, where, and how bad", () => {
    const entrance = alertOf("Entrance", { labels: { alertname: "RecordingOffline", severity: "warning" } });
    const { payload, ...rest } = event({ firing: [till, entrance] }) ?? {};
    expect(rest).toMatchObject({ event_action: "trigger", dedup_key: conversation.id, client: "lenswatch" });
    expect(payload).toMatchObject({
      source: "Leeds Briggate",
      severity: "critical",
      class: "RecordingOffline",
      timestamp: new Date(till.startsAt).toISOString(),
      custom_details: { firing: 2, alerts: expect.stringMatching(/Till 3: .*\n.*Entrance: /s) },
    });
    expect(payload).not.toHaveProperty("component");
    expect(payload?.summary).toContain("Leeds Briggate");
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
    expect(event({ firing: [alert] })?.payload?.severity).toBe(expected);
  });

  it.each<[string, Partial<Notification>, string | undefined]>([
    ["news", { reason: "more", firing: [till] }, "trigger"],
    ["a reminder", { reason: "reminder", firing: [till] }, "trigger"],
    ["the end of some", { reason: "resolved", firing: [till], resolved: [endedOf("Till 4")] }, undefined],
    [
      "the end of some while the others are silenced",
      { reason: "resolved", resolved: [endedOf("Till 4")], standing: [byAna] },
      undefined,
    ],
    ["an acknowledgement of everything", { reason: "update", standing: [byAna] }, "acknowledge"],
    ["an acknowledgement of some", { reason: "update", firing: [till], standing: [byAna] }, undefined],
    [
      "a silence",
      { reason: "update", standing: [{ ...byAna, suppressedBy: { reason: "silenced", by: "s" } }] },
      undefined,
    ],
    ["a withdrawal", { reason: "update", firing: [till] }, undefined],
    [
      "the end",
      { reason: "resolved", resolved: [endedOf("Till 3")], conversation: { ...conversation, isOver: true } },
      "resolve",
    ],
  ])("makes of %s", (_, more, action) => {
    const made = event(more);
    expect(made?.event_action).toBe(action);
    if (made) expect(made.dedup_key).toBe(conversation.id);
  });

  it("leaves the incident open where ends are not sent, and keeps the key it began with", () => {
    const over = { reason: "update", conversation: { ...conversation, isOver: true } } as const;
    expect(event(over, false)).toBeUndefined();
    expect(event({ ...over, conversation: { ...over.conversation, handle: "earlier" } })?.dedup_key).toBe("earlier");
  });
});
