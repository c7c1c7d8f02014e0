import { describe, expect, test } from "vitest";
import { fingerprint } from "../../../src/alerting/fingerprint.ts";
import type { Alert } from "../../../src/health/alert.ts";
import type { Evidence } from "../../../src/health/evidence.ts";
import { fleetOf, largeFleet, NOW, recordingState } from "../../metrics/fleets.ts";
import { aRecording } from "../../support/fixtures.ts";
import { serve } from "../serve.ts";
import { active, alertOf, locationOffline, pageOf, smallFleet, unreachable } from "./fleet.ts";
import { linksOf } from "./read-page.ts";

const MINUTE = 60_000;
const twoOnline = fleetOf({ recordings: [recordingState("a"), recordingState("b")] });
const stale = (...minutes: number[]) =>
  fleetOf({ recordings: minutes.map((ago, i) => recordingState(`r${i}`, { readAt: NOW - ago * MINUTE })) });
const late = (evidence: Partial<Evidence>) => ({
  ...twoOnline,
  evidence: {
    ...{ state: "partly" as const, known: 2, unread: 0, late: 0, isRare: false, unstored: 0, neverRead: 0 },
    ...{ oldestAt: NOW, causes: [], ...evidence },
  },
});
const cause = (kind: "internal" | "late") => ({ kind, attempts: [], error: undefined });
const low = alertOf("LowQuality", {
  subject: { kind: "recording", id: "shoes" },
  labels: { alertname: "LowQuality", severity: "warning", recording: "Shoes", location_id: "york", location: "York" },
  startsAt: NOW - 26 * 60 * MINUTE,
  facts: { timezone: "Europe/London", problem: "low_quality", averageQuality: 0.6199 },
});
const places = ["leeds", "york", "bath"];
const outage = places.map((id) => locationOffline(id, { startsAt: NOW - 90 * MINUTE }));
const failing = (startsAt: number) =>
  alertOf("NotificationsFailing", {
    subject: { kind: "integration", id: "ops/slack/0" },
    facts: { timezone: "UTC", problem: "notifications_failing", detail: "Slack refused the webhook." },
    startsAt,
  });

describe("the headline", () => {
  const rows: [string, typeof smallFleet, Alert[], string, string[]][] = [
    [
      "what needs somebody",
      smallFleet,
      [low, alertOf("RecordingOffline")],
      "2 need attention: 1 recording offline, 1 recording with low quality.",
      ["Unknown: no good reading for 1 m 30 s or longer. They may be offline."],
    ],
    ["that all is well", twoOnline, [], "All 2 recordings are online, nothing needs attention.", []],
    [
      "statuses that no alert is about",
      smallFleet,
      [],
      "Nothing needs attention; 1 of 6 recordings is offline, 1 unknown, 1 degraded.",
      [],
    ],
    [
      "recordings that cannot be stored",
      late({ unstored: 44, neverRead: 1, causes: [cause("internal")] }),
      [],
      "All 2 recordings were online when last read.",
      [
        "44 other recordings are listed and were never read: they may be offline.",
        "lenswatch fails to evaluate some recordings, since 12:00 UTC (1 s).",
      ],
    ],
    [
      "locations that were never read",
      late({ neverRead: 1 }),
      [],
      "All 2 recordings were online when last read.",
      ["Recordings of some locations were never read: they may be offline."],
    ],
    [
      "readings that come too rarely",
      late({ late: 2, causes: [cause("late")] }),
      [],
      "All 2 recordings were online when last read.",
      ["Sweeps of recordings cannot keep their interval, since 12:00 UTC (1 s)."],
    ],
    [
      "that nothing was read since the start",
      late({ state: "unknown" }),
      [],
      "All 2 recordings were online when last read.",
      [],
    ],
    [
      "an alert where everything is online",
      twoOnline,
      [alertOf("LowUptime", { labels: { alertname: "LowUptime", location_id: "loc-1" } })],
      "1 needs attention: 1 recording offline since 11:48 GMT.",
      [],
    ],
    [
      "that the service is out of reach, and since when",
      stale(12, 12),
      [unreachable],
      "The status of all 2 recordings is unknown; 1 needs attention: 1 service unreachable since 11:48 UTC.",
      [
        "The analytics service cannot be reached, since 11:48 UTC (12 m).",
        "status/uptime timed out after 20 s. Details",
      ],
    ],
    ["that nothing is known", fleetOf({ locations: [] }), [], "No recording is known yet.", []],
    [
      "that nothing was read",
      fleetOf({ recordings: [recordingState("a", { status: undefined, readAt: 0 })] }),
      [],
      "The status of the one recording is unknown.",
      ["Unknown: no good reading for 1 m 30 s or longer. They may be offline."],
    ],
    ...[
      ["older than the largest outage", NOW - 210 * MINUTE, "1 older"] as const,
      ["as old as it", NOW - 90 * MINUTE, "1 other"] as const,
      ["newer than it", NOW - 30 * MINUTE, "1 newer"] as const,
    ].map(([name, at, words]): (typeof rows)[number] => [
      `what is ${name}`,
      smallFleet,
      [failing(at), ...outage],
      `4 need attention: 3 locations offline since 10:30 GMT, ${words}.`,
      ["Notifications failing · ops/slack/0 Slack refused the webhook."].slice(1),
    ]),
  ];
  test.each(rows)("says %s", async (_, fleet, alerts, heading, asides) => {
    const page = await pageOf("/", { fleet: async () => fleet, alerts: active(...alerts) });
    expect(page.heading).toBe(heading);
    expect(page.title.replace("! Old data · ", "")).toMatch(/^[✕▲?i✓] /);
    expect(page.title).toContain(` ${heading.slice(0, -1)} · lenswatch`);
    expect(page.shown).toEqual(expect.arrayContaining(asides));
  });

  test.each([
    [twoOnline, "good"],
    [smallFleet, "unknown"],
    [stale(1, 12), "unknown"],
    [late({ neverRead: 1 }), "unknown"],
    [stale(12), "critical"],
  ])("of %# has its tone", async (fleet, tone) => {
    expect((await pageOf("/", { fleet: async () => fleet })).html).toContain(`class="lead ${tone}"`);
  });
});

describe("the board", () => {
  test("leaves out alerts that ended and are only owed to somebody", async () => {
    const ended = alertOf("RecordingOffline", { state: "resolved", endsAt: NOW });
    expect((await pageOf("/", { alerts: active(ended) })).html).not.toMatch(/RecordingOffline|class="board"/);
  });

  test("shows an alert from outside, which speaks of no recording", async () => {
    const external = alertOf("DiskFull", {
      subject: { kind: "external", id: "0123456789abcdef" },
      labels: { alertname: "DiskFull", severity: "critical", instance: "nas" },
      annotations: { summary: "2 % left" },
      facts: { timezone: "UTC" },
    });
    expect((await pageOf("/", { alerts: active(external) })).shown).toContain("DiskFull · nas 2 % left");
  });

  test("folds away what is handled or suppressed by another alert, and counts it apart", async () => {
    const own = ["a", "b"].map((id) => alertOf("RecordingOffline", { subject: { kind: "recording", id } }));
    const alerts = async () => [
      { alert: locationOffline("leeds"), receivers: ["ops"] },
      ...own.map((alert) => ({ alert, receivers: ["ops"], inhibitedBy: ["0011"] })),
      { alert: alertOf("LowUptime"), receivers: ["ops"], silencedBy: ["s1"] },
      { alert: alertOf("LowQuality"), receivers: ["ops"], acknowledgement: { author: "dana", comment: "", at: NOW } },
    ];
    const { heading, shown, html, links } = await pageOf("/", { alerts });
    expect(heading).toBe("1 needs attention: 1 location offline since 11:48 GMT.");
    const handled = shown.indexOf("1 acknowledged, 1 silenced, 2 suppressed by another alert");
    expect(shown.indexOf("Location offline, 2 of 2 · leeds")).toBeLessThan(handled);
    expect(html).toMatch(/<details id="handled" class="handled"><summary>/);
    expect([links.get("the other alert"), links.get("All 5 active alerts")]).toEqual([
      "./alerts/0011",
      "./incidents?days=1",
    ]);
  });

  const at = (id: string) =>
    alertOf("RecordingOffline", {
      subject: { kind: "recording", id },
      labels: { alertname: "RecordingOffline", location_id: id, location: id, camera_server: "cs-1" },
    });
  test.each([
    ["what explains it", "online", "all 3 recordings of camera server cs-1, no other"],
    ["that others are offline", "offline", "all 3 recordings of camera server cs-1"],
  ] as const)("says what an incident shares and where it is: %s", async (_, other, words) => {
    const recordings = [...places, "oslo"].map((id) =>
      recordingState(id, { locationId: id, status: id === "oslo" ? other : "offline" }),
    );
    const recording = (id: string) => aRecording(id, { cameraServer: id === "oslo" ? "cs-2" : "cs-1" });
    const fleet = { ...fleetOf({ recordings }), inventory: { recording, location: () => undefined } };
    const alerts = active(...places.map(at));
    const { shown } = await pageOf("/", { fleet: async () => fleet, alerts });
    expect(shown).toContainEqual(
      expect.stringMatching(
        new RegExp(`^since 11:48 GMT \\(12 m\\) · I-\\w{5} · ${words} · \\w+, \\w+ and 1 more location`),
      ),
    );
  });
});

test("while the service does not answer, what fires is as last known, with who has it", async () => {
  const camera = (id: string, status: "offline" | "online") =>
    recordingState(id, { locationId: id, status, readAt: NOW - 12 * MINUTE });
  const fleet = fleetOf({
    recordings: [camera("leeds", "offline"), camera("york", "offline"), camera("bath", "online")],
  });
  const at = (id: string) =>
    alertOf("RecordingOffline", {
      subject: { kind: "recording", id },
      labels: { alertname: "RecordingOffline", severity: "critical", location_id: id, location: id },
    });
  const inhibitedBy = [fingerprint(unreachable.labels)];
  const alerts = async () => [
    { alert: unreachable, receivers: ["ops"] },
    { alert: at("leeds"), receivers: ["ops"], inhibitedBy },
    { alert: at("york"), receivers: ["ops"], inhibitedBy, acknowledgement: { author: "amy", comment: "", at: NOW } },
  ];
  const { html, shown } = await pageOf("/", { fleet: async () => fleet, alerts });
  const tiles = [...html.matchAll(/<div class="([\w ]+)" role="group"[^>]*>\s*<a href="\?l=(\w+)">/g)];
  expect(tiles.map(([, classes, id]) => `${id}: ${classes}`)).toEqual([
    "leeds: critical last",
    "york: info last",
    "bath: good last",
  ]);
  const [unread, handled] = [
    shown.indexOf("Last known"),
    shown.indexOf("1 acknowledged, 1 suppressed by another alert"),
  ];
  expect(shown.slice(unread, handled).join()).toContain("since 11:48 GMT (12 m) · last known");
  expect(shown.slice(handled).join()).toContain("· last known · acknowledged by amy");
  expect(html.match(/<li class="critical last">/g)).toHaveLength(1);
  expect(html.match(/<li class="info last">/g)).toHaveLength(1);
});

test("every location is a tile, grouped by its tone, the worst first", async () => {
  const alert = alertOf("LowUptime", { labels: { alertname: "LowUptime", severity: "warning", location_id: "bath" } });
  const { html } = await pageOf("/", { alerts: active(alert) });
  const groups = html.matchAll(/<div class="([\w ]+)" role="group" aria-label="([^"]*)">\s*<a href="\?l=(\w+)">/g);
  expect([...groups].map(([, ...group]) => group.join(": "))).toEqual([
    "warning: 1 location with a warning: bath",
    "info last: 1 location not all online, needing nobody, last known: york",
    "info: 1 location not all online, needing nobody: leeds",
  ]);
});

describe("the list of locations", () => {
  test.each([
    ["q=&only=&sort=worst", "york leeds bath"],
    ["sort=name", "bath leeds york"],
    ["sort=alerts", "york bath leeds"],
    ["only=unknown", "york"],
    ["only=online", "bath"],
    ["only=alerts", "york"],
    ["q=LEEDS", "leeds"],
  ])("is filtered and sorted by %j", async (query, expected) => {
    const { html } = await pageOf(`/?show=locations&${query}`, { alerts: active(low) });
    const rows = [...html.matchAll(/role="rowheader"><a href="\.\/\?location=(\w+)"/g)];
    expect(rows.map(([, id]) => id).join(" ")).toBe(expected);
  });

  test("does not call it well while nothing is known", async () => {
    const { shown, html } = await pageOf("/?show=locations", { fleet: async () => stale(12) });
    expect(shown.join()).toContain("? 1 unknown");
    expect(html).not.toContain('class="s good"');
    expect(shown.join()).toContain("✓ 1 was online");
  });
});

describe("10,000 recordings in trouble", () => {
  const fleet = largeFleet(10_000);
  const alerts = Array.from({ length: 5_000 }, (_, i) =>
    alertOf("RecordingOffline", { id: `a${i}`, subject: { kind: "recording", id: `r${i}` }, startsAt: NOW - i }),
  );
  const deps = { fleet: async () => fleet, alerts: active(...alerts) };
  const states = fleet.shards.flatMap(({ recordings }) => [...recordings.values()]);
  const count = (of: typeof states) => new Set(of.map(({ locationId }) => locationId)).size;
  const grouped = (n: number) => n.toLocaleString("en-GB");

  test.each([
    ["/", 60_000],
    ["/?show=locations", 60_000],
    ["/?q=camera", 150_000],
  ])("make %s no longer than %i characters, and few bytes on the way", async (path, most) => {
    const { get } = await serve(deps);
    const response = await get(path, { "accept-encoding": "gzip" });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(Number(response.headers.get("content-length"))).toBeLessThan(16_000);
    const html = await response.text();
    expect(html.length).toBeLessThan(most);
    expect(html.length).toBeGreaterThan(10_000);
  });

  test("are counted, and their tiles lead to their locations by short links", async () => {
    const { heading, shown, html } = await pageOf("/", deps);
    expect(heading).toBe("5,000 need attention: 5,000 recordings offline since 11:59 GMT.");
    expect(shown).toContain(
      `${grouped(count(states) - 1_000)} more are not shown. All ${grouped(count(states))} locations`,
    );
    expect(shown).toContain("✕ 200 offline ✓ 9,800 online of 10,000 recordings");
    const troubled = count(states.filter(({ status }) => status === "offline"));
    expect(html).toContain(`aria-label="${troubled} locations not all online, needing nobody"`);
    expect(html.match(/<a href="\?l=/g)).toHaveLength(1_000);
    const tile = /href="(\?l=\w+)">(Shop \w+)/.exec(html);
    expect((await pageOf(`/${tile?.[1]}`, deps)).heading.startsWith(tile?.[2]?.slice(0, 20) ?? "-")).toBe(true);
  });
});

const large = largeFleet(1_500);
const largePlaces = new Set(
  large.shards.flatMap(({ recordings }) => [...recordings.values()].map((r) => r.locationId)),
);
test.each([
  ["/?show=locations", /role="rowheader"><a href="\.\/\?location=(\w+)"/g, largePlaces.size],
  ["/?q=camera+1", /<th scope="row" role="rowheader"><a href="\.\/recordings\/(\w+)"/g, undefined],
  ["/", /<a href="\.\/alerts\/(\w+)">Low/g, 300],
])("all of 1,500 recordings are found by following the links of %s, each once", async (start, row, total) => {
  const alone = Array.from({ length: 300 }, (_, i) =>
    alertOf("LowUptime", {
      ...{ id: `a${i}`, startsAt: NOW - i * 60 * MINUTE, facts: { timezone: "UTC", problem: "low_uptime" } },
      labels: { alertname: "LowUptime", location_id: `l${i}` },
    }),
  );
  const { get } = await serve({ fleet: async () => large, alerts: active(...alone) });
  const seen: string[] = [];
  let announced = "";
  let link: string | undefined = start;
  while (link !== undefined) {
    const html: string = await (await get(`/${link.replace(/^\.?\//, "")}`)).text();
    const before = seen.length;
    seen.push(...[...html.matchAll(row)].map(([, id = ""]) => id));
    const range = new RegExp(`>${before + 1}–${seen.length} of ([\\d,]+) `).exec(html.replace(/(\d),(\d)/g, "$1$2"));
    announced = range?.[1] ?? announced;
    link = [...linksOf(html)].find(([words]) => /^[\d,]+ more (?:loc|rec|ent)/.test(words))?.[1];
  }
  expect(announced).toBe(String(seen.length));
  expect(seen.length).toBe(total ?? seen.length);
  expect(seen.length).toBeGreaterThan(250);
  expect(new Set(seen).size).toBe(seen.length);
});
