/** The forms of a message: what each channel makes of the same document, and the limits that each of them keeps. */
import { describe, expect, it } from "vitest";
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import { locationEvaluator } from "../../src/health/evaluate-locations.ts";
import { evaluateSelf } from "../../src/health/evaluate-self.ts";
import type { Condition, Rule } from "../../src/health/model.ts";
import { recordingEvaluator } from "../../src/health/recording-evaluator.ts";
import { problemKindOf } from "../../src/health/rule.ts";
import type { Inventory } from "../../src/health/shard-state.ts";
import { count as figure } from "../../src/lib/format.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { messageOf } from "../../src/notify/message.ts";
import { renderPagerDuty } from "../../src/notify/pagerduty.ts";
import { renderRoot } from "../../src/notify/slack/conversation.ts";
import { mrkdwn } from "../../src/notify/slack/mrkdwn.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { renderTeams } from "../../src/notify/teams.ts";
import { aRecording, aRecordingState } from "../support/fixtures.ts";
import { assertWithinSlackLimits, limitsBroken, type SlackBody } from "../support/slack-sink.ts";
import { alertOf, endedOf, NOW, notificationOf, otherAlert } from "./fixtures.ts";

const ADDRESSES = {
  from: "lenswatch <lenswatch@Example.com>",
  sender: "lenswatch@Example.com",
  to: ["a@example.com", "b@example.com"],
  recipient: "b@example.com",
};
const mail = (changes: Partial<Notification>) => renderEmail(notificationOf(changes), ADDRESSES);
const many = (count: number, of = alertOf) => Array.from({ length: count }, (_, i) => of(`Camera ${i + 1}`));

function slackLines(changes: Partial<Notification>): string[] {
  const body = renderSlack(notificationOf(changes)) as SlackBody;
  assertWithinSlackLimits(body);
  const blocks = [...(body.blocks ?? []), ...(body.attachments?.[0]?.blocks ?? [])];
  return blocks.flatMap(({ text }) => text?.text.split("\n") ?? []);
}

const GROUP = {
  reason: "more",
  firing: [
    alertOf("Till 3", { isNew: false, annotations: { description: "Pulled & gone.", zones: "Entrance" } }),
    alertOf("Till <b>4*"),
  ],
  resolved: [endedOf("Back door"), endedOf("Roof", { endReason: "no_longer_watched" })],
} as const;

it.each<[string, (of: Notification) => unknown]>([
  ["mail.html.txt", (of) => renderEmail(of, ADDRESSES).html],
  ["mail.txt", (of) => renderEmail(of, ADDRESSES).text],
  ["slack.txt", (of) => renderSlack(of)],
  ["teams.txt", (of) => renderTeams(of)],
  ["pagerduty.txt", (of) => renderPagerDuty(of, { sendResolved: true })],
])("a group reads as in %s", async (file, render) => {
  const rendered = render(notificationOf(GROUP));
  const text = typeof rendered === "string" ? rendered : JSON.stringify(rendered, null, 2);
  await expect(text).toMatchFileSnapshot(`renders/${file}`);
});

describe("on every channel", () => {
  const everyForm = (notification: Notification) => [
    renderEmail(notification, ADDRESSES).text,
    ...[renderSlack, renderRoot, renderTeams, (of: Notification) => renderPagerDuty(of, { sendResolved: true })].map(
      (render) => JSON.stringify(render(notification), null, 1),
    ),
  ];

  it("a single alert has its name in the title alone, and no empty name", () => {
    for (const text of everyForm(
      notificationOf({ firing: [alertOf("Leeds Briggate Quay")], externalUrl: undefined }),
    )) {
      const lines = text.split("\n").filter((line) => line.includes("Since 14:05"));
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.filter((line) => /Quay offline\S*.*Quay|["\n] ?[:·] Since|\*\*/.test(line))).toEqual([]);
    }
  });

  it("a heading counts its alerts once, and shared notes appear once", () => {
    const impact = "the location usually counts 970 entries on a Friday";
    const dark = (name: string, more: Partial<NotifiedAlert> = {}) =>
      alertOf(name, { annotations: { impact }, ...more });
    const notification = notificationOf({ reason: "more", firing: [dark("A", { isNew: false }), dark("B")] });
    for (const text of everyForm(notification)) {
      expect(text).not.toMatch(/\(1\) \(1\)/);
      expect(text.split(impact)).toHaveLength(2);
    }
  });
});

describe("a Slack message", () => {
  const numberOf = (text = "0") => Number(text.replaceAll(",", ""));
  /** How many alerts of a list are named, and how many the line that cuts it counts. */
  const tally = (lines: readonly string[]) => ({
    named: lines.filter((line) => line.startsWith("• ")).length,
    counted: lines.reduce((sum, line) => sum + numberOf(/^(?:and )?([\d,]+) more/.exec(line)?.[1]), 0),
  });

  it.each([20, 90, 400, 10_000])(
    "of %i alerts gives a line to each that fits, counts all and links to the rest",
    (count) => {
      const lines = slackLines({ firing: many(count) });
      const { named, counted } = tally(lines);
      expect(named + counted).toBe(count);
      expect(named).toBeGreaterThan(Math.min(count, 31) - 1);
      expect(lines[0]).toBe(`*🔴 ${figure(count)} recordings offline · Leeds Briggate*`);
      if (count > 20)
        expect(lines.at(-1)).toMatch(/^and [\d,]+ more · <https:\/\/lenswatch\.example\.com\/\|Open status page>$/);
    },
  );

  it("leaves room for what is over when a great deal fires", () => {
    const lines = slackLines({ reason: "more", firing: many(300), resolved: many(300, endedOf) });
    expect(lines.filter((line) => line.includes("recovered, was offline")).length).toBeGreaterThan(3);
    const { named, counted } = tally(lines);
    expect(named + counted).toBe(600);
  });

  it("drops notes rather than break a limit when everything is as long as can be", () => {
    const long = "& <*_~> ".repeat(2_000);
    const annotations = { summary: `1${long}`, description: `2${long}`, zones: `3${long}`, impact: `4${long}` };
    const runbook = { runbook_url: `https://wiki.example.com/${"a&".repeat(250)}` };
    const firing = Array.from({ length: 5 }, (_, i) =>
      alertOf(`${i}${long}`, { annotations: { ...annotations, ...runbook } }),
    );
    expect(slackLines({ firing }).filter((line) => line.includes("|Status>")).length).toBeGreaterThan(0);
    const shared = ["A", "B"].map((name) => alertOf(name, { annotations: { description: "&".repeat(400) } }));
    expect(slackLines({ firing: shared }).join()).not.toContain("&amp;&amp;");
  });

  it("has its text alone where blocks were refused", () => {
    const plain = renderSlack(notificationOf({ firing: [alertOf("Till 3")] }), { plain: true });
    expect(Object.keys(plain)).not.toEqual(expect.arrayContaining(["blocks"]));
    expect(plain.text).toMatch(/^🔴 Till 3 offline · Leeds Briggate\nSince 14:05 GMT \(12 m\)/);
  });

  it.each([
    [":tada: at 10:30:45", ":Ztada: at 10:30:45"],
    ["since 14:16:20 GMT", "since 14:16:20 GMT"],
    [":+1: a:100:b", ":Z+1: a:Z100:b"],
    ["> quoted", "Z&gt; quoted"],
    ["a > b", "a &gt; b"],
    ["<!channel> *bold* _it_ ~no~ `code` &", "&lt;!channel&gt; Z*ZboldZ*Z Z_ZitZ_Z Z~ZnoZ~Z Z`ZcodeZ`Z &amp;"],
    ["&lt;", "&amp;lt;"],
  ])("shows %s as it is", (text, expected) => {
    expect(mrkdwn(text).replaceAll("\u200b", "Z")).toBe(expected);
  });

  const section = (text: string) => ({ type: "section", text: { type: "mrkdwn", text } as const });
  const blocks = (count: number) => Array.from({ length: count }, () => section("x"));
  it.each<[string, SlackBody]>([
    ["nothing to show", {}],
    ["51 blocks", { text: "t", blocks: blocks(51) }],
    ["51 blocks, some in attachments", { blocks: blocks(26), attachments: [{ blocks: blocks(25) }] }],
    ["a section over 3,000", { blocks: [section("x".repeat(3_001))] }],
    ["12,001 in all", { blocks: Array.from({ length: 5 }, () => section("x".repeat(2_401))) }],
    ["an empty section", { blocks: [section("")] }],
    ["a header over 150", { blocks: [{ type: "header", text: { type: "plain_text", text: "x".repeat(151) } }] }],
    ["a header in mrkdwn", { blocks: [{ type: "header", text: { type: "mrkdwn", text: "x" } }] }],
    ["a block nobody knows", { text: "t", blocks: [{ type: "marquee" }] }],
    ["a text over 4,000", { text: "x".repeat(4_001) }],
  ])("would be refused with %s", (_, body) => {
    expect(limitsBroken(body)).not.toEqual([]);
    expect(() => assertWithinSlackLimits(body)).toThrow("Slack would refuse this");
  });
});

describe("a mail", () => {
  /** The text that a reader of the HTML sees. */
  const words = (html = "") =>
    [
      [/<head>[\s\S]*<\/head>/, ""],
      [/<[^>]*>/g, " "],
      [/&nbsp;/g, " "],
      [/&lt;/g, "<"],
      [/&gt;/g, ">"],
      [/&amp;/g, "&"],
      [/\s+/g, " "],
    ].reduce((text, [from, to]) => text.replace(from as RegExp, to as string), html);

  it("has the same content in text and in HTML, and loads nothing from anywhere", () => {
    const { text, html = "" } = mail(GROUP);
    const read = words(html);
    for (const line of text.split("\n").map((each) => each.trim()))
      if (!line.includes("https://")) expect(read).toContain(line);
    for (const [, url] of text.matchAll(/: (https:\S+)/g))
      expect(html).toContain(`href="${url?.replaceAll("&", "&amp;")}"`);
    expect(html).not.toMatch(/<(?:img|link|script|iframe|object|svg)\b|\bsrc=|url\(|@import/i);
  });

  it("previews what its subject does not say, and shows by its colour how bad it is", () => {
    const preview = (changes: Partial<Notification>) =>
      words(/<body[^>]*>\s*<div [^>]*>([^<]*)<\/div>/.exec(mail(changes).html ?? "")?.[1]?.split("&#847;")[0]);
    const pulled = { firing: [alertOf("Till 3", { annotations: { description: "Pulled & gone." } })] };
    expect(preview(pulled)).toBe("Since 14:05 GMT (12 m) · Pulled & gone.");
    expect(preview(GROUP)).toMatch(
      /^New \(1\) · Till <b>4\*: offline since 14:05 GMT \(12 m\) · Still firing \(1\) · Till 3/,
    );
    expect(mail(pulled).html).toContain("background:#d32f2f");
    expect(mail({ resolved: [endedOf("A")] }).html).toContain("background:#2e9e5b");
    expect(mail({ resolved: [endedOf("A", { endReason: "expired" })] }).html).not.toContain("#2e9e5b");
  });

  it.each([100, 10_000])("stays short enough not to be clipped with %i alerts, and counts all of them", (count) => {
    const long = (i: number, text: string) => text.repeat(395) + i;
    const firing = Array.from({ length: count }, (_, i) =>
      alertOf(`Camera ${i}`, {
        annotations: { summary: long(i, "s"), description: long(i, "d"), zones: long(i, "z") },
      }),
    );
    const { html = "", text } = mail({ firing });
    const named = [...text.matchAll(/^Camera \d+$/gm)].length;
    expect(Buffer.byteLength(html)).toBeLessThan(102_000);
    expect(named).toBeGreaterThanOrEqual(20);
    for (const form of [text, words(html)]) expect(form).toContain(`and ${figure(count - named)} more`);
  });

  it.each([
    ["lenswatch@Example.com", "@example.com>"],
    ["lenswatch@[127.0.0.1]", "@lenswatch.invalid>"],
    ["postmaster", "@postmaster>"],
    ["a@b\r\nBcc: x", "@lenswatch.invalid>"],
  ])("has a valid Message-ID when sent by %j", (sender, end) => {
    const { messageId } = renderEmail(notificationOf(), { ...ADDRESSES, sender });
    expect(messageId).toMatch(/^<[A-Za-z0-9._-]+@[a-z0-9.-]+>$/);
    expect(messageId.endsWith(end)).toBe(true);
  });
});

it("a card for Teams lists as many as fit into 28 KB, and counts the others", () => {
  const long = "a very long name of a till, with ümlauts ".repeat(5);
  const firing = Array.from({ length: 200 }, (_, i) =>
    alertOf(`${long} ${i}`, {
      labels: { alertname: "RecordingOffline", location: `${long} ${i}`, location_id: `${i}` },
    }),
  );
  const card = renderTeams(
    notificationOf({
      firing,
      resolved: many(100, endedOf).map((one) => ({ ...one, facts: firing[0]?.facts ?? one.facts })),
    }),
  );
  const text = JSON.stringify(card);
  expect(Buffer.byteLength(text)).toBeLessThan(28_000);
  expect(text.match(/"and \d+ more/g)).toHaveLength(2);
});

describe("annotations that a rule generates are not notes where the title or the line says the same", () => {
  const inventory: Inventory = {
    recording: (id) => aRecording(id, { name: "Till 3", locationId: "leeds", cameraServer: "" }),
    location: (id) => ({ id, name: "Leeds", timezone: "Europe/London" }),
  };
  /** With a quality and an uptime of 40 %. */
  const poorly = recordingEvaluator(
    {
      state: aRecordingState("t3", { locationId: "leeds", readAt: NOW, averageQuality: 0.4 }),
      read: true,
      missing: false,
    },
    {
      now: NOW,
      intervalMs: 30_000,
      inventory,
      uptime: () => 0.4,
      inSchedule: () => true,
      scheduleOf: () => undefined,
      scheduleBegan: () => undefined,
    },
  );
  const ruleOf = (when: Condition, annotations = {}): Rule => ({
    ...{ id: "Own", alert: "Own", when, forMs: 0, keepFiringForMs: 0, respectSchedule: true, labels: {}, annotations },
  });
  const notesOf = (alert: NotifiedAlert) =>
    messageOf(notificationOf({ firing: [alert] }), 10).sections[0]?.rows[0]?.notes ?? [];
  const quality = { kind: "average_quality", below: 0.7, clearAbove: 0.8 } as const;
  const location = { kind: "location_offline", atLeast: 1, clearBelow: 0.8, minRecordings: 2 } as const;

  it.each<[string, Condition, object, string[]]>([
    ["offline", { kind: "status", status: "offline" }, {}, []],
    ["of low quality", quality, {}, ["Average quality was 40 %, below 70 %, when this began; the alert ends at 80 %."]],
    [
      "of low quality",
      quality,
      { description: "Clean it." },
      ["Quality of Till 3 at Leeds is below 70 %", "Clean it."],
    ],
    [
      "of low uptime",
      { kind: "overall_uptime", below: 0.955, clearAbove: 0.97, overMs: 86_400_000 },
      {},
      ["Uptime over 1d was 40 % (segments missing), below 95.5 %, when this began; the alert ends at 97 %."],
    ],
    ["all of its location", location, {}, []],
    ["all of its location", location, { description: "Call the manager." }, ["Call the manager."]],
  ])("a recording that is %s", (_, when, own, notes) => {
    const rule = ruleOf(when, own);
    const evaluator = when.kind === "location_offline" ? locationEvaluator("leeds", undefined, inventory) : poorly;
    const { annotations } = evaluator.describe(rule, NOW);
    const facts = { timezone: "Europe/London", problem: problemKindOf(when), restated: evaluator.facts(rule).restated };
    const labels = { recording: "Till 3", location: "Leeds", location_id: "leeds" };
    const own_ = { annotations, facts };
    const alert =
      when.kind === "location_offline"
        ? otherAlert("location", "leeds", labels, own_)
        : alertOf("Till 3", { labels, ...own_ });
    expect(notesOf(alert)).toEqual(notes);
  });

  it("an unreachable service", () => {
    const evidence = { goodAt: NOW - 600_000, attemptedAt: NOW, error: "It answered 503." };
    const [transition] = evaluateSelf(
      {},
      { shards: [evidence], inventory: evidence, uptimes: [evidence], integrations: [] },
      {
        now: NOW,
        rules: [ruleOf({ kind: "service", state: "unreachable" })],
        intervalMs: 30_000,
        uptimeIntervalMs: 300_000,
        inventoryIntervalMs: 3_600_000,
        requestTimeoutMs: 0,
      },
    ).transitions;
    const { labels = {}, annotations = {}, facts } = transition?.alert ?? {};
    expect(annotations.summary).toBe("The analytics service is unreachable");
    const notes = notesOf(otherAlert("service", "analytics", labels, { annotations, ...(facts && { facts }) }));
    expect(notes).toEqual([expect.stringContaining(evidence.error)]);
  });
});
