/** The words of a storm: many groups in one message, by location, the worst hit first, all of them counted. */
import { expect, it } from "vitest";
import { phraseOf } from "../../src/alerting/attention.ts";
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
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

it("counts what camera servers and locations have in common once, and names it once", () => {
  const sites = Array.from({ length: 30 }, (_, i) => `${i}`);
  const serverOf = (site: number, i: number) => `edge-${(site * 2 + (i % 2)) % 12}`;
  const locations = sites.map((_, site) => {
    const names = Array.from({ length: 8 }, (_, i) => serverOf(site, i));
    const servers = Object.fromEntries(
      [...new Set(names)].map((name) => [name, names.filter((n) => n === name).length]),
    );
    return dark(site, 8, 8, { facts: { timezone: "UTC", offline: 8, of: 8, servers, problem: "location_offline" } });
  });
  const onServer = (name: string) => locations.reduce((sum, { facts }) => sum + (facts.servers?.[name] ?? 0), 0);
  const groups = Array.from({ length: 12 }, (_, i) =>
    otherAlert(
      "group",
      `camera_server/edge-${i}`,
      { alertname: "CameraServerOffline", camera_server: `edge-${i}` },
      {
        facts: {
          timezone: "UTC",
          offline: onServer(`edge-${i}`),
          of: onServer(`edge-${i}`),
          locations: 5,
          problem: "camera_server_offline",
        },
      },
    ),
  );
  const { title, sections } = message({ firing: [...groups, ...locations] });
  expect(title).toBe("🔴 240 recordings offline at 30 locations");
  expect(sections).toMatchObject([{ total: 30, unit: "location" }]);
  expect(sections[0]?.entries).toHaveLength(8);
  const one = message({ groups: undefined, firing: [...groups, ...locations] });
  expect(one.title).toBe("🔴 240 recordings offline at 30 locations");
  expect(phraseOf([...groups, ...locations])).toBe("240 recordings offline at 30 locations");
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

it.each([50, 1_000])("of %i locations names the eight with most recordings, and counts the others", (shops) => {
  const changes = { firing: cameras(shops, (shop) => (shop < 8 ? 20 : 1)) };
  const lines = slackLines(changes);
  const names = Array.from({ length: 8 }, (_, i) => `Shop ${i}`);
  expect(lines.filter((line) => line.startsWith("• ")).map((line) => /\*(.*)\*/.exec(line)?.[1])).toEqual(names);
  const rest = `and ${(shops - 8).toLocaleString("en-GB")} more locations`;
  expect(lines.at(-1)).toBe(`${rest} · <https://lenswatch.example.com/|Open status page>`);
  const { text } = renderEmail(storm(changes), ADDRESSES);
  expect(text.match(/^Shop \d+$/gm)).toEqual(names);
  expect(text).toContain(rest);
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
