/** External alerts: only their labels and annotations are known, and appear as they were sent. */
import { describe, expect, test } from "vitest";
import type { NotifiedAlert } from "../../src/alerting/model.ts";
import { renderAlertmanager } from "../../src/notify/alertmanager.ts";
import { messageOf } from "../../src/notify/message.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { renderWebhook } from "../../src/notify/webhook.ts";
import { assertWithinSlackLimits, type SlackBody } from "../support/slack-sink.ts";
import { alertOf, MINUTE, NOW, notificationOf } from "./fixtures.ts";

function external(labels: Record<string, string>, changes: Partial<NotifiedAlert> = {}): NotifiedAlert {
  const id = changes.subject?.id ?? "0123456789abcdef";
  return {
    ...alertOf("x", { facts: { timezone: "UTC" }, ...changes, subject: { kind: "external", id } }),
    ruleId: `external/${labels.alertname ?? ""}`,
    labels,
  };
}
const over = (labels: Record<string, string>, changes: Partial<NotifiedAlert> = {}) =>
  external(labels, { state: "resolved", endsAt: NOW, endReason: "recovered", isNew: false, ...changes });
const disk = { alertname: "DiskFull", instance: "nas-1", severity: "critical" };

describe("the title", () => {
  const firing = (...alerts: NotifiedAlert[]) => messageOf(notificationOf({ firing: alerts }), 10).title;
  const resolved = (...alerts: NotifiedAlert[]) => messageOf(notificationOf({ resolved: alerts }), 10).title;
  const other = { id: "2", kind: "external" } as const;

  test.each([
    ["🔴 DiskFull: nas-1", firing(external(disk))],
    ["🔴 2 alerts: DiskFull", firing(external(disk), external(disk, { subject: other }))],
    ["🔴 DiskFull: Leeds", firing(external({ ...disk, location: "Leeds", location_id: "l" }))],
    ["🔵 RecordingOffline", firing(external({ alertname: "RecordingOffline" }))],
    ["🔵 ServiceUnreachable", firing(external({ alertname: "ServiceUnreachable" }))],
    ["🔵 alert", firing(external({ job: "x" }))],
    ["✅ DiskFull: nas-1 recovered — after 12 m", resolved(over(disk))],
    ["⚪ DiskFull: nas-1: expired, current state not known", resolved(over(disk, { endReason: "expired" }))],
    ["✅ 2 alerts recovered — after 12 m", resolved(over(disk), over({ alertname: "DoorOpen" }, { subject: other }))],
    ["✅ DiskFull: nas-1 was firing — recovered after 12 m", resolved(over(disk, { isNew: true }))],
  ])("is %j", (expected, title) => {
    expect(title).toBe(expected);
  });
});

test("an external alert with the name of a default rule is not counted as a recording's", () => {
  const mixed = [external({ alertname: "LocationOffline", location_id: "l" }), alertOf("Till 3")];
  expect(messageOf(notificationOf({ firing: mixed }), 10).title).toMatch(/1 recording offline.*1 LocationOffline/);
});

describe("an entry", () => {
  const entry = (labels: Record<string, string>, changes: Partial<NotifiedAlert> = {}) =>
    messageOf(notificationOf({ firing: [external(labels, changes), alertOf("y")] }), 10).sections[0]?.entries[0];

  test.each([
    [{ recording: "Till 3", location: "Leeds", instance: "i" }, "Till 3"],
    [{ location: "Leeds", instance: "i" }, "Leeds"],
    [{ instance: "nas-1", alertname: "A" }, "nas-1"],
    [{ alertname: "DiskFull" }, "DiskFull"],
    [{ job: "x" }, "alert"],
    [{ instance: "\u202e\n", alertname: "A" }, "A"],
  ])("of %j is called %j", (labels, name) => {
    expect(entry(labels)?.name).toBe(name);
  });

  test("has its start, its annotations and its source", () => {
    expect(
      entry(disk, {
        startsAt: NOW - 2 * MINUTE,
        annotations: { summary: "2 % left", description: "of 4 TB", runbook_url: "https://wiki/disk" },
        facts: { timezone: "UTC", generatorUrl: "https://p.example.com/graph?g0.expr=a<b" },
      }),
    ).toEqual({
      name: "nas-1",
      isFiring: true,
      facts: "DiskFull since 14:15 UTC (2 m)",
      notes: ["2 % left", "of 4 TB"],
      links: [
        { label: "Acknowledge", url: "https://lenswatch.example.com/alerts/0123456789abcdef" },
        { label: "Runbook", url: "https://wiki/disk" },
        { label: "Source", url: "https://p.example.com/graph?g0.expr=a%3Cb" },
      ],
    });
  });

  test("without other labels shows its name once", () => {
    const { name, facts } = entry({ alertname: "DiskFull" }, { startsAt: NOW - 2 * MINUTE }) ?? {};
    expect([name, facts]).toEqual(["DiskFull", "firing since 14:15 UTC (2 m)"]);
  });

  test.each(["javascript:alert(1)", "data:text/html,x", "//evil.example", "not a URL", "https://x|<!channel>"])(
    "a source such as %s is no live link",
    (generatorUrl) => {
      const urls = entry(disk, { facts: { timezone: "UTC", generatorUrl } })?.links.map(({ url }) => url) ?? [];
      expect(urls.filter((url) => !/^https?:\/\/[^<>|\s]+$/.test(url))).toEqual([]);
    },
  );
});

test("webhooks and Alertmanager get its source, or the status page where that is no link", () => {
  const from = (generatorUrl: string) => {
    const notification = notificationOf({ firing: [external(disk, { facts: { timezone: "UTC", generatorUrl } })] });
    const [webhook] = renderWebhook(notification, { maxAlerts: 0 }).alerts;
    const [forwarded] = renderAlertmanager(notification, { expireMs: MINUTE });
    return [webhook?.generatorURL, forwarded?.generatorURL];
  };
  const source = "https://p.example.com/graph";
  expect(from(source)).toEqual([source, source]);
  const page = "https://lenswatch.example.com/";
  expect(from("javascript:alert(1)")).toEqual([page, page]);
});

test("hostile labels stay text, and within Slack's limits", () => {
  const nasty = "<!channel> *b* <https://evil.example|x> ```";
  const body = renderSlack(
    notificationOf({
      firing: [external({ alertname: nasty, instance: nasty }, { annotations: { summary: nasty.repeat(200) } })],
    }),
  ) as SlackBody;
  assertWithinSlackLimits(body);
  expect(JSON.stringify(body)).not.toMatch(/<!channel>|<https:\/\/evil/);
});
