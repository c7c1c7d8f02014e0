import { describe, expect, it } from "vitest";
import type { Notification } from "../../src/alerting/notification.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { alertOf, endedOf, MINUTE, NOW, notificationOf, otherAlert } from "../notify/fixtures.ts";
import { type SlackBody, startSlackSink } from "../support/slack-sink.ts";
import { type Read, readMail, readSlack } from "./tellings.ts";

const ADDRESSES = {
  from: "a@example.com",
  sender: "a@example.com",
  to: ["b@example.com"],
  recipient: "b@example.com",
};

/** What is read of one notification, as Slack shows it and as a mail says it. */
async function readings(changes: Partial<Notification>): Promise<Read[]> {
  const notification = notificationOf({ externalUrl: undefined, ...changes });
  const sink = await startSlackSink();
  await fetch(sink.url, {
    method: "POST",
    body: JSON.stringify(renderSlack(notification) satisfies SlackBody | object),
  });
  const { shown } = await sink.next();
  await sink.close();
  return [readSlack(shown), readMail(renderEmail(notification, ADDRESSES).text)];
}

const at = { lastedMs: 12 * MINUTE, beganMinute: 5 };

describe("reading what was told", () => {
  it("tells apart what is new, what goes on and what is over", async () => {
    const changes = {
      reason: "more",
      firing: [alertOf("Till 3", { isNew: false }), alertOf("Gentleman's *Walk* <3")],
      resolved: [
        endedOf("Back door"),
        endedOf("Late", { isNew: true }),
        endedOf("Roof", { endReason: "expired" }),
        endedOf("Gone", { endReason: "no_longer_watched", isNew: true }),
      ],
    } as const;
    for (const { lines, unreadable } of await readings(changes)) {
      expect(unreadable).toEqual([]);
      expect(lines).toEqual([
        { subject: "Gentleman's *Walk* <3", says: "firing", ...at },
        { subject: "Till 3", says: "still", ...at },
        { subject: "Back door", says: "recovered", beganMinute: 5, lastedMs: 9 * MINUTE },
        { subject: "Late", says: "late", beganMinute: 5, lastedMs: 9 * MINUTE },
        { subject: "Roof", says: "ended", beganMinute: 5, lastedMs: 9 * MINUTE },
        { subject: "Gone", says: "ended", beganMinute: 5, lastedMs: 9 * MINUTE },
      ]);
    }
  });

  it("takes a first message as new and a reminder as going on", async () => {
    for (const { lines } of await readings({ firing: [alertOf("Till 3")] }))
      expect(lines).toEqual([{ subject: "Till 3", says: "firing", ...at }]);
    const told = alertOf("Till 3", { isNew: false });
    for (const { lines } of await readings({ reason: "reminder", firing: [told] }))
      expect(lines).toEqual([{ subject: "Till 3", says: "still", ...at }]);
  });

  it("reads spans to the second", async () => {
    const spans = [400, 12_500, 75_000].map((ms) => alertOf(`For ${ms}`, { startsAt: NOW - ms }));
    for (const { lines } of await readings({ firing: spans }))
      expect(lines.map(({ lastedMs }) => lastedMs).sort((a, b) => a - b)).toEqual([0, 12_000, 75_000]);
  });

  it("knows the service and the integrations by what they are called", async () => {
    const service = otherAlert("service", "analytics", { alertname: "ServiceUnreachable" });
    const slack = otherAlert("integration", "ops/slack/0", { alertname: "NotificationsFailing" });
    for (const { lines, unreadable } of await readings({ firing: [service, slack] })) {
      expect(unreadable).toEqual([]);
      expect(lines.map(({ subject, says }) => `${says}: ${subject}`).sort()).toEqual([
        "firing: The service",
        "firing: ops / slack / 0",
      ]);
    }
  });

  it("says that it cannot read a list that was cut, or a message without lines", async () => {
    const firing = Array.from({ length: 900 }, (_, i) => alertOf(`Camera ${i}`));
    for (const { unreadable } of await readings({ firing })) expect(unreadable).toHaveLength(1);
    expect(readSlack("*What?*").unreadable).toEqual(["What?"]);
    expect(readMail("What?\n").unreadable).toEqual(["What?"]);
    expect(readSlack("*What?*\n*Till 3* · is on fire").unreadable).toEqual(["Till 3: is on fire"]);
  });
});
