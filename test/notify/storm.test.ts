/** The words of a storm: many groups in one message, by location, the worst hit first, all of them counted. */
import { expect, it } from "vitest";
import type { Notification, NotifiedAlert } from "../../src/alerting/notification.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { messageOf } from "../../src/notify/message.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { assertWithinSlackLimits, type SlackBody } from "../support/slack-sink.ts";
import { alertOf, endedOf, notificationOf, otherAlert } from "./fixtures.ts";

const at = (shop: number, name = `Shop ${shop}`) => ({ location: name, location_id: `${shop}` });

/** `perShop(i)` recordings at shop `i`. */
function cameras(shops: number, perShop: (shop: number) => number, of = alertOf): NotifiedAlert[] {
  return Array.from({ length: shops }, (_, shop) =>
    Array.from({ length: perShop(shop) }, (_, i) => of(`Camera ${shop}-${i}`, { labels: at(shop) })),
  ).flat();
}

const dark = (shop: number, offline: number, of: number, more: Partial<NotifiedAlert> = {}) =>
  otherAlert(
    "location",
    `${shop}`,
    { alertname: "LocationOffline", ...at(shop) },
    { facts: { timezone: "Europe/London", offline, of }, ...more },
  );

const storm = (changes: Partial<Notification>) => notificationOf({ groups: 50, ...changes });
const message = (changes: Partial<Notification>) => messageOf(storm(changes), 250);

function slackLines(changes: Partial<Notification>): string[] {
  const body = renderSlack(storm(changes)) as SlackBody;
  assertWithinSlackLimits(body);
  const blocks = [...(body.blocks ?? []), ...(body.attachments?.[0]?.blocks ?? [])];
  return blocks.flatMap(({ text }) => text?.text.split("\n") ?? []);
}

it.each<[string, Partial<Notification>]>([
  ["🔴 1,000 recordings offline at 50 locations", { firing: cameras(50, () => 20) }],
  ["🔴 1,000 recordings offline at 50 locations", { firing: Array.from({ length: 50 }, (_, i) => dark(i, 20, 20)) }],
  [
    "🔴 23 recordings offline at 2 locations",
    { firing: [dark(0, 20, 20), ...cameras(2, (shop) => (shop === 0 ? 20 : 3))] },
  ],
  [
    "🔴 Reminder: 40 recordings still offline at 20 locations — for 12 m",
    { reason: "reminder", firing: cameras(20, () => 2) },
  ],
  [
    "🔴 30 recordings offline at 15 locations — 100 recovered at 25 locations",
    { firing: cameras(15, () => 2), resolved: cameras(25, () => 4, endedOf) },
  ],
  ["✅ 1,000 recordings recovered at 50 locations — after 9 m", { resolved: cameras(50, () => 20, endedOf) }],
  [
    "✅ 12 locations recovered — after 9 m",
    {
      resolved: Array.from({ length: 12 }, (_, i) => {
        const { startsAt, endsAt } = endedOf("x");
        return dark(i, 0, 20, { state: "resolved", endReason: "recovered", isNew: false, startsAt, endsAt });
      }),
    },
  ],
])("its title is %s", (title, changes) => {
  expect(message(changes).title).toBe(title);
});

it("has a line per location, most affected first, for alerts of locations and of recordings", () => {
  const firing = [...cameras(30, (shop) => (shop === 7 ? 9 : 2)), dark(3, 20, 20), dark(40, 11, 30)];
  const [section] = message({ firing }).sections;
  expect(section).toMatchObject({ unit: "location", total: 31 });
  expect(section?.entries.slice(0, 4).map(({ name, facts }) => `${name}: ${facts}`)).toEqual([
    "Shop 3: all 20 recordings",
    "Shop 40: 11 of 30 recordings",
    "Shop 7: 9 recordings",
    "Shop 0: 2 recordings",
  ]);
});

it("names the recording where it is alone at its location, firing or over", () => {
  const firing = cameras(25, () => 1);
  expect(message({ firing }).sections[0]?.entries[0]?.facts).toBe("Camera 0-0");
  const resolved = cameras(25, () => 1, endedOf);
  expect(message({ resolved }).sections[0]?.entries[0]?.facts).toBe("Camera 0-0");
});

it("names fifty locations in one Slack message and one mail, and links to the status page", () => {
  const changes = { firing: cameras(50, () => 20) };
  const lines = slackLines(changes);
  expect(lines.filter((line) => line.startsWith("• "))).toHaveLength(50);
  expect(lines.at(-1)).toBe("<https://lenswatch.example.com/|Open status page>");
  const { text } = renderEmail(storm(changes), ADDRESSES);
  expect(text.match(/^Shop \d+$/gm)).toHaveLength(50);
  expect(text).toContain("https://lenswatch.example.com/");
});

it("counts a thousand locations of which it names as many as there is room for", () => {
  const changes = { firing: cameras(1_000, (shop) => (shop < 30 ? 20 : 1)) };
  const lines = slackLines(changes);
  const named = lines.filter((line) => line.startsWith("• ")).length;
  expect(named).toBeGreaterThan(90);
  expect(lines.at(-1)).toBe(`and ${1_000 - named} more locations · <https://lenswatch.example.com/|Open status page>`);
  const { text, html = "" } = renderEmail(storm(changes), ADDRESSES);
  const inMail = text.match(/^Shop \d+$/gm)?.length ?? 0;
  expect(inMail).toBeGreaterThan(90);
  expect(text).toContain(`and ${1_000 - inMail} more locations`);
  expect(Buffer.byteLength(html)).toBeLessThan(95_001);
});

it("contains no mentions and no markup from location names", () => {
  const hostile = "<!channel> *x* </td><script>";
  const firing = Array.from({ length: 30 }, (_, shop) =>
    alertOf(`<b>${shop}`, { labels: at(shop, `${hostile}${shop}`) }),
  );
  expect(slackLines({ firing }).join("\n")).not.toMatch(/<!|<b>|<script/);
  const { html = "" } = renderEmail(storm({ firing }), ADDRESSES);
  expect(html).not.toMatch(/<script|<b>|<!channel/);
});

const ADDRESSES = {
  from: "lenswatch@example.com",
  sender: "lenswatch@example.com",
  to: ["a@example.com"],
  recipient: "a@example.com",
};

it("shares what began in the same minute, though some lasts a second longer", () => {
  const firing = cameras(30, () => 2).map((alert, i) => ({
    ...alert,
    startsAt: alert.startsAt + (i % 4 < 2 ? 0 : 1_000),
  }));
  const [, shared, ...lines] = slackLines({ firing });
  expect(shared).toMatch(/^\*Offline since 14:05 GMT \(12 m\)\*$/);
  expect(lines.filter((line) => / offline since /.test(line))).toEqual([]);
});
