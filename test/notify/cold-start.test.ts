import { describe, expect, test } from "vitest";
import type { ColdStartFacts } from "../../src/alerting/notification.ts";
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

describe("the summary of a start without memory", () => {
  test.each([
    [0, {}, "nothing is down"],
    [0, { complete: false, unsettled: 3 }, "what is down is not known yet"],
    [0, { unsettled: 3 }, "trouble at 3 recordings is too new to be told"],
    [0, { suppressed: 1 }, "nothing is down but what is held back"],
    [1, {}, "1 recording offline · Shop 0 · Till 0"],
    [12, { unsettled: 3, suppressed: 1 }, "12 recordings offline at 3 locations"],
    [1_000, { complete: false }, "1,000 recordings offline at 200 locations"],
  ])("of %i alerts, where it was seen %j, has the title %j", (count, start, title) => {
    expect(messageOf(summary(count, start), 10).title).toBe(`lenswatch starts without memory: ${title}`);
  });

  test("of a dark location counts its recordings once", () => {
    const site = otherAlert(
      "location",
      "loc-0",
      { alertname: "LocationOffline", location_id: "loc-0", location: "Shop 0" },
      { facts: { timezone: "UTC", offline: 5, of: 5 } },
    );
    const told = summary(5);
    expect(messageOf({ ...told, firing: [site, ...told.firing] }, 10).title).toBe(
      "lenswatch starts without memory: Shop 0: all 5 recordings offline",
    );
  });

  test("says what it means for what was told before, and what it leaves open", () => {
    expect(messageOf(summary(3), 10).lead).toEqual([
      expect.stringMatching(/^What was told before and is not listed here is over, /),
    ]);
    expect(messageOf(summary(3, { complete: false, unsettled: 1, suppressed: 2 }), 10).lead).toEqual([
      expect.stringMatching(
        /^Not everything can be seen yet\. .* may still go on: .* What is not told anew is over\.$/,
      ),
      expect.stringMatching(/^1 recording had trouble too new to be told: /),
      expect.stringMatching(/^2 alerts held back here: /),
    ]);
  });

  test("has the colour of what is down, and none where nothing is", () => {
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
      if (count > 20) expect(body.text).toContain("5 recordings offline since");
    },
  );
});
