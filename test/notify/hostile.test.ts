/** Names and annotations that mean harm, through every channel. */
import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import { endReasons } from "../../src/health/alert.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { createMailTransport } from "../../src/notify/email/transport.ts";
import { renderPagerDuty } from "../../src/notify/pagerduty.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { renderTeams } from "../../src/notify/teams.ts";
import { htmlProblems, htmlVocabulary, slackProblems, textProblems } from "../support/harmless.ts";
import { POISONS } from "../support/hostile-names.ts";
import type { SlackBody } from "../support/slack-sink.ts";
import { startSmtpSink } from "../support/smtp-sink.ts";
import { alertOf, endedOf, HOUR, NOW, notificationOf } from "./fixtures.ts";

const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...POISONS) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 300 }) },
  {
    weight: 1,
    arbitrary: fc.array(fc.constantFrom(..."<>&*_~`:|\r\n\u202e\u0000 a"), { maxLength: 200 }).map((c) => c.join("")),
  },
);

const alert: fc.Arbitrary<NotifiedAlert> = fc
  .record({
    name: text,
    location: text,
    locationId: text,
    id: text,
    alertname: fc.oneof(fc.constantFrom("RecordingOffline", "LowQuality", "LocationOffline"), text),
    kind: fc.constantFrom("recording", "location", "group", "service", "integration", "external"),
    notes: fc.dictionary(fc.constantFrom("summary", "description", "zones", "impact", "runbook_url"), text),
    timezone: fc.oneof(fc.constantFrom("Europe/London", "Asia/Kolkata"), text),
    age: fc.integer({ min: -HOUR, max: 1_000 * HOUR }),
    isNew: fc.boolean(),
  })
  .map(({ name, location, locationId, id, alertname, kind, notes, timezone, age, isNew }) => ({
    ...alertOf(name, { startsAt: NOW - age, annotations: notes, facts: { timezone, detail: notes.zones }, isNew }),
    subject: { kind, id: kind === "group" ? `camera_server/${id}` : id } as NotifiedAlert["subject"],
    labels: { alertname, recording: name, location, location_id: locationId, receiver: name, severity: "critical" },
  }));

const notification: fc.Arbitrary<Notification> = fc
  .record({
    firing: fc.array(alert, { maxLength: 8 }),
    ended: fc.array(fc.tuple(alert, fc.constantFrom(...endReasons)), { maxLength: 8 }),
    copies: fc.constantFrom(1, 1, 1, 15),
    reason: fc.constantFrom("first", "more", "resolved", "reminder", "test"),
    receiver: text,
    groupId: text,
    messageId: text,
  })
  .map(({ firing, ended, copies, groupId, ...rest }) =>
    notificationOf({
      ...rest,
      firing: Array.from({ length: copies }, () => firing).flat(),
      resolved: ended.map(([of, endReason]) => ({ ...of, state: "resolved", endsAt: NOW, endReason })),
      group: { id: groupId, labels: {} },
    }),
  );

/** Every object in a JSON value. */
function nodesOf(value: unknown): Record<string, string | undefined>[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Array.isArray(value) ? [] : [value as Record<string, string | undefined>];
  return [...own, ...Object.values(value).flatMap(nodesOf)];
}

const bytesOf = (value: unknown) =>
  Buffer.byteLength(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
const always = (check: (hostile: Notification, plain: boolean) => void) =>
  fc.assert(fc.property(notification, fc.boolean(), check), { numRuns: 50 });

it("stays text on Slack, within every limit", () => {
  always((hostile, plain) => {
    expect(slackProblems(renderSlack(hostile, { plain }) as SlackBody)).toEqual([]);
  });
});

it("stays text on Teams, in runs without markup and within 28 KB", () => {
  always((hostile, plain) => {
    const card = renderTeams(hostile, { plain });
    expect(bytesOf(card)).toBeLessThanOrEqual(28_000);
    for (const { type, url, text = "" } of nodesOf(card.attachments[0]?.content)) {
      if (type === "Action.OpenUrl") expect(url).toMatch(/^https?:\/\/[^<>|\s]+$/);
      expect(textProblems(text)).toEqual([]);
      expect(["AdaptiveCard", "RichTextBlock", "TextRun", "Action.OpenUrl", undefined]).toContain(type);
    }
  });
});

it("stays text at PagerDuty, within its limits", () => {
  always((hostile, plain) => {
    const [event] = renderPagerDuty(hostile, { sendResolved: true, plain });
    expect(bytesOf(event)).toBeLessThan(512_000);
    expect(event?.dedup_key.length ?? 0).toBeLessThanOrEqual(255);
    for (const { text = "", summary = "", source = "" } of nodesOf(event)) {
      expect([text, summary, source].flatMap(textProblems)).toEqual([]);
      expect([...summary].length).toBeLessThanOrEqual(1_024);
    }
  });
});

const [from, to] = ["a@example.com", "b@example.com"];
const mailOf = (of: Notification) => renderEmail(of, { from, sender: from, to: [to], recipient: to });
/** The elements and attributes of a mail about harmless names. */
const OURS = htmlVocabulary(
  mailOf(
    notificationOf({
      firing: [alertOf("A", { annotations: { description: "b" } }), alertOf("B")],
      resolved: [endedOf("C")],
    }),
  ).html ?? "",
);

it("stays text in a mail: no tag, no attribute, no header of its own", () => {
  always((hostile) => {
    const { subject, text, html = "", messageId } = mailOf(hostile);
    expect([subject, text].flatMap(textProblems)).toEqual([]);
    expect(htmlProblems(html, OURS)).toEqual([]);
    expect(subject).toMatch(/^[^\n\r]{1,300}$/);
    expect(messageId).toMatch(/^<[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*@example\.com>$/);
    expect(bytesOf(html)).toBeLessThan(102_000);
  });
});

it("adds no header and no recipient to a mail on the wire", async () => {
  const sink = await startSmtpSink();
  const smtp = { host: sink.host, port: sink.port, username: undefined, password: undefined, requireTls: false };
  const transport = createMailTransport(smtp, { log: silentLogger, closeTimeoutMs: 100 });
  onTestFinished(async () => {
    await transport.close();
    await sink.close();
  });
  const headers = "Auto-Submitted Content-Type Date From MIME-Version Message-ID Subject To X-Auto-Response-Suppress";
  const send = async (hostile: Notification) => {
    const mail = mailOf(hostile);
    await transport.sendMail(mail, new AbortController().signal);
    const received = await sink.next();
    expect([...received.headerNames].sort()).toEqual(headers.split(" "));
    expect(received.rcpts).toEqual([to]);
    expect(received.subject.trimEnd()).toBe(mail.subject.trimEnd());
  };
  await fc.assert(fc.asyncProperty(notification, send), { numRuns: 12 });
});
