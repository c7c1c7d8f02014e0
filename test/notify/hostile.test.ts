/** Names and annotations that mean harm, through both channels. */

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import { endReasons } from "../../src/health/alert.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { createMailTransport, type MailTransport } from "../../src/notify/email/transport.ts";
import { renderPagerDuty } from "../../src/notify/pagerduty.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { renderTeams } from "../../src/notify/teams.ts";
import { assertWithinSlackLimits, type SlackBody } from "../support/slack-sink.ts";
import { type SmtpSink, startSmtpSink } from "../support/smtp-sink.ts";
import { alertOf, HOUR, NOW, notificationOf } from "./fixtures.ts";

const NASTY = [
  "<!channel> <!here> <@U012AB3CD>",
  "*bold* _x_ ~y~ `z` & <b>",
  "<script>alert(1)</script><img src=x onerror=alert(1)>",
  '" onmouseover="alert(1)',
  "till\r\nBcc: everyone@example.com\r\n\r\nHello",
  "till\u2028Bcc: a@example.com\u2029\u0085x",
  "\u202egpj.exe\u2066\u0000\u001b[31m\u0007",
  "مخزن رقم ٣",
  "x".repeat(10_000),
  "<&>*_~`".repeat(1_500),
  "\ud800 lone",
  "\u200b\u200d\ufeff",
  "=?UTF-8?Q?Bcc:_a@example.com?=",
  "|https://evil.example>",
  "",
];

const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NASTY) },
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

const FORBIDDEN = /(?!\n)\p{Cc}|[\u2028\u2029\u202a-\u202e\u200e\u200f\u2066\u2067]|\p{Surrogate}/u;
const OUR_LINK = /<https?:\/\/[^<>|\s]+\|(?:Acknowledge|Status|Silence|Runbook|Open status page)>/g;

/** Everything Slack reads as mrkdwn. */
function slackTexts(body: SlackBody): string[] {
  const attachments = body.attachments ?? [];
  const blocks = [...(body.blocks ?? []), ...attachments.flatMap(({ blocks }) => blocks ?? [])];
  return [
    ...(body.text === undefined ? [] : [body.text]),
    ...blocks.flatMap((block) => block.text?.text ?? []),
    ...attachments.flatMap(({ fallback }) => fallback ?? []),
  ];
}

/** Every object in a JSON value. */
function nodesOf(value: unknown): Record<string, string | undefined>[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Array.isArray(value) ? [] : [value as Record<string, string | undefined>];
  return [...own, ...Object.values(value).flatMap(nodesOf)];
}

describe("hostile text", () => {
  it("stays text on Slack, within every limit", () => {
    fc.assert(
      fc.property(notification, fc.boolean(), (hostile, plain) => {
        const body = renderSlack(hostile, { plain }) as SlackBody;
        assertWithinSlackLimits(body);
        for (const shown of slackTexts(body)) {
          expect(shown).not.toMatch(FORBIDDEN);
          const words = shown.replace(OUR_LINK, "");
          expect(words).not.toMatch(/[<>]/);
          expect(words).not.toMatch(/&(?!(?:amp|lt|gt);)/);
          const unspaced = words.replace(/\u200b[*_~`]\u200b/g, "");
          expect(unspaced).not.toMatch(/[_~`]/);
          for (const line of unspaced.split("\n")) expect(line).toMatch(/^(?:• )?(?:\*[^*]*\*)?[^*]*$/);
        }
      }),
      { numRuns: 120 },
    );
  });

  it("stays text on Teams, in runs without markup and within 28 KB", () => {
    fc.assert(
      fc.property(notification, fc.boolean(), (hostile, plain) => {
        const card = renderTeams(hostile, { plain });
        expect(Buffer.byteLength(JSON.stringify(card))).toBeLessThanOrEqual(28_000);
        const [{ content }] = card.attachments as [(typeof card.attachments)[number]];
        expect(new Set(content.body.map((block) => (block as { type: string }).type))).toEqual(
          new Set(["RichTextBlock"]),
        );
        for (const node of nodesOf(content)) {
          if (node.type === "Action.OpenUrl") expect(node.url).toMatch(/^https?:\/\/[^<>|\s]+$/);
          if (node.type === "TextRun") expect(node.text).not.toMatch(FORBIDDEN);
          expect(["AdaptiveCard", "RichTextBlock", "TextRun", "Action.OpenUrl", undefined]).toContain(node.type);
        }
      }),
      { numRuns: 80 },
    );
  });

  it("stays text at PagerDuty, within its limits", () => {
    fc.assert(
      fc.property(notification, fc.boolean(), (hostile, plain) => {
        const [event] = renderPagerDuty(hostile, { sendResolved: true, plain });
        const text = JSON.stringify(event) ?? "";
        expect(Buffer.byteLength(text)).toBeLessThan(512_000);
        expect(event?.dedup_key.length ?? 0).toBeLessThanOrEqual(255);
        for (const { text: shown = "", summary = "", source = "" } of nodesOf(event)) {
          for (const one of [shown, summary, source]) expect(one).not.toMatch(FORBIDDEN);
          expect([...summary].length).toBeLessThanOrEqual(1_024);
        }
      }),
      { numRuns: 80 },
    );
  });

  it("stays text in a mail: no tag, no attribute, no header of its own", () => {
    const addresses = {
      from: "a@example.com",
      sender: "a@example.com",
      to: ["b@example.com"],
      recipient: "b@example.com",
    };
    fc.assert(
      fc.property(notification, (hostile) => {
        const mail = renderEmail(hostile, addresses);
        const html = mail.html ?? "";
        expect(mail.subject).not.toMatch(/[\n\r]/);
        for (const shown of [mail.subject, mail.text, html]) expect(shown).not.toMatch(FORBIDDEN);
        expect([...mail.subject].length).toBeLessThanOrEqual(150);
        expect(mail.messageId).toMatch(/^<[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*@example\.com>$/);
        const tags = new Set([...html.matchAll(/<\/?([^\s>/]+)/g)].map(([, tag]) => tag));
        expect([...tags].filter((tag) => !OUR_TAGS.has(tag ?? ""))).toEqual([]);
        const attributes = new Set(
          [...html.matchAll(/<[a-z1-9]+((?: [a-z]+="[^"]*")*)>/g)].flatMap(([, list]) =>
            [...(list ?? "").matchAll(/ ([a-z]+)="/g)].map(([, name]) => name),
          ),
        );
        expect([...attributes].filter((name) => !OUR_ATTRIBUTES.has(name ?? ""))).toEqual([]);
        expect(Buffer.byteLength(html)).toBeLessThan(102_000);
      }),
      { numRuns: 80 },
    );
  });

  describe("on the wire", () => {
    let sink: SmtpSink;
    let transport: MailTransport;
    beforeAll(async () => {
      sink = await startSmtpSink();
      const smtp = { host: sink.host, port: sink.port, username: undefined, password: undefined, requireTls: false };
      transport = createMailTransport(smtp, { log: silentLogger, closeTimeoutMs: 100 });
    });
    afterAll(async () => {
      await transport.close();
      await sink.close();
    });

    it("adds no header and no recipient", async () => {
      const addresses = {
        from: "a@example.com",
        sender: "a@example.com",
        to: ["b@example.com"],
        recipient: "b@example.com",
      };
      await fc.assert(
        fc.asyncProperty(notification, async (hostile) => {
          const mail = renderEmail(hostile, addresses);
          await transport.sendMail(mail, new AbortController().signal);
          const received = await sink.next();
          expect([...received.headerNames].sort()).toEqual(OUR_HEADERS);
          expect(received.rcpts).toEqual(["b@example.com"]);
          expect(received.subject.trimEnd()).toBe(mail.subject.trimEnd());
        }),
        { numRuns: 25 },
      );
    });
  });
});

const OUR_TAGS: ReadonlySet<string> = new Set(
  "!DOCTYPE html head meta title style body table tr td h1 div strong a".split(" "),
);
const OUR_ATTRIBUTES: ReadonlySet<string> = new Set(
  "lang charset name content class style role width height align cellpadding cellspacing border href".split(" "),
);
const OUR_HEADERS = [
  "Auto-Submitted",
  "Content-Type",
  "Date",
  "From",
  "MIME-Version",
  "Message-ID",
  "Subject",
  "To",
  "X-Auto-Response-Suppress",
].sort();
