import { describe, expect, test } from "vitest";
import type { ColdStartFacts } from "../../src/alerting/model.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { messageOf } from "../../src/notify/message.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { assertWithinSlackLimits, type SlackBody } from "../support/slack-sink.ts";
import { alertOf, notificationOf, otherAlert } from "./fixtures.ts";

const SEEN: ColdStartFacts = { complete: true, unsettled: 0, suppressed: 0 };

const summary = (count: number, start: Partial<ColdStartFacts> = {}) =>
  notificationOf({
    reason: "started",
    group: { id: "started", labels: {} },
    start: { ...SEEN, ...start },
    firing: Array.from({ length: count }, (_, i) => {
      const place = Math.floor(i / 5);
      return alertOf(`Till ${i}`, { labels: { location_id: `loc-${place}`, location: `Shop ${place}` } });
    }),
    resolved: [],
  });

describe("the notification of a cold start", () => {
  test.each([
    [0, {}, "no active alerts"],
    [0, { complete: false, unsettled: 3 }, "state not known yet"],
    [0, { unsettled: 3 }, "alerts pending for 3 recordings"],
    [0, { suppressed: 1 }, "all active alerts are suppressed"],
    [1, {}, "Till 0 offline · Shop 0"],
    [12, { unsettled: 3, suppressed: 1 }, "12 recordings offline at 3 locations"],
    [1_000, { complete: false }, "1,000 recordings offline at 200 locations"],
  ])("of %i alerts, with %j, has the title %j", (count, start, title) => {
    expect(messageOf(summary(count, start), 10).title.slice(3)).toBe(`lenswatch started with an empty store: ${title}`);
  });

  test("counts the recordings of an offline location once", () => {
    const site = otherAlert(
      "location",
      "loc-0",
      { alertname: "LocationOffline", location_id: "loc-0", location: "Shop 0" },
      { facts: { timezone: "UTC", offline: 5, of: 5 } },
    );
    const five = summary(5);
    expect(messageOf({ ...five, firing: [site, ...five.firing] }, 10).title).toBe(
      "🔴 lenswatch started with an empty store: Shop 0: all 5 recordings offline",
    );
  });

  test("states what it means for earlier alerts, and what is pending or suppressed", () => {
    expect(messageOf(summary(3), 10).lead).toEqual([
      expect.stringMatching(/^Treat earlier alerts that are not listed as resolved\. /),
    ]);
    expect(messageOf(summary(3, { complete: false, unsettled: 1, suppressed: 2 }), 10).lead).toEqual([
      expect.stringMatching(
        /^Not everything has been read yet\. .* may still be active: .* Treat the others as resolved\.$/,
      ),
      expect.stringMatching(/^Alerts of 1 recording are pending: /),
      expect.stringMatching(/^2 alerts suppressed: /),
    ]);
  });

  test("has the colour of the worst alert, and none without alerts", () => {
    expect(messageOf(summary(1), 10).tone).toBe("critical");
    expect(messageOf(summary(0), 10).tone).toBe("info");
  });

  test.each([0, 1, 30, 10_000])(
    "of %i alerts keeps Slack's limits and fits a mail, by location where they are many",
    (count) => {
      const body = renderSlack(summary(count)) as SlackBody;
      expect(() => assertWithinSlackLimits(body)).not.toThrow();
      const addresses = {
        from: "a@example.com",
        sender: "a@example.com",
        to: ["b@example.com"],
        recipient: "b@example.com",
      };
      const mail = renderEmail(summary(count), addresses);
      expect(Buffer.byteLength(mail.html ?? "")).toBeLessThan(100_000);
      if (count > 20) expect(body.text).toMatch(/^\*Offline since 14:05 GMT \(12 m\)\*$[\s\S]*^Shop 0: 5 recordings$/m);
    },
  );
});
