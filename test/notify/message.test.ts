/** The words of messages: each scene is one notification, written as plain text into one file, to be read as people do. */
import { describe, expect, it } from "vitest";
import { plainText } from "../../src/alerting/document.ts";
import { causePhrase } from "../../src/alerting/incident-cause.ts";
import type { ColdStartFacts, Notification, NotifiedAlert, StandsFor } from "../../src/alerting/model.ts";
import { phraseOf } from "../../src/alerting/words.ts";
import type { AlertFacts, EndReason } from "../../src/health/alert.ts";
import { messageOf } from "../../src/notify/message.ts";
import { aStart } from "../support/fixtures.ts";
import { alertOf, endedOf, HOUR, MINUTE, NOW, notificationOf, otherAlert } from "./fixtures.ts";

type Changes = Partial<NotifiedAlert>;
const told = { isNew: false };
const named = (alertname: string, more: Record<string, string> = {}) => ({ labels: { alertname, ...more } }) as Changes;
const facts = (more: Partial<AlertFacts>) => ({ facts: { timezone: "Europe/London", ...more } });
const LOW_QUALITY = named("LowQuality", { severity: "warning" });
const at = (place: string | number) => ({
  location: typeof place === "number" ? `Shop ${place}` : place,
  location_id: `id-${place}`,
});
const inYork = named("RecordingOffline", at("York"));
const over = (alert: NotifiedAlert, changes: Changes = {}): NotifiedAlert => ({
  ...alert,
  state: "resolved",
  endsAt: NOW - 3 * MINUTE,
  endReason: "recovered",
  isNew: false,
  ...changes,
});
const ended = (name: string, endReason: EndReason, more: Changes = {}) => endedOf(name, { endReason, ...more });
const location = (
  offline: number,
  of: number,
  more: Partial<AlertFacts> = {},
  place: string | number = "Leeds Briggate",
) =>
  otherAlert(
    "location",
    `id-${place}`,
    { alertname: "LocationOffline", ...at(place) },
    facts({ offline, of, problem: "location_offline", ...more }),
  );
const change = (offline: number, recovered: number, of: number) => ({
  ...over(location(offline, of)),
  change: { recovered, of },
});
const server = (offline: number, more: Partial<AlertFacts> = {}, name = "edge-7") =>
  otherAlert(
    "group",
    `camera_server/${name}`,
    { alertname: "CameraServerOffline", camera_server: name },
    facts({ offline, of: 38, locations: 5, ...more }),
  );
const service = otherAlert("service", "service", { alertname: "ServiceUnreachable" });
const partly = otherAlert("service", "service", { alertname: "ServicePartlyUnreachable", severity: "warning" });
const failing = otherAlert(
  "integration",
  "ops/slack/0",
  { alertname: "NotificationsFailing", receiver: "ops", integration: "slack" },
  facts({ detail: "Slack refused the webhook (403 invalid_token)." }),
);
const external = (labels: Record<string, string>, more: Changes = {}): NotifiedAlert => ({
  ...alertOf("x", { facts: { timezone: "UTC" }, ...more, subject: { kind: "external", id: JSON.stringify(labels) } }),
  ruleId: `external/${labels.alertname ?? ""}`,
  labels,
});
const disk = external({ alertname: "DiskFull", instance: "nas-1", severity: "critical" });
const flapping = (name: string) =>
  alertOf(name, {
    ...named("RecordingFlapping"),
    startsAt: NOW - 9 * MINUTE,
    ...facts({ changes: 6, changesSince: NOW - 9 * MINUTE, status: "online", averageQuality: 0.9 }),
  });
const steady = (name: string, status: "online" | "offline" | "degraded", more: Changes = {}) =>
  endedOf(name, {
    ...named("RecordingFlapping"),
    startsAt: NOW - 40 * MINUTE,
    endsAt: NOW,
    ...facts({ problem: "flapping", status, statusSince: NOW - 12 * MINUTE, changes: 4 }),
    ...more,
  });
/** `perShop` recordings at each of so many shops. */
const cameras = (shops: number, perShop: (shop: number) => number, of = alertOf) =>
  Array.from({ length: shops }, (_, shop) =>
    Array.from({ length: perShop(shop) }, (_, i) => of(`Camera ${shop}-${i}`, named("RecordingOffline", at(shop)))),
  ).flat();
const start = { ...aStart, suppressed: 0 };
const started = (of: Partial<ColdStartFacts>, firing: NotifiedAlert[] = []) =>
  ({ reason: "started", start: { ...start, ...of }, firing }) as const;
const first = {
  watched: ["offline for 2 m", "location offline for 1 m"],
  example: { recording: "Leeds Briggate Entrance", location: "Leeds Briggate", timezone: "Europe/London" },
};
const covering = (standsFor: StandsFor) => ({ firing: [{ ...location(4, 4), standsFor }] });
const tills = [alertOf("Till 3"), alertOf("Till 4")];
const back = [endedOf("Till 3"), endedOf("Till 4")];

const SCENES: Readonly<Record<string, Partial<Notification>>> = {
  "one recording": { firing: [alertOf("Till 3")] },
  "two recordings": { firing: tills },
  "two problems": { firing: [alertOf("Door", LOW_QUALITY), ...tills] },
  "two problems of one recording": { firing: [alertOf("Door"), alertOf("Door", LOW_QUALITY)] },
  "low quality": { firing: [alertOf("Door", { ...LOW_QUALITY, ...facts({ averageQuality: 0.69999 }) })] },
  "low uptime": { firing: [alertOf("A", { ...named("LowUptime"), ...facts({ overallUptime: 0.912, arrived: 1 }) })] },
  "not uploading": { firing: [alertOf("A", facts({ problem: "not_uploading", arrived: 0.021, averageQuality: 0.9 }))] },
  "no quality of an offline camera": { firing: [alertOf("A", facts({ problem: "offline", averageQuality: 0.9 }))] },
  "two places": { firing: [alertOf("Till 3"), alertOf("Till 4", inYork)] },
  "three places": { firing: [0, 1, 2, 3].map((i) => alertOf(`Camera ${i}`, named("RecordingOffline", at(i % 3)))) },
  "low quality at three places": { firing: [1, 2, 3].map((i) => alertOf(`Door ${i}`, named("LowQuality", at(i)))) },
  "a new one": { reason: "more", firing: [alertOf("A", told), alertOf("B")], resolved: [endedOf("C")] },
  "ends while another fires": { reason: "resolved", firing: [alertOf("A", told)], resolved: back },
  "one recovered": { resolved: [endedOf("Till 3")] },
  "two recovered": { resolved: back },
  "unlike durations": { resolved: [endedOf("A"), endedOf("B", { startsAt: NOW - 2 * HOUR })] },
  "a short one": { resolved: [endedOf("A", { startsAt: NOW - 160_000, endsAt: NOW - 130_000 })] },
  "not notified before": { resolved: [endedOf("A", { isNew: true })] },
  "two not notified before": { resolved: [endedOf("A", { isNew: true }), endedOf("B")] },
  "no longer watched": { resolved: [ended("A", "no_longer_watched")] },
  "rule removed": {
    resolved: [ended("A", "rule_removed"), ended("B", "rule_removed", facts({ problem: "offline", clearing: true }))],
  },
  "not sent here": { resolved: [ended("A", "not_sent_here")] },
  "counts dropped together": { resolved: [ended("A", "dropped_together", facts({ problem: "counts_low" }))] },
  "several ends": { resolved: [endedOf("A"), ended("B", "expired"), ended("C", "no_longer_watched")] },
  "an end beside another problem": {
    firing: [alertOf("A", { ...told, ...LOW_QUALITY })],
    resolved: [endedOf("A"), endedOf("C")],
  },
  "a reminder": { reason: "reminder", firing: [alertOf("A", { ...told, startsAt: NOW - 4 * HOUR })] },
  "an escalation": { firing: [alertOf("Till 3")], receiver: "phone", escalatedAfterMs: 90 * MINUTE },
  "a test": { reason: "test", firing: [alertOf("A")] },
  "a whole location": { firing: [location(4, 4)] },
  "a location outside its schedule": { firing: [location(7, 7, { outside: 1 })] },
  "a part of a location": { firing: [location(7, 8)] },
  "a location with its recordings": {
    firing: [
      location(2, 2),
      ...["A", "B"].map((name) => alertOf(name, named("RecordingOffline", at("Leeds Briggate")))),
      alertOf("Door", named("LowQuality", at("Leeds Briggate"))),
    ],
  },
  "a location that recovers": { firing: [{ ...location(0, 4), ...told }], resolved: back },
  "a location partly back": { resolved: [over(location(1, 4))] },
  "a location of which some recovered": { resolved: [change(6, 2, 8)] },
  "recordings that a location leaves": {
    reason: "more",
    firing: tills.map((till) => ({ ...till, ...told, isCovered: true as const })),
    resolved: [change(2, 1, 3), endedOf("Door", { isCovered: true })],
  },
  "recordings that a location leaves, not all with alerts": {
    reason: "more",
    firing: [alertOf("Till 3"), alertOf("Till 4", { ...told, isCovered: true })],
    resolved: [change(7, 2, 8)],
  },
  "counts of a location": {
    firing: [otherAlert("location", "1", { alertname: "X", ...at(1) }, facts({ problem: "counts_low" }))],
  },
  "what a location covers": covering({ recordings: 4, locations: 0, names: ["Door", "Entrance", "Tills", "Yard"] }),
  "more than is named": covering({ recordings: 1_200, locations: 3, names: ["Door", "\u200b", ""] }),
  "locations covered": covering({ recordings: 0, locations: 2, names: ["Leeds"] }),
  "fewer alerts than offline": {
    firing: [
      {
        ...location(4, 4, { offlineNames: ["Door", "Tills"] }),
        standsFor: { recordings: 1, locations: 0, names: ["Door"] },
      },
    ],
  },
  "a camera server": { firing: [server(38, { isAlone: true, locationNames: ["Leeds", "York", "Bath"] })] },
  "a part of a camera server": { firing: [server(7, { locations: 2, locationNames: ["Leeds", "York"] })] },
  "two camera servers": { firing: [server(38), server(38, {}, "edge-8")] },
  "a camera server partly back": { resolved: [over(server(7))] },
  service: { firing: [{ ...service, standsFor: { recordings: 4, locations: 0, names: [] } }] },
  "the service still": { reason: "reminder", firing: [{ ...service, ...told }] },
  "the service in part": { firing: [partly] },
  "the service is back": { resolved: [over(service, { isNew: true })] },
  notifications: { firing: [failing] },
  "notifications again": { resolved: [over(failing)] },
  "a rule of another name": { firing: [alertOf("A", named("CameraDown"))] },
  "that rule twice": {
    reason: "reminder",
    firing: ["A", "B"].map((name) => alertOf(name, { ...told, ...named("CameraDown") })),
  },
  "a known problem under another name": {
    firing: [alertOf("A", { ...named("CameraDown"), ...facts({ problem: "offline" }) })],
  },
  flapping: { firing: [flapping("Till 3")] },
  "still flapping": { reason: "reminder", firing: [{ ...flapping("Till 3"), ...told, startsAt: NOW - 240 * MINUTE }] },
  "steady and online": { resolved: [steady("Till 3", "online")] },
  "steady and offline": { resolved: [steady("Till 3", "offline")] },
  "several steady": { resolved: [steady("Till 3", "online"), steady("Till 4", "offline"), steady("Till 5", "online")] },
  "steady after an outage": { resolved: [endedOf("Till 3"), steady("Till 3", "online")] },
  "worse after an outage": { resolved: [endedOf("Till 3"), steady("Till 3", "degraded")] },
  "steady and offline still": { firing: [alertOf("Till 3", told)], resolved: [steady("Till 3", "offline")] },
  "flapping, no longer watched": { resolved: [steady("Till 3", "online", { endReason: "no_longer_watched" })] },
  external: {
    firing: [
      {
        ...disk,
        annotations: { summary: "2 % left", runbook_url: "https://wiki/disk" },
        facts: { timezone: "UTC", generatorUrl: "https://p.example/g?e=a<b" },
      },
    ],
  },
  "two external": { firing: [disk, external({ alertname: "DiskFull", severity: "critical" })] },
  "external, named as a default rule": {
    firing: [external({ alertname: "LocationOffline", location_id: "l" }), alertOf("Till 3")],
  },
  "external without a name": { firing: [external({ job: "x" })] },
  "external recovered": { resolved: [over(disk)] },
  "external expired": { resolved: [over(disk, { endReason: "expired" })] },
  "a storm": {
    groups: 50,
    firing: [location(20, 20, {}, 3), location(11, 30, {}, 40), ...cameras(30, (shop) => (shop === 7 ? 9 : 2))],
  },
  "a storm of single recordings": { groups: 50, firing: cameras(25, () => 1) },
  "the end of a storm": {
    groups: 50,
    resolved: [...cameras(9, () => 20, endedOf), ...cameras(12, (shop) => (shop < 11 ? 0 : 1), endedOf)],
  },
  "a storm that moves": { groups: 50, firing: cameras(15, () => 2), resolved: cameras(25, () => 4, endedOf) },
  "the end of locations": {
    groups: 12,
    resolved: [0, 1, 2].map((i) => ({ ...over(location(0, 20, {}, i)), change: { recovered: 20, of: 20 } })),
  },
  "camera servers among locations": {
    groups: 20,
    firing: [server(38), server(4, {}, "edge-8"), ...cameras(26, () => 1)],
  },
  "a start, nothing fires": started({}),
  "a first start": started(first),
  "a first start, one fires": started(first, [alertOf("Till 0")]),
  "a start, nothing is read": started({ complete: false, recordings: 0, locations: 0 }),
  "a start, not all is read": started({ complete: false, unsettled: 3 }),
  "a start, some is pending": started({ unsettled: 3 }),
  "a start, all is suppressed": started({ suppressed: 1 }),
  "a start, one fires": started({}, [alertOf("Till 0")]),
  "a start with a whole location": started({}, [
    location(5, 5),
    ...[1, 2].map((i) => alertOf(`T${i}`, named("RecordingOffline", at("Leeds Briggate")))),
  ]),
  "a start with many": started(
    { complete: false, unsettled: 1, suppressed: 2 },
    cameras(12, () => 2),
  ),
};

const written = (changes: Partial<Notification>) => {
  const message = messageOf(notificationOf({ externalUrl: undefined, ...changes }), 50);
  return [message.title, plainText(message)].filter((part) => part !== "").join("\n\n");
};
const message = (changes: Partial<Notification>) => messageOf(notificationOf(changes), 50);

it("reads as in renders/messages.txt", async () => {
  const all = Object.entries(SCENES).map(([name, changes]) => `=== ${name}\n${written(changes)}\n`);
  await expect(all.join("\n")).toMatchFileSnapshot("renders/messages.txt");
});

describe("a message", () => {
  it.each(["no_longer_watched", "not_sent_here", "rule_removed", "expired"] as const)(
    "never states that an alert that ended as %s has recovered",
    (endReason) => {
      for (const isNew of [true, false]) {
        const { title, tone, sections } = message({ resolved: [endedOf("A", { endReason, isNew })] });
        expect(JSON.stringify([title, tone, sections])).not.toMatch(/recover|back\b|good again/i);
      }
    },
  );

  it.each<[string, Partial<Notification>]>([
    ["critical", { firing: [alertOf("A", LOW_QUALITY), alertOf("B")] }],
    ["warning", { firing: [alertOf("A", LOW_QUALITY)] }],
    ["info", { firing: [alertOf("A", named("RecordingOffline", { severity: "" }))] }],
    ["critical", { firing: [alertOf("A")], resolved: [endedOf("B")] }],
    ["good", { resolved: [endedOf("A")] }],
    ["good", { resolved: [endedOf("Till 3"), steady("Till 3", "online")] }],
    ["unknown", { resolved: [steady("Till 3", "degraded")] }],
    ["unknown", { resolved: [endedOf("A"), endedOf("B", { endReason: "no_longer_watched" })] }],
    ["unknown", { resolved: [over(location(1, 4))] }],
    ["info", { reason: "test", firing: [alertOf("A")] }],
    ["info", started({})],
  ])("has the tone %s", (tone, changes) => {
    expect(message(changes).tone).toBe(tone);
  });

  it.each([
    ["🔴 A offline", "critical"],
    ["🟠 A offline", "warning"],
    ["🔵 A offline", "none"],
    ["🔴 page: A offline", "page"],
    ["🔵 sev2: A offline", "sev2"],
  ])("begins with %s for the severity %j", (begin, severity) => {
    expect(message({ firing: [alertOf("A", named("RecordingOffline", { severity }))] }).title).toBe(
      `${begin} · Leeds Briggate`,
    );
  });

  it.each([
    ["Leeds Briggate Entrance", "Entrance"],
    ["LEEDS BRIGGATE – Till 3", "Till 3"],
    ["Leeds Briggate", "Leeds Briggate"],
    ["Leeds Briggates", "Leeds Briggates"],
    ["Leeds Briggate \u200b", "Leeds Briggate"],
    ["North Leeds Briggate", "North Leeds Briggate"],
  ])("calls %j %j beside the name of its location", (recording, short) => {
    const { sections } = message({
      firing: [alertOf("x", named("RecordingOffline", { recording })), alertOf("Till 4")],
    });
    expect(sections[0]?.rows[0]?.name).toBe(short);
  });

  it("carries annotations, zones and links, and no summary that only repeats the line", () => {
    const annotations = {
      summary: "A at Leeds Briggate is offline",
      description: "Somebody pulled a plug.",
      zones: "Entrance, Ground:Tills",
      impact: "about 120 entries on a Friday",
      runbook_url: "https://wiki.example.com/a|b",
    };
    const restated = alertOf("A", { annotations, ...facts({ problem: "offline", restated: ["summary"] }) });
    const rowOf = (changes: Partial<Notification>) => message(changes).sections[0]?.rows[0];
    const { notes, links } = rowOf({ firing: [restated] }) ?? { notes: [], links: [] };
    expect(notes).toEqual([
      "Somebody pulled a plug.",
      "Zones Entrance, Ground › Tills",
      "Impact: about 120 entries on a Friday",
    ]);
    expect(links.map(({ label, url }) => [label, url.split("?")[0]])).toEqual([
      ["Acknowledge", "https://lenswatch.example.com/alerts/0123456789abcdef"],
      ["Silence", "https://lenswatch.example.com/silences/new"],
      ["Status", "https://lenswatch.example.com/recordings/410000000000000000000000"],
      ["Runbook", "https://wiki.example.com/a%7Cb"],
    ]);
    expect(new URL(links[1]?.url ?? "").searchParams.get("matchers")).toBe(
      'alertname="RecordingOffline", recording_id="410000000000000000000000"',
    );
    expect(rowOf({ firing: [server(38)] })?.links).toContainEqual({
      label: "Status",
      url: "https://lenswatch.example.com/?q=edge-7",
    });
    const ids = alertOf("A", {
      annotations: { summary: "Call Bob", description: "Camera server 93c2.", zones: "Till" },
    });
    expect(rowOf({ firing: [ids] })?.notes).toEqual(["Call Bob", "Zone Till", "Camera server 93c2."]);
  });

  it.each(["javascript:alert(1)", "data:text/html,x", "//evil.example", "not a URL", "https://x|<!channel>"])(
    "has no live link to %s, and none where no address is configured",
    (url) => {
      const firing = [
        alertOf("A", { annotations: { runbook_url: url }, facts: { timezone: "UTC", generatorUrl: url } }),
      ];
      const { sections, actions } = message({ firing, externalUrl: undefined });
      const urls = sections[0]?.rows[0]?.links.map((link) => link.url) ?? [];
      expect(urls.filter((one) => !/^https?:\/\/[^<>|\s]+$/.test(one))).toEqual([]);
      expect(actions).toEqual([]);
    },
  );

  it("says what is known of the location and of earlier outages, once", () => {
    const impact = {
      here: { online: 3, of: 4 },
      uncounted: { estimate: 94, low: 80.2, high: 111 },
      worth: { valuePerVisit: 12.5, currency: "EUR" },
      outages: 2,
      usual: "the location usually counts 1 entry",
    };
    const door = alertOf("Leeds Briggate Entrance", {
      annotations: { zones: "Ground:Main Door", impact: impact.usual },
      impact,
    });
    const known = "3 of 4 recordings here still online · about 95 visits uncounted so far (80–110), about 1,200 EUR";
    expect(written({ firing: [door] })).toBe(
      `🔴 Entrance offline · Leeds Briggate\n\nSince 14:05 GMT (12 m) · ${known}\nZone Ground › Main Door · 2nd outage in 7 days`,
    );
    const less = { ...impact, uncounted: { estimate: 60, low: 50, high: 70 } };
    const both = message({ firing: [alertOf("Tills", { impact: less }), door] });
    expect(both.notes).toEqual([known]);
    expect(both.sections[0]?.rows.map(({ text }) => text).join()).not.toContain("online");
    const one = { here: { online: 0, of: 1 }, outages: 12 };
    expect(written({ firing: [alertOf("Entrance", { impact: one })] })).toMatch(/\(12 m\)\n12th outage in 7 days$/);
  });

  it("says at the end what was not counted, once for each location", () => {
    const cost = (estimate: number) => ({
      impact: { uncounted: { estimate, low: estimate * 0.9, high: estimate * 1.2 } },
    });
    const costs = (...resolved: NotifiedAlert[]) =>
      message({ resolved }).sections[0]?.rows.map(({ text }) => /about.*uncounted/.exec(text)?.[0]);
    expect(costs(endedOf("Till 3", cost(310)))).toEqual(["about 310 visits uncounted"]);
    const all = [endedOf("Till 3", cost(40)), endedOf("Door", cost(310)), endedOf("Door", { ...inYork, ...cost(20) })];
    expect(costs(...all)).toEqual([undefined, "about 310 visits uncounted", "about 20 visits uncounted"]);
  });

  it("has notes that all recordings of one location share below the list, and else with each", () => {
    const impact = "the location usually counts 970 entries on a Friday";
    const dark = (name: string, zones: string, more: Changes = {}) =>
      alertOf(name, { annotations: { description: "Camera server 7.", zones, impact }, ...more });
    const here = message({ firing: [dark("A", "Ground"), dark("B", "First", told), dark("C", "Second")] });
    expect(here.notes).toEqual([`Impact: ${impact}`, "Camera server 7."]);
    expect(here.sections.flatMap(({ rows }) => rows.map(({ notes }) => notes))).toEqual([
      ["Zone Ground"],
      ["Zone Second"],
      ["Zone First"],
    ]);
    for (const firing of [[dark("A", "x")], [dark("A", "x"), dark("B", "y", inYork)]]) {
      const { notes, sections } = message({ firing });
      expect(notes).toEqual([]);
      for (const row of sections[0]?.rows ?? []) expect(row.notes).toContain(`Impact: ${impact}`);
    }
  });

  it("tells what explains its alerts", () => {
    const cause = { label: "camera_server", value: "edge-7", affected: 4, known: 4, isAlone: true };
    const [first] = message({ firing: tills, causes: [cause] }).lead;
    expect(first?.toLowerCase()).toBe(`${causePhrase(cause)}.`);
  });
});

describe("a storm", () => {
  it("names the eight locations with most recordings, and counts the others", () => {
    const { sections } = message({ groups: 50, firing: cameras(1_000, (shop) => (shop < 8 ? 20 : 1)) });
    expect(sections).toMatchObject([{ total: 1_000, unit: "location" }]);
    expect(sections[0]?.rows.map(({ name }) => name)).toEqual(Array.from({ length: 8 }, (_, i) => `Shop ${i}`));
  });

  it("counts what camera servers and locations have in common once, and names it once", () => {
    const serverOf = (site: number, i: number) => `edge-${(site * 2 + (i % 2)) % 12}`;
    const locations = Array.from({ length: 30 }, (_, site) => {
      const servers = { [serverOf(site, 0)]: 4, [serverOf(site, 1)]: 4 };
      return location(8, 8, { servers }, site);
    });
    const onServer = (name: string) => locations.reduce((sum, one) => sum + (one.facts.servers?.[name] ?? 0), 0);
    const groups = Array.from({ length: 12 }, (_, i) => server(onServer(`edge-${i}`), { of: 20 }, `edge-${i}`));
    for (const many of [undefined, 50]) {
      const { title, sections } = message({ groups: many, firing: [...groups, ...locations] });
      expect(title).toBe("🔴 240 recordings offline at 30 locations");
      expect(sections).toMatchObject([{ total: 30, unit: "location" }]);
    }
    expect(phraseOf([...groups, ...locations])).toBe("240 recordings offline at 30 locations");
  });

  it("counts recordings of overlapping groups once, and says at least where it is not known what they share", () => {
    const on = (name: string, camera_server: string) =>
      alertOf(name, named("RecordingOffline", { camera_server, ...at(name) }));
    const partly = [server(38), on("A", "edge-7"), on("B", "edge-7"), on("C", "edge-8")];
    expect(message({ firing: partly }).title).toBe("🔴 39 recordings offline at 5 or more locations");
    const acme = { camera_server: "edge-7", organisation: "acme" };
    const overlapping = [
      { ...server(38), labels: acme },
      {
        ...server(38, { problem: "organisation_offline" }),
        subject: { kind: "group", id: "organisation/acme" } as const,
        labels: acme,
      },
      {
        ...location(12, 12, { servers: { "edge-8": 7, "edge-9": 5 } }, "S"),
        labels: { ...at("S"), organisation: "other" },
      },
      { ...server(5, {}, "edge-9"), labels: { camera_server: "edge-9", ...at("S") } },
    ];
    expect(message({ firing: overlapping }).title).toMatch(/50 recordings offline at 6 locations$/);
  });
});
