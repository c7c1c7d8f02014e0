/** The words of alerts about recordings that share a label. */
import { describe, expect, it } from "vitest";
import type { Notification, NotifiedAlert } from "../../src/alerting/model.ts";
import { renderEmail } from "../../src/notify/email/render.ts";
import { messageOf } from "../../src/notify/message.ts";
import { renderPagerDuty } from "../../src/notify/pagerduty.ts";
import { renderSlack } from "../../src/notify/slack/render.ts";
import { renderTeams } from "../../src/notify/teams.ts";
import { renderWebhook } from "../../src/notify/webhook.ts";
import { alertOf, endedOf, MINUTE, NOW, notificationOf, otherAlert } from "./fixtures.ts";

const server = (facts: Partial<NotifiedAlert["facts"]>, name = "edge-7", more: Partial<NotifiedAlert> = {}) =>
  otherAlert(
    "group",
    `camera_server/${name}`,
    { alertname: "CameraServerOffline", camera_server: name },
    { facts: { timezone: "Europe/London", of: 38, locations: 5, ...facts }, ...more },
  );
const on = (name: string, camera_server: string) =>
  alertOf(name, {
    labels: { alertname: "RecordingOffline", camera_server, location_id: name, location: `Shop ${name}` },
  });
const message = (changes: Partial<Notification>) => messageOf(notificationOf(changes), 50);
const outage = (
  problem: "camera_server_offline" | "organisation_offline" | "location_offline",
  subject: NotifiedAlert["subject"],
  offline: number,
  labels: Record<string, string>,
  servers?: Record<string, number>,
): NotifiedAlert => ({
  ...server({ offline, problem, servers }),
  subject,
  labels: { severity: "critical", ...labels },
});
/** The recordings of an organisation with one camera server; those of a location, some of them all of a camera server's. */
const overlapping = [
  ...(["camera_server", "organisation"] as const).map((label) =>
    outage(
      `${label}_offline`,
      { kind: "group", id: label === "organisation" ? "organisation/acme" : "camera_server/edge-7" },
      38,
      { camera_server: "edge-7", organisation: "acme" },
    ),
  ),
  outage(
    "location_offline",
    { kind: "location", id: "S" },
    12,
    { location_id: "S", location: "Shop S", organisation: "other" },
    { "edge-8": 7, "edge-9": 5 },
  ),
  outage("camera_server_offline", { kind: "group", id: "camera_server/edge-9" }, 5, {
    ...{ camera_server: "edge-9", location_id: "S", location: "Shop S" },
  }),
];

describe("an alert of a camera server", () => {
  it.each<[string, Partial<Notification>]>([
    ["🔴 Camera server edge-7: all 38 recordings offline at 5 locations", { firing: [server({ offline: 38 })] }],
    [
      "🔴 Camera server edge-7: all 38 recordings offline at Leeds, York and 3 more",
      { firing: [server({ offline: 38, locationNames: ["Leeds", "York", "Bath"] })] },
    ],
    [
      "🔴 Camera server edge-7: 7 of 38 recordings offline at Leeds and York",
      { firing: [server({ offline: 7, locations: 2, locationNames: ["Leeds", "York"] })] },
    ],
    ["🔴 Camera server edge-7: 37 of 38 recordings offline at 5 locations", { firing: [server({ offline: 37 })] }],
    ["🔴 2 camera servers offline", { firing: [server({ offline: 38 }), server({ offline: 38 }, "edge-8")] }],
    [
      "🔴 39 recordings offline at 5 or more locations",
      { groups: 12, firing: [server({ offline: 38 }), on("A", "edge-7"), on("B", "edge-7"), on("C", "edge-8")] },
    ],
    ["🔴 50 recordings offline at 6 locations", { groups: 12, firing: overlapping }],
    [
      "⚪ Camera server edge-7 partly recovered — after 9 m, 7 recordings still offline",
      {
        resolved: [
          server({ offline: 7 }, "edge-7", {
            state: "resolved",
            startsAt: NOW - 12 * MINUTE,
            endsAt: endedOf("x").endsAt,
            endReason: "recovered",
            isNew: false,
          }),
        ],
      },
    ],
  ])("%s", (title, changes) => {
    expect(message(changes).title).toBe(title);
  });

  it("says that no other recording is offline where that is so, and leads to its recordings", () => {
    const [section] = message({
      firing: [server({ offline: 38, isAlone: true })],
      externalUrl: "https://l.example",
    }).sections;
    expect(section?.entries[0]?.notes).toContain("No other recording is offline.");
    expect(section?.entries[0]?.links).toContainEqual({ label: "Status", url: "https://l.example/?q=edge-7" });
    expect(message({ firing: [server({ offline: 38 })] }).sections[0]?.entries[0]?.notes).toEqual([]);
  });

  it("is a line of its own among locations", () => {
    const firing = [
      server({ offline: 38 }),
      server({ offline: 4 }, "edge-8"),
      ...[..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((name) => on(name, "x")),
    ];
    const names = message({ groups: 20, firing }).sections.flatMap(({ entries }) => entries.map(({ name }) => name));
    expect(names.slice(0, 3)).toEqual(["Camera server edge-7", "Camera server edge-8", "Shop A"]);
  });
});

/** A camera server whose name, as its locations' names, would be markup, a mention and a second line. */
const HOSTILE = "<!channel> <b>edge</b> *7*\n@all";
const hostile = (more: Partial<NotifiedAlert> = {}) =>
  server({ offline: 38, isAlone: true, locationNames: ["<at>Leeds</at>", "_York_"] }, HOSTILE, {
    annotations: { summary: "Camera server is offline", description: "38 of 38 recordings offline." },
    ...more,
  });
const ended = hostile({ state: "resolved", endsAt: NOW - MINUTE, endReason: "recovered", isNew: false });
const group = { id: "{}/camera_server=x", labels: { camera_server: HOSTILE } };
const conversation = { id: "c1", handle: undefined, openedAt: NOW, isOver: false };
const addresses = { from: "a@b.example", sender: "a@b.example", to: ["c@d.example"], recipient: "c@d.example" };
const begun = notificationOf({ group, firing: [hostile()], conversation });
const over = notificationOf({
  group,
  reason: "resolved",
  resolved: [ended],
  conversation: { ...conversation, isOver: true },
});

/** At PagerDuty: one incident. */
const paged = (of: Notification): Notification => {
  const { firing, resolved } = of;
  const change = { action: firing.length > 0 ? "trigger" : "resolve", key: "c1", firing, resolved } as const;
  return { ...of, conversation: { ...conversation, isOver: false, paging: { changes: [change], pages: new Map() } } };
};

/** Of each channel: what it says of the beginning and the end, and what it must not say. */
describe("the payload of an alert of a group", () => {
  const shown = "<!channel> <b>edge</b> *7* @all";
  const extent = "all 38 recordings offline at <at>Leeds</at>, _York_ and 3 more";
  const page = "https://lenswatch.example.com/alerts/0123456789abcdef";

  it.each<[string, (of: Notification) => unknown, begins: string[], ends: string[], never: RegExp]>([
    [
      "Slack",
      (of) => renderSlack(of),
      [
        "&lt;!channel&gt; &lt;b&gt;edge&lt;/b&gt;",
        "all 38 recordings offline at &lt;at&gt;Leeds",
        "No other recording is offline.",
        "\u200b*\u200b7\u200b*\u200b",
        "\u200b_\u200bYork",
      ],
      ["&lt;!channel&gt;", "recovered"],
      /<!channel|<b>|<at>/,
    ],
    [
      "e-mail",
      (of) => renderEmail(of, addresses).html,
      ["&lt;!channel&gt; &lt;b&gt;edge&lt;/b&gt; *7* @all", "at &lt;at&gt;Leeds&lt;/at&gt;, _York_ and 3 more", page],
      ["&lt;b&gt;edge&lt;/b&gt; *7* @all partly recovered"],
      /<!channel|<b>|<at>/,
    ],
    [
      "e-mail as text",
      (of) => renderEmail(of, addresses).text,
      [`Camera server ${shown}: ${extent}`, page],
      [shown],
      /7\*\n@all/,
    ],
    [
      "PagerDuty",
      (of) => renderPagerDuty(paged(of), { sendResolved: true }),
      [
        `"summary":"🔴 Camera server ${shown}: ${extent}"`,
        `"source":"Camera server ${shown}"`,
        `"component":"Camera server ${shown}"`,
        '"class":"CameraServerOffline"',
        `"href":"${page}"`,
        '"event_action":"trigger","dedup_key":"c1"',
      ],
      ['{"event_action":"resolve","dedup_key":"c1"}'],
      /\\n@all/,
    ],
    [
      "Teams",
      (of) => renderTeams(of),
      [`"type":"TextRun","text":"🔴 Camera server ${shown}: ${extent}"`, `"url":"${page}"`],
      [`"type":"TextRun","text":"⚪ Camera server ${shown} partly recovered`],
      /"type":"(?!message|AdaptiveCard|RichTextBlock|TextRun|Action\.OpenUrl)/,
    ],
    [
      "webhook",
      (of) => renderWebhook(of, { maxAlerts: 0 }),
      [
        '"status":"firing"',
        '"fingerprint":"0123456789abcdef"',
        `"commonLabels":{"severity":"critical","alertname":"CameraServerOffline","camera_server":${JSON.stringify(HOSTILE)}}`,
        '"description":"38 of 38 recordings offline."',
      ],
      ['"status":"resolved"', '"end_reason":"recovered"', '"fingerprint":"0123456789abcdef"'],
      /location_id/,
    ],
  ])("%s says what and where, and takes no name for markup", (_, render, begins, ends, never) => {
    const textOf = (of: Notification) =>
      [render(of)].map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join();
    for (const [of, parts] of [
      [begun, begins],
      [over, ends],
    ] as const) {
      const text = textOf(of);
      for (const part of parts) expect(text).toContain(part);
      expect(text).not.toMatch(never);
    }
  });

  it("has the same keys in its reminder and its end, so that a receiver takes them for one", () => {
    const keys = (of: Notification) => {
      const { groupKey, alerts } = renderWebhook(of, { maxAlerts: 0 });
      return [groupKey, alerts.map((one) => one.fingerprint)];
    };
    const moved = hostile({ isNew: false, facts: { ...hostile().facts, offline: 30, locations: 4 } });
    expect(keys({ ...begun, reason: "reminder", firing: [moved] })).toEqual(keys(begun));
    expect(keys(over)).toEqual(keys(begun));
  });
});
