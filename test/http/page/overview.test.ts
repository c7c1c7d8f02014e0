import { describe, expect, test } from "vitest";
import type { Alert } from "../../../src/health/alert.ts";
import type { Evidence } from "../../../src/health/evidence.ts";
import { fleetOf, largeFleet, NOW, recordingState } from "../../metrics/fleets.ts";
import { aRecording } from "../../support/fixtures.ts";
import { serve } from "../serve.ts";
import { active, alertOf, smallFleet, unreachable } from "./fleet.ts";
import { elementOf, linksOf, shownText } from "./read-page.ts";

const MINUTE = 60_000;

const READ_ONLY = "Read-only: no http.admin_token is configured, so nothing can be acknowledged or silenced here.";

async function page(path: string, deps: Parameters<typeof serve>[0] = {}) {
  const { get } = await serve(deps);
  const response = await get(path);
  return { response, html: await response.text() };
}

describe("GET /", () => {
  test("shows an alert from outside, which speaks of no recording, as text", async () => {
    const external = alertOf("DiskFull", {
      subject: { kind: "external", id: "0123456789abcdef" },
      labels: { alertname: "DiskFull", severity: "critical", instance: "<b>nas</b>" },
      annotations: { summary: "2 % <i>left</i>" },
      facts: { timezone: "UTC" },
    });
    const { response, html } = await page("/", { fleet: async () => smallFleet, alerts: active(external) });
    expect(response.status).toBe(200);
    expect(shownText(html)).toContain("DiskFull · <b>nas</b> 2 % <i>left</i>");
  });

  test("says how it is, what fires, and where the trouble is", async () => {
    const lowQuality = alertOf("LensDirty", {
      subject: { kind: "recording", id: "shoes" },
      labels: {
        alertname: "LensDirty",
        severity: "warning",
        recording: "Shoes",
        location_id: "york",
        location: "York",
      },
      startsAt: NOW - 26 * 60 * MINUTE,
      facts: { timezone: "Europe/London", problem: "low_quality", averageQuality: 0.6199 },
    });
    const alerts = active(lowQuality, alertOf("RecordingOffline"));
    const { response, html } = await page("/", { fleet: async () => smallFleet, alerts });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(shownText(html)).toEqual([
      "To the content",
      "lenswatch Locations Alerts Incidents Silences Search",
      "2 need attention: 1 recording offline, 1 recording with low quality.",
      "✕ 1 offline ? 1 unknown ▲ 1 degraded ✓ 3 online of 6 recordings",
      "Unknown: no good reading for 1 m 30 s or longer. They may be offline.",
      "Needs attention",
      "critical",
      "Offline · Till 3 Leeds Briggate",
      "since 11:48 GMT (12 m)",
      "warning",
      "Low quality, 61.9 % · Shoes York",
      "since Fri 30 Jan 10:00 GMT (1 d 2 h)",
      "Locations",
      "Leeds Briggate",
      "York",
      "Bath",
      "All 3 locations",
      "State at 2026-01-31 12:00:00 UTC. Refreshes every 30 s. Pause updates",
      READ_ONLY,
    ]);
    expect(elementOf(html, "title")).toBe(
      "2 need attention: 1 recording offline, 1 recording with low quality · lenswatch",
    );
    expect(Object.fromEntries(linksOf(html))).toMatchObject({
      "Till 3": "./recordings/till-3",
      "Leeds Briggate": "?l=leeds",
      "Pause updates": "?refresh=off",
    });
  });

  test("says that all is well in a line", async () => {
    const fleet = fleetOf({ recordings: [recordingState("a"), recordingState("b")] });
    const { html } = await page("/", { fleet: async () => fleet });
    expect(elementOf(html, "h1")).toBe("All 2 recordings are online, nothing needs attention.");
    expect(elementOf(html, "title")).toBe("All online · lenswatch");
    expect(shownText(html)).toContain("✓ 2 online of 2 recordings");
    expect(html).not.toContain('class="board"');
  });

  const evidenceWith = (differing: Partial<Evidence>): Evidence => ({
    ...{ state: "partly", known: 2, unread: 0, late: 0, isRare: false, unstored: 0, neverRead: 0, oldestAt: NOW },
    causes: [],
    ...differing,
  });
  test.each<[string, Partial<Evidence>, string[]]>([
    [
      "recordings that lenswatch cannot store",
      { unstored: 44, neverRead: 1, causes: [{ kind: "internal", attempts: [], error: undefined }] },
      [
        "44 other recordings are listed and were never read: they may be offline.",
        "lenswatch fails to evaluate some recordings.",
      ],
    ],
    [
      "locations that were never read",
      { neverRead: 1 },
      ["Recordings of some locations were never read: they may be offline."],
    ],
    [
      "readings that come too rarely",
      { late: 2, causes: [{ kind: "late", attempts: [], error: undefined }] },
      ["Sweeps of recordings cannot keep their interval."],
    ],
    ["nothing that was read since the start", { state: "unknown" }, []],
  ])("does not say that all is well beside %s", async (_, differing, asides) => {
    const fleet = fleetOf({ recordings: [recordingState("a"), recordingState("b")] });
    const { html } = await page("/", { fleet: async () => ({ ...fleet, evidence: evidenceWith(differing) }) });
    expect(elementOf(html, "h1")).toBe("All 2 recordings were online when last read.");
    expect(elementOf(html, "title")).toBe("? Not all is read · lenswatch");
    expect(shownText(html)).toEqual(expect.arrayContaining(asides));
  });

  test("does not call it well when everything is online and something fires", async () => {
    const fleet = fleetOf({ recordings: [recordingState("a")], locations: [{ id: "loc-1", name: "Leeds" }] });
    const alerts = active(alertOf("LowUptime", { labels: { alertname: "LowUptime", location_id: "loc-1" } }));
    const { html } = await page("/", { fleet: async () => fleet, alerts });
    expect(elementOf(html, "h1")).toBe("1 needs attention: 1 recording offline since 11:48 GMT.");
    expect(elementOf(html, "title")).toBe("1 needs attention: 1 recording offline · lenswatch");
    expect(html).toContain('<div class="alerts" role="group" aria-label="1 location online with an alert">');
  });

  test("says that it is blind, and since when, whatever was known before", async () => {
    const recordings = ["a", "b"].map((id) => recordingState(id, { readAt: NOW - 12 * MINUTE }));
    const fleet = fleetOf({ recordings });
    const { html } = await page("/", { fleet: async () => fleet, alerts: active(unreachable) });
    expect(elementOf(html, "h1")).toBe(
      "The status of all 2 recordings is unknown; 1 needs attention: 1 service unreachable since 11:48 UTC.",
    );
    expect(elementOf(html, "title")).toBe("? All unknown, 2 recordings · lenswatch");
    expect(shownText(html)).toEqual(
      expect.arrayContaining([
        "The analytics service cannot be reached, since 11:48 UTC (12 m). status/uptime timed out after 20 s.",
        "The last good reading was 12 m ago: they may be offline.",
        "Service unreachable · the service status/uptime timed out after 20 s.",
        "? 2 unknown of 2 recordings",
      ]),
    );
    expect(html).not.toContain("online</span>");
  });

  test("says that the service is out of reach while the last readings are still fresh", async () => {
    const fleet = fleetOf({ recordings: [recordingState("a")] });
    const { html } = await page("/", { fleet: async () => fleet, alerts: active(unreachable) });
    expect(html).toContain('<div id="trouble" class="trouble" role="alert">');
    expect(html).toContain('class="lead bad"');
  });

  test("knows nothing before the first sweep, and does not call that fine", async () => {
    const none = await page("/", { fleet: async () => fleetOf({ locations: [] }) });
    expect(elementOf(none.html, "h1")).toBe("No recording is known yet.");
    expect(elementOf(none.html, "title")).toBe("? No recording known · lenswatch");
    const unread = recordingState("a", { status: undefined, readAt: 0 });
    const never = await page("/", { fleet: async () => fleetOf({ recordings: [unread] }) });
    expect(shownText(never.html)).toEqual(
      expect.arrayContaining([
        "The status of the one recording is unknown.",
        "There was no good reading of them yet: they may be offline.",
      ]),
    );
  });

  test("leaves out alerts that ended and are only owed to somebody", async () => {
    const ended = alertOf("RecordingOffline", { state: "resolved", endsAt: NOW });
    const { html } = await page("/", { fleet: async () => smallFleet, alerts: active(ended) });
    expect(html).not.toContain("RecordingOffline");
  });

  test("folds away what is handled or explained by another alert, and counts it apart", async () => {
    const location = alertOf("LocationOffline", {
      subject: { kind: "location", id: "leeds" },
      facts: { timezone: "Europe/London", problem: "location_offline", offline: 2, of: 2 },
    });
    const own = ["a", "b"].map((id) => alertOf("RecordingOffline", { subject: { kind: "recording", id } }));
    const alerts = async () => [
      { alert: location, receivers: ["ops"] },
      ...own.map((alert) => ({ alert, receivers: ["ops"], inhibitedBy: ["0011"] })),
      { alert: alertOf("LowUptime"), receivers: ["ops"], silencedBy: ["s1"] },
      { alert: alertOf("LowQuality"), receivers: ["ops"], acknowledgement: { author: "dana", comment: "", at: NOW } },
    ];
    const { html } = await page("/", { fleet: async () => smallFleet, alerts });
    expect(elementOf(html, "h1")).toBe("1 needs attention: 1 location offline since 11:48 GMT.");
    const shown = shownText(html);
    expect(shown).toContain("1 acknowledged, 1 silenced, 2 explained by another alert");
    expect(shown.indexOf("Location offline, 2 of 2 · Leeds Briggate")).toBeLessThan(shown.indexOf("Locations"));
    expect(html).toMatch(/<details id="handled" class="handled"><summary>/);
    expect(shown).toContain("All 5 active alerts");
    expect(html.match(/inhibited by another alert<\/bdi> · <a href="\.\/alerts\/0011">the other alert</g)).toHaveLength(
      2,
    );
    const all = shownText((await page("/?show=alerts", { fleet: async () => smallFleet, alerts })).html);
    const rows = all.filter((line) => line.includes(" | since 11:48 GMT | "));
    expect(rows.map((row) => /Unacknowledged/.test(row))).toEqual([true, false, false, false, false]);
  });

  test.each([
    ["one", ["acme", "acme"], "cs-1", "since 11:48 GMT (12 m) · camera server cs-1 · leeds, york and 1 more location"],
    ["several", ["acme", "other"], "", "since 11:48 GMT (12 m) · organisation acme · leeds, york and 1 more location"],
  ])("says where a cluster is, in a fleet of %s organisation", async (_, [own = "", other = ""], server, expected) => {
    const organisations = Object.entries({ leeds: own, york: own, bath: own, oslo: other });
    const recordings = organisations.map(([id]) => recordingState(id, { locationId: id }));
    const byId = new Map(organisations.map(([id, organisation]) => [id, aRecording(id, { organisation })]));
    const alerts = ["leeds", "york", "bath"].map((id) =>
      alertOf("RecordingOffline", {
        subject: { kind: "recording", id },
        labels: { alertname: "RecordingOffline", location_id: id, location: id, camera_server: server },
      }),
    );
    const fleet = async () => ({
      ...fleetOf({ recordings }),
      inventory: { recording: (id: string) => byId.get(id), location: () => undefined },
    });
    const { html } = await page("/", { fleet, alerts: active(...alerts) });
    expect(shownText(html)).toContain(expected);
  });

  test("says what explains a cluster, and that nothing else is offline where that is so", async () => {
    const server = (id: string) => (id === "oslo" ? "cs-2" : "cs-1");
    const places = ["leeds", "york", "bath", "oslo"];
    const fleetWith = (oslo: "online" | "offline") => async () => ({
      ...fleetOf({
        recordings: places.map((id) =>
          recordingState(id, { locationId: id, status: id === "oslo" ? oslo : "offline" }),
        ),
      }),
      inventory: { recording: (id: string) => aRecording(id, { cameraServer: server(id) }), location: () => undefined },
    });
    const alerts = places
      .slice(0, 3)
      .map((id) =>
        alertOf("RecordingOffline", {
          subject: { kind: "recording", id },
          labels: { alertname: "RecordingOffline", location_id: id, location: id, camera_server: "cs-1" },
        }),
      );
    const shown = async (oslo: "online" | "offline") =>
      shownText((await page("/", { fleet: fleetWith(oslo), alerts: active(...alerts) })).html).join("\n");
    expect(await shown("online")).toContain("(12 m) · all 3 recordings of camera server cs-1, no other · leeds");
    expect(await shown("offline")).toContain("(12 m) · all 3 recordings of camera server cs-1 · leeds");
  });

  test("is a display without navigation or buttons where it is asked for as a board", async () => {
    const down = ["leeds", "york", "bath"].map((id) =>
      alertOf("LocationOffline", {
        subject: { kind: "location", id },
        labels: { alertname: "LocationOffline", severity: "critical", location_id: id, location: id },
        facts: { timezone: "Europe/London", problem: "location_offline", offline: 2, of: 2, outside: 1 },
      }),
    );
    const one = alertOf("LowQuality", { startsAt: NOW - 9e6, facts: { timezone: "UTC", problem: "low_quality" } });
    const deps = { fleet: async () => smallFleet, alerts: active(one, ...down), adminToken: "boss-token" };
    const { html } = await page("/?view=board", deps);
    expect(html).toContain('<html lang="en" class="wall">');
    expect(html).toContain('<noscript><meta http-equiv="refresh" content="30"></noscript>');
    expect(shownText(html).slice(0, 3)).toEqual([
      "4 need attention: 3 locations offline since 11:48 GMT, 1 older.",
      "✕ 1 offline ? 1 unknown ▲ 1 degraded ✓ 3 online of 6 recordings",
      "Unknown: no good reading for 1 m 30 s or longer. They may be offline.",
    ]);
    expect(shownText(html)).toContain("Low quality · Till 3 Leeds Briggate");
    expect(html).not.toMatch(/<nav aria-label="Pages"|<button|<header/);
    const { html: alerts } = await page("/?show=alerts", deps);
    expect(alerts).toContain("2 of 3; 1 outside its schedule");
  });

  test.each([
    ["older", -2 * MINUTE * 60, "1 older"],
    ["as old", 0, "1 other"],
    ["newer", 60 * MINUTE, "1 newer"],
  ])("counts what is %s than the largest outage as that", async (_, laterMs, words) => {
    const startsAt = NOW - 90 * MINUTE;
    const down = ["leeds", "york", "bath"].map((id) =>
      alertOf("LocationOffline", {
        subject: { kind: "location", id },
        labels: { alertname: "LocationOffline", location_id: id, location: id },
        facts: { timezone: "Europe/London", problem: "location_offline", offline: 2, of: 2 },
        startsAt,
      }),
    );
    const one = alertOf("NotificationsFailing", {
      subject: { kind: "integration", id: "ops/slack/0" },
      facts: { timezone: "UTC", problem: "notifications_failing" },
      startsAt: startsAt + laterMs,
    });
    const { html } = await page("/", { fleet: async () => smallFleet, alerts: active(one, ...down) });
    expect(elementOf(html, "h1")).toMatch(
      new RegExp(`^4 need attention: 3 locations offline since \\S+ GMT, ${words}\\.$`),
    );
  });

  test("says on every page that its data is old, in the tab, in a banner and in the footer", async () => {
    const recordings = [recordingState("a", { readAt: NOW - 12 * MINUTE })];
    const sweptAt = NOW - 12 * MINUTE;
    const shards = [{ sweptAt, recordings: new Map(recordings.map((one) => [one.id, one])), locations: new Map() }];
    const fleet = fleetOf({ shards });
    for (const path of ["/", "/?view=board", "/?show=locations", "/?show=silences", "/recordings/a"]) {
      const { html } = await page(path, { fleet: async () => fleet });
      expect(elementOf(html, "title"), path).toMatch(/^! Old data · /);
      expect(html, path).toMatch(/<html lang="en" class="(?:wall )?old">/);
      expect(shownText(html), path).toContain(
        "No good reading since 11:48 UTC (12 m): the alerts shown are the last known ones.",
      );
      expect(shownText(html).join(), path).toContain("Last good reading at 2026-01-31 11:48:00 UTC; asked at");
    }
  });

  test("lists locations by a part of their name, by status and in an order", async () => {
    const listed = async (query: string) => {
      const { html } = await page(`/?show=locations&${query}`, { fleet: async () => smallFleet });
      return [...html.matchAll(/role="rowheader"><a href="\.\/\?location=(\w+)"/g)].map(([, id]) => id);
    };
    expect(await listed("q=&only=&sort=worst")).toEqual(["leeds", "york", "bath"]);
    expect(await listed("sort=name")).toEqual(["bath", "leeds", "york"]);
    expect(await listed("only=unknown")).toEqual(["york"]);
    expect(await listed("only=online")).toEqual(["bath"]);
    expect(await listed("q=LEEDS")).toEqual(["leeds"]);
  });

  test.each(["locations", "alerts"])("does not call it well on the list of %s while it is blind", async (show) => {
    const recordings = [recordingState("a", { readAt: NOW - 12 * MINUTE })];
    const { html } = await page(`/?show=${show}`, { fleet: async () => fleetOf({ recordings }) });
    expect(elementOf(html, "title")).toMatch(show === "alerts" ? /^\? All unknown, 1 recording · / : /^Locations · /);
    expect(html).toMatch(/>\? <\/span>1 unknown|status of the one recording is unknown/);
  });

  test("says which messages do not get out, and why", async () => {
    const failing = alertOf("NotificationsFailing", {
      subject: { kind: "integration", id: "ops/slack/0" },
      labels: { alertname: "NotificationsFailing", receiver: "ops", integration: "slack" },
      facts: { timezone: "UTC", problem: "notifications_failing", detail: "Slack refused the webhook." },
    });
    const { html } = await page("/", { fleet: async () => smallFleet, alerts: active(failing) });
    expect(shownText(html)).toContain("Notifications failing · ops by slack Slack refused the webhook.");
    expect(elementOf(html, "strong")).toBe("Till 3 at Leeds Briggate is offline");
  });

  test("follows what happens unless it is asked not to, and keeps its place then", async () => {
    const refreshes = (html: string) => {
      const withScript = /<script src="\.\/live-[0-9a-f]{16}\.js" data-events="\.\/events" defer><\/script>/.test(html);
      const without = html.includes('<noscript><meta http-equiv="refresh" content="30"></noscript>');
      expect(withScript).toBe(without);
      expect(/<main [^>]*data-version="[\w-]+"/.test(html)).toBe(withScript);
      return withScript;
    };
    const deps = { fleet: async () => smallFleet };
    expect(refreshes((await page("/", deps)).html)).toBe(true);
    expect(refreshes((await page("/?refresh=off", deps)).html)).toBe(false);
    expect(refreshes((await page("/?q=till", deps)).html)).toBe(false);
    expect(refreshes((await page("/?show=search", deps)).html)).toBe(false);
    const location = await page("/?location=leeds", deps);
    expect(refreshes(location.html)).toBe(true);
    expect(linksOf(location.html).get("Pause updates")).toBe("?location=leeds&refresh=off");
    const still = await page("/?location=leeds&refresh=off", deps);
    expect(linksOf(still.html).get("Resume updates")).toBe("?location=leeds");
  });

  test("passes over what links pick up on their way", async () => {
    const { response } = await page("/?utm_source=mail&location=&q=", { fleet: async () => smallFleet });
    expect(response.status).toBe(200);
  });
});

describe("10,000 recordings in trouble", () => {
  const fleet = largeFleet(10_000);
  const alerts: Alert[] = Array.from({ length: 5_000 }, (_, i) =>
    alertOf("RecordingOffline", { id: `a${i}`, subject: { kind: "recording", id: `r${i}` }, startsAt: NOW - i }),
  );
  const deps = { fleet: async () => fleet, alerts: active(...alerts) };
  const states = fleet.shards.flatMap(({ recordings }) => [...recordings.values()]);
  const placesOf = (of: typeof states) => new Set(of.map(({ locationId }) => locationId)).size;
  const places = placesOf(states);
  const troubled = placesOf(states.filter(({ status }) => status === "offline"));
  const grouped = (n: number) => n.toLocaleString("en-GB");

  test.each([
    ["/", 60_000],
    ["/?view=board", 60_000],
    ["/?show=locations", 60_000],
    ["/?show=alerts", 60_000],
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

  test("are counted, and how many are not shown is said", async () => {
    const { html } = await page("/", deps);
    expect(elementOf(html, "h1")).toBe("5,000 need attention: 5,000 recordings offline since 11:59 GMT.");
    expect(shownText(html)).toContain(
      `${grouped(places - 1_000)} more are not shown. All ${grouped(places)} locations`,
    );
    expect(html.match(/<a href="\?l=/g)).toHaveLength(1_000);
    expect(shownText(html)).toContain(`✕ 200 offline ✓ 9,800 online of 10,000 recordings`);
    expect(troubled).toBeGreaterThan(100);
    expect(html).toContain(`aria-label="${troubled} locations with an offline recording"`);
  });

  test("are found by the short links of their tiles", async () => {
    const { get } = await serve(deps);
    const html = await (await get("/")).text();
    const tile = /href="(\?l=\w+)">(Shop \w+)/.exec(html);
    const location = await (await get(`/${tile?.[1]}`)).text();
    expect(elementOf(location, "h1").startsWith(tile?.[2]?.slice(0, 20) ?? "-")).toBe(true);
    expect((await get("/?l=nowhere")).status).toBe(404);
  });
});

describe("4,000 recordings, 1,500 of them in trouble,", () => {
  const fleet = largeFleet(4_000);
  const alerts = Array.from({ length: 1_500 }, (_, i) =>
    alertOf("RecordingOffline", { id: `a${i}`, subject: { kind: "recording", id: `r${i}` }, startsAt: NOW - i }),
  );
  const states = fleet.shards.flatMap(({ recordings }) => [...recordings.values()]);
  const places = new Set(states.map(({ locationId }) => locationId)).size;
  const grouped = (n: number) => n.toLocaleString("en-GB");

  test.each([
    ["/?show=locations", /role="rowheader"><a href="\.\/\?location=(\w+)"/g, places],
    ["/?show=alerts", /<th scope="row" role="rowheader"><a href="[^"]*">Offline.*?recordings\/(r\d+)"/gs, 1_500],
    ["/?q=camera+1", /<th scope="row" role="rowheader"><a href="\.\/recordings\/(\w+)"/g, undefined],
  ])("are all found by following the links of %s, each once", async (start, row, total) => {
    const { get } = await serve({ fleet: async () => fleet, alerts: active(...alerts) });
    const seen: string[] = [];
    let announced = "";
    let link: string | undefined = start;
    while (link !== undefined) {
      const html: string = await (await get(`/${link.replace(/^\.?\//, "")}`)).text();
      const before = seen.length;
      seen.push(...[...html.matchAll(row)].map(([, id = ""]) => id));
      const range = new RegExp(`>${grouped(before + 1)}–${grouped(seen.length)} of ([\\d,]+) `).exec(html);
      announced = range?.[1] ?? "";
      link = [...linksOf(html)].find(([words]) => /^[\d,]+ more/.test(words))?.[1];
    }
    expect(announced).toBe(grouped(seen.length));
    expect(seen.length).toBe(total ?? seen.length);
    expect(seen.length).toBeGreaterThan(250);
    expect(new Set(seen).size).toBe(seen.length);
  });
});
