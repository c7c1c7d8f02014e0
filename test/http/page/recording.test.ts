import { describe, expect, test } from "vitest";
import type { LogLine } from "../../../src/alerting/decision-log.ts";
import type { Maintenance } from "../../../src/alerting/maintenance.ts";
import { parseMatchers } from "../../../src/alerting/matcher.ts";
import { noteQuality, type QualityHistory } from "../../../src/health/quality.ts";
import type { UptimeBucket } from "../../../src/health/recording.ts";
import type { FleetSnapshot } from "../../../src/health/shard-state.ts";
import type { Incident } from "../../../src/store/incidents.ts";
import { rule } from "../../health/shard-history.ts";
import { alertState, fleetOf, INTERVAL, NOW, recordingState } from "../../metrics/fleets.ts";
import { anUptimeBucket, aRecording } from "../../support/fixtures.ts";
import { serve, shownConfig } from "../serve.ts";
import { active, alertOf, keptUptime, smallFleet, unreachable } from "./fleet.ts";
import { elementOf, linksOf, shownText } from "./read-page.ts";

const HOUR = 3_600_000;

function incident(hoursAgo: number, differing: Partial<Incident> = {}): Incident {
  return {
    id: `i${hoursAgo}`,
    ruleId: "RecordingOffline",
    alertname: "RecordingOffline",
    subject: { kind: "recording", id: "till-3" },
    locationId: "leeds",
    startsAt: NOW - hoursAgo * HOUR,
    endsAt: NOW - hoursAgo * HOUR + 9 * 60_000,
    endReason: "recovered",
    ...differing,
  };
}

function bucket(hoursAgo: number, overallUptime: number | undefined, withinSchedule = true): UptimeBucket {
  return anUptimeBucket(NOW - hoursAgo * HOUR, overallUptime, { withinSchedule });
}

async function page(path: string, deps: Parameters<typeof serve>[0] = {}) {
  const { get } = await serve({ fleet: async () => smallFleet, ...deps });
  const response = await get(path);
  return { status: response.status, html: await response.text() };
}

/** The fleet with its recordings in Amsterdam. */
function inAmsterdam(fleet: FleetSnapshot): FleetSnapshot {
  const { recording, location } = fleet.inventory;
  const moved = (id: string) => {
    const known = recording(id);
    return known && { ...known, timezone: "Europe/Amsterdam", useUploadingSchedule: true };
  };
  return { ...fleet, inventory: { recording: moved, location } };
}

describe("GET /recordings/{id}", () => {
  test("tells all that is known of a recording", async () => {
    const incidents = [
      incident(50),
      incident(0.2, { endsAt: undefined, endReason: undefined }),
      incident(3, { subject: { kind: "recording", id: "entrance" } }),
      incident(700, { alertname: "LowUptime", endReason: "expired" }),
    ];
    const { status, html } = await page("/recordings/till-3", { incidents: async () => incidents });
    expect(status).toBe(200);
    expect(shownText(html)).toEqual([
      "To the content",
      "lenswatch Locations Alerts Incidents Silences Search",
      "Till 3",
      "✕ offline since 11:48 UTC (12 m)",
      "Alerts",
      "Offline",
      "since 11:48 GMT (12 m) RecordingOffline · critical · firing",
      "Camera server cs-1.",
      "Low uptime, 93.1 %",
      "since 11:50 GMT (10 m) LowUptime · warning · pending, not notified yet",
      "Uptime of the last 30 days",
      "No day is known yet.",
      "Location",
      "Leeds Briggate",
      "Last seen",
      "11:48 UTC, 12 m ago",
      "Quality",
      "not known",
      "Uptime 24 h",
      "93.1 %",
      "Zones",
      "not known",
      "Camera server",
      "cs",
      "Organisation",
      "org",
      "Schedule",
      "records all the time",
      "Time zone",
      "UTC",
      "Id",
      "till-3",
      "Incidents of the last 30 days",
      "Incidents, the newest first",
      "Alert | Began | Ended | Lasted | Reason",
      "RecordingOffline | began 11:48 UTC | | lasted 12 m | not over",
      "RecordingOffline | began Thu 29 Jan 10:00 UTC | ended Thu 29 Jan 10:09 UTC | lasted 9 m | recovered",
      "LowUptime | began Fri 2 Jan 08:00 UTC | ended Fri 2 Jan 08:09 UTC | lasted 9 m | expired; whether it recovered is not known",
      "Decision log of 7 days",
      "No decisions.",
      "State at 2026-01-31 12:00:00 UTC. Refreshes every 30 s. Pause updates",
      "Read-only: no http.admin_token is configured, so nothing can be acknowledged or silenced here.",
    ]);
    expect(elementOf(html, "title")).toBe("Offline · Till 3 · lenswatch");
    expect(linksOf(html).get("Leeds Briggate")).toBe("../?location=leeds");
    expect(linksOf(html).get("lenswatch")).toBe("../");
    expect(linksOf(html).get("Pause updates")).toBe("?refresh=off");
  });

  test("tells its times in the recording's own zone", async () => {
    const { html } = await page("/recordings/till-3", { fleet: async () => inAmsterdam(smallFleet) });
    expect(shownText(html)).toEqual(
      expect.arrayContaining([
        "✕ offline since 12:48 CET (12 m)",
        "Europe/Amsterdam",
        "records by an uploading schedule",
        "No incidents.",
      ]),
    );
  });

  test("says what it was when nothing is known of it now", async () => {
    const recordings = [
      recordingState("stale", { readAt: NOW - 4 * INTERVAL, status: "offline" }),
      recordingState("never", { readAt: 0, status: undefined, lastSeenAt: undefined }),
    ];
    const fleet = async () => fleetOf({ recordings });
    const stale = await page("/recordings/stale", { fleet, alerts: active(unreachable) });
    expect(elementOf(stale.html, "title")).toBe("? Unknown · stale · lenswatch");
    const shown = shownText(stale.html);
    expect(shown).toContain("? unknown was offline at 11:58 GMT (2 m ago)");
    expect(shown).toContain(
      "The analytics service cannot be reached, since 11:48 UTC (12 m). status/uptime timed out after 20 s.",
    );
    expect(shown[shown.indexOf("Quality") + 1]).toBe("not known");
    const never = shownText((await page("/recordings/never", { fleet })).html);
    expect(never).toContain("? unknown no good reading yet");
    expect(never[never.indexOf("Last seen") + 1]).toBe("not known");
  });

  test("shows the alerts of its location beside its own", async () => {
    const LocationOffline = alertState("LocationOffline", {
      annotations: { description: "2 of 4 recordings offline since 2026-01-31 11:48 UTC." },
      facts: { timezone: "UTC", problem: "location_offline", offline: 3, of: 4, restated: ["description"] },
    });
    const locations = [{ id: "loc-1", name: "Leeds", alerts: { LocationOffline } }];
    const fleet = fleetOf({ recordings: [recordingState("a")], locations });
    const { html } = await page("/recordings/a", { fleet: async () => fleet });
    const shown = shownText(html);
    expect(shown).toContain("Location offline, 3 of 4 its location");
    // How many were dark at first would be a second figure beside how many are.
    expect(shown.join()).not.toContain("2 of 4 recordings offline");
  });

  test("shows its uptime day by day, and hour by hour where hours are kept", async () => {
    const kept = {
      buckets: [bucket(5, 1), bucket(4, undefined), bucket(3, 0.4), bucket(2, 0, false)],
      days: {
        "2026-01-30": { ratio: 0.97, segmentsExpected: 1_440 },
        "2026-01-29": { ratio: 1, segmentsExpected: 1_440 },
      },
      timezone: "UTC",
    };
    const asked: (readonly string[])[] = [];
    const uptimes = async (ids: readonly string[]) => {
      asked.push(ids);
      return new Map([["till-3", kept]]);
    };
    const { html } = await page("/recordings/till-3", { uptimes });
    const shown = shownText(html);
    expect(asked).toEqual([["till-3"]]);
    expect(shown).toEqual(
      expect.arrayContaining([
        "97.3 % over 3 days; lowest 70 % on Sat 31 Jan; 27 days not known.",
        "Sat 31 Jan 70 %",
        "07:00 100 %",
        "08:00 not known",
        "09:00 40 %",
        "10:00 off schedule",
        "Fri 30 Jan 97 %",
        "Thu 29 Jan 100 %",
      ]),
    );
    expect(html).toMatch(/<svg [^>]*role="img" aria-label="97.3 % over 3 days;/);
    expect(html.match(/<rect class="none"/g)).toHaveLength(27);
    expect(html.match(/<rect class="(?:good|fair|poor)"/g)).toHaveLength(3);
    expect(html.match(/<details id="day-/g)).toHaveLength(1);
    expect(shown).not.toContain("Wed 28 Jan not known");
    const place = await page("/?location=leeds", { uptimes });
    expect(asked[1]?.toSorted()).toEqual(["entrance", "till-3"]);
    expect(shownText(place.html)).toContain("97.3 % over 3 days; lowest 70 % on Sat 31 Jan; 27 days not known.");
  });

  test("marks the days of its maintenance, of nothing else, and so does its location", async () => {
    const nights = (name: string, recording: string): Maintenance => ({
      name,
      matchers: parseMatchers(`recording_id=${recording}`),
      timeIntervals: [
        { name, intervals: [{ times: [{ from: 60, to: 180 }], location: "UTC", weekdays: [{ from: 5, to: 5 }] }] },
      ],
      comment: "",
    });
    const kept = { buckets: [], days: { "2026-01-30": { ratio: 0.9, segmentsExpected: 1_440 } }, timezone: "UTC" };
    const deps = {
      uptimes: async (ids: readonly string[]) => new Map(ids.map((id) => [id, kept])),
      config: () => shownConfig({ maintenance: [nights("stock-take", "till-3")] }),
    };
    const { html } = await page("/recordings/till-3", deps);
    expect(shownText(html)).toContain("Fri 30 Jan 90 %, 2 h of maintenance");
    const marks = (text: string) => text.match(/<rect class="planned"/g)?.length ?? 0;
    expect([marks(html), marks((await page("/?location=leeds", deps)).html)]).toEqual([5, 5]);
    expect(marks((await page("/recordings/entrance", deps)).html)).toBe(0);
  });

  test("has the hours from before it was known as the service tells them", async () => {
    const asked: unknown[] = [];
    const recallUptime = async (...given: unknown[]) => {
      asked.push(given);
      return [bucket(25 * 24, 0.5), bucket(25 * 24 - 1, 1), bucket(4, 0)];
    };
    const kept = { buckets: [bucket(5, 1), bucket(4, 1)], days: {}, timezone: "Europe/London" };
    const uptimes = async () => new Map([["till-3", kept]]);
    const shown = shownText((await page("/recordings/till-3", { uptimes, recallUptime })).html);
    expect(asked).toEqual([["till-3", "Europe/London"]]);
    expect(shown).toEqual(expect.arrayContaining(["Tue 6 Jan 75 %", "12:00 50 %", "13:00 100 %", "Sat 31 Jan 100 %"]));
    expect(shown).not.toContain("08:00 0 %");
  });

  test("draws the quality of its last week, and says it in words, where there were readings", async () => {
    const readings = [
      [100, 0.95],
      [99, 0.6],
      [2, 0.95],
      [1, 0.93],
    ] as const;
    const quality = readings.reduce<QualityHistory | undefined>(
      (history, [hoursAgo, level]) => noteQuality(history, level, NOW - hoursAgo * HOUR),
      undefined,
    );
    const kept = { buckets: [], days: {}, timezone: "UTC", quality };
    const { html } = await page("/recordings/till-3", { uptimes: async () => new Map([["till-3", kept]]) });
    expect(shownText(html)).toContain(
      "Between about 60 % and 96 %; lowest Tue 27 Jan 09:00; known since Tue 27 Jan 08:00; 97 hours not known.",
    );
    expect(html.match(/<polyline/g)).toHaveLength(2);
    expect((await page("/recordings/till-3")).html).not.toContain("Quality of the last 7 days");
  });

  test.each([
    [{ sweptAt: NOW }, { presentAt: NOW }, [], "cannot be read"],
    [{ sweptAt: NOW }, { presentAt: NOW - HOUR }, [], "The service lists it no more."],
    [{ sweptAt: NOW - HOUR }, {}, [unreachable], "The service does not answer for its location."],
    [{ sweptAt: NOW - HOUR }, {}, [], "No replica has read its location for 1 h: see /readyz"],
    [{ sweptAt: 0 }, {}, [], "No replica has read its location yet: see /readyz"],
  ] as const)("says why its status is unknown: swept %j, seen %j", async (swept, seen, alerts, words) => {
    const known = fleetOf({ recordings: [recordingState("till-3", { readAt: NOW - HOUR, ...seen })] });
    const shards = known.shards.map((shard) => ({ ...shard, ...swept }));
    const { html } = await page("/recordings/till-3", {
      fleet: async () => ({ ...known, shards }),
      alerts: active(...alerts),
    });
    expect(shownText(html).join("\n")).toContain(words);
  });

  test("draws the axes of its charts in per cent, and a line at the thresholds of the rules", async () => {
    const rules = [
      rule("A", { kind: "overall_uptime", below: 0.96, clearAbove: 0.97, overMs: 24 * HOUR }),
      rule("B", { kind: "overall_uptime", below: 0.9, clearAbove: 0.97, overMs: HOUR }),
      rule("C", { kind: "average_quality", below: 0.5, clearAbove: 0.6 }),
    ];
    const deps = {
      uptimes: async () => new Map([["till-3", keptUptime()]]),
      config: () => ({ ...shownConfig(), rules }),
    };
    const { html } = await page("/recordings/till-3", deps);
    const limits = [...html.matchAll(/<path class="limit" d="M0 ([\d.]+)H/g)].map(([, y]) => Number(y));
    expect(limits).toEqual([12, 30]);
    expect(shownText(html)).toEqual(
      expect.arrayContaining([
        "The line is at 96 %, below which alerts fire.",
        "The line is at 50 %, below which alerts fire.",
      ]),
    );
    const ticks = [...html.matchAll(/<text x="30" y="([\d.]+)">([^<]*)/g)].map(([, y, words]) => `${words} ${y}`);
    expect(ticks).toEqual(["100 % 3", "90 % 22", "50 % 45.4", "0 % 63", "100 % 3", "50 % 33", "0 % 63"]);
    const none = await page("/recordings/till-3", { uptimes: deps.uptimes });
    expect(none.html).not.toContain('class="limit"');
  });

  test("names the zones it covers, and its location all of them, whatever they are called", async () => {
    const many = Array.from({ length: 25 }, (_, i) => `Ground:Row:${String(i).padStart(2, "0")}`);
    const zones = async () =>
      new Map([
        [
          "leeds",
          new Map([
            ["till-3", ["Ground:<b>Tills"]],
            ["entrance", many],
          ]),
        ],
      ]);
    const own = shownText((await page("/recordings/till-3", { zones })).html);
    expect(own[own.indexOf("Zones") + 1]).toBe("Ground › <b>Tills");
    const place = shownText((await page("/?location=leeds", { zones })).html);
    expect(place.find((line) => line.startsWith("Zones: "))).toMatch(/^Zones: Ground › <b>Tills, .*› 18 and 6 more$/);
  });

  test("says what an alert means for those who count people", async () => {
    const dark = alertOf("RecordingOffline", {
      annotations: { zones: "Ground:Tills", impact: "the location usually counts 1,240 entries on a Friday" },
    });
    const alerts = active({ ...dark, key: "RecordingOffline/recording/till-3" });
    const shown = shownText((await page("/recordings/till-3", { alerts })).html);
    expect(shown).toEqual(
      expect.arrayContaining([
        "Zones: Ground › Tills",
        "Impact: the location usually counts 1,240 entries on a Friday",
      ]),
    );
  });

  test("says at each alert who was told of it, and when", async () => {
    const firing = { ...alertOf("RecordingOffline"), key: "RecordingOffline/recording/till-3" };
    const line = (minutesAgo: number, integration: string, reason: string, ruleId = "RecordingOffline") => ({
      subject: firing.subject,
      at: NOW - minutesAgo * 60_000,
      ruleId,
      integration,
      reason,
    });
    const told = async (...lines: LogLine[]) => {
      const deps = { alerts: active(firing), timeline: async () => lines };
      const shown = shownText((await page("/recordings/till-3", deps)).html);
      return shown.find((text) => /^(?:Notified|Not notified)/.test(text));
    };
    const fires = { ...line(10, "", "firing"), integration: undefined };
    expect(await told(fires)).toBe("Not notified yet.");
    expect(await told(line(20, "ops/slack/0", "notified"), fires, line(9, "ops/slack/0", "silenced"))).toBe(
      "Not notified yet.",
    );
    expect(await told(fires, line(9, "ops/slack/0", "notified", "LowUptime"))).toBe("Not notified yet.");
    // Its beginning is out of sight, and who was told then with it.
    expect(await told(line(9, "ops/slack/0", "silenced"))).toBeUndefined();
    expect(
      await told(
        line(9, "ops/slack/0", "notified"),
        line(8, "ops/email/0/a@b.c", "notified"),
        line(3, "ops/slack/0", "reminded"),
      ),
    ).toBe("Notified ops/slack/0 at 11:57 GMT, ops/email/0/a@b.c at 11:52 GMT.");
  });

  test("tells what was decided and who was told, the newest first", async () => {
    const asked: unknown[] = [];
    const timeline = async (...given: unknown[]) => {
      asked.push(given);
      return [
        {
          subject: { kind: "recording", id: "till-3" },
          at: NOW - 12 * 60_000,
          ruleId: undefined,
          reason: "observed_offline",
        },
        { subject: { kind: "recording", id: "till-3" }, at: NOW - 10 * 60_000, ruleId: "Dark", reason: "firing" },
        {
          subject: { kind: "recording", id: "till-3" },
          at: NOW - 9 * 60_000,
          ruleId: "Dark",
          integration: "ops/slack/0",
          reason: "notified",
        },
        { subject: { kind: "location", id: "leeds" }, at: NOW - 8 * 60_000, ruleId: "Shop", reason: "<b>odd</b>" },
      ] as const;
    };
    const { html } = await page("/recordings/till-3", { timeline });
    const shown = shownText(html);
    expect(shown.slice(shown.indexOf("Decision log of 7 days") + 1, -2)).toEqual([
      "11:52 UTC location Shop: <b>odd</b>",
      "11:50:00 UTC",
      "Dark: fires → 11:51:00 UTC Slack",
      "11:50:00 UTC Dark: fires",
      "11:51:00 UTC Dark: notified ops/slack/0",
      "11:48 UTC seen offline",
    ]);
    const subjects = [
      { kind: "recording", id: "till-3" },
      { kind: "location", id: "leeds" },
    ];
    expect(asked).toEqual([[subjects, NOW - 7 * 24 * HOUR]]);
  });

  test("tells no more lines than a page bears, and where the others are", async () => {
    const line = (i: number) => ({
      subject: { kind: "recording" as const, id: "till-3" },
      at: NOW - (500 - i) * 1_000,
      ruleId: undefined,
      reason: "observed_offline",
    });
    const timeline = async () => Array.from({ length: 500 }, (_, i) => line(i));
    const { html } = await page("/recordings/till-3", { timeline });
    expect(html.match(/seen offline/g)).toHaveLength(60);
    expect(shownText(html)).toContain("440 older entries: see lenswatch why.");
    const ofOne = async () => (await timeline()).map((one) => ({ ...one, ruleId: "Dark", reason: "firing" }));
    const folded = await page("/recordings/till-3", { timeline: ofOne });
    expect(folded.html.match(/Dark: fires/g)).toHaveLength(20);
  });

  test("asks for the incidents of 30 days, and pages them", async () => {
    const asked: number[] = [];
    const many = Array.from({ length: 120 }, (_, i) => incident(i + 1));
    const incidents = async (since: number) => {
      asked.push(since);
      return many;
    };
    const { get } = await serve({ fleet: async () => smallFleet, incidents });
    const lengths: number[] = [];
    let link: string | undefined = "";
    while (link !== undefined) {
      const html: string = await (await get(`/recordings/till-3${link}`)).text();
      lengths.push(html.match(/>RecordingOffline<\/th>/g)?.length ?? 0);
      link = linksOf(html).get("Older incidents");
      if (lengths.length > 1) expect(linksOf(html).get("Back to the newest")).toBe("?");
    }
    expect(lengths).toEqual([50, 50, 20]);
    expect(asked[0]).toBe(NOW - 30 * 24 * HOUR);
  });

  test("takes the later reading of a recording that stands in two shards", async () => {
    const shardOf = (status: "online" | "offline", readAt: number) => ({
      sweptAt: NOW,
      recordings: new Map([["a", recordingState("a", { status, readAt })]]),
      locations: new Map(),
    });
    const shards = [shardOf("offline", NOW - 30_000), shardOf("online", NOW - 1_000)];
    const { html } = await page("/recordings/a", { fleet: async () => fleetOf({ shards }) });
    expect(elementOf(html, "title")).toBe("Online · a · lenswatch");
  });

  test.each(["/recordings/nobody", "/recordings/", "/recordings/%3Cb%3E", "/recordings/__proto__"])(
    "%s is a page that says so, with a way back",
    async (path) => {
      const { status, html } = await page(path);
      expect(status).toBe(404);
      expect(elementOf(html, "h1")).toBe("Not found");
      expect(linksOf(html).get("To the status page")).toBe("../");
      expect(html).not.toContain("<b>");
    },
  );
});

describe("GET /?location=", () => {
  test("lists the recordings of one location, the worst first", async () => {
    const { html } = await page("/?location=leeds");
    const shown = shownText(html);
    expect(shown.slice(2, -2)).toEqual([
      "Leeds Briggate",
      "✕ 1 offline ✓ 1 online of 2 recordings",
      "Recordings",
      "Recordings, the worst first",
      "Recording | Status | Last seen | Quality | Uptime 24 h | Alerts",
      "Till 3 | ✕ offline since 11:48 UTC (12 m) | seen 12 m ago | | uptime 93.12 % | 1 alert",
      "Entrance | ✓ online since 11:00 UTC (1 h) | seen 12 s ago | quality 92.0 % | uptime 100.00 % |",
      "Uptime of the last 30 days",
      "No day is known yet.",
      "Incidents of the last 30 days",
      "No incidents.",
      "Decision log of the location",
      "No decisions.",
    ]);
    expect(elementOf(html, "title")).toBe("1 offline · Leeds Briggate · lenswatch");
  });

  test("can be searched within", async () => {
    const { html } = await page("/?location=leeds&q=entr");
    expect(shownText(html)).toContain("1 recording found here: “entr”.");
    expect(html).toContain("recordings/entrance");
    expect(html).not.toContain("recordings/till-3");
  });

  test("says that a location is not known, with a way back", async () => {
    const { status, html } = await page("/?location=nowhere");
    expect(status).toBe(404);
    expect(linksOf(html).get("To the status page")).toBe("./");
  });

  test("shows a location without recordings as it is", async () => {
    const fleet = fleetOf({ locations: [{ id: "new", name: "New shop" }] });
    const { html } = await page("/?location=new", { fleet: async () => fleet });
    expect(elementOf(html, "title")).toBe("? No recording seen · New shop · lenswatch");
    expect(shownText(html)).toContain("No recordings.");
  });
});

describe("GET /?q=", () => {
  test.each([
    ["till", ["till-3"], 0],
    ["TILL 3", ["till-3"], 0],
    ["leeds till", ["till-3"], 0],
    ["leeds", ["till-3", "entrance"], 1],
    ["cafe", ["café"], 0],
    ["CAFÉ", ["café"], 0],
    ["%", [], 0],
    [".*", [], 0],
  ])("%j finds %j", async (q, recordings, places) => {
    const { html } = await page(`/?${new URLSearchParams({ q })}`);
    const found = [...html.matchAll(/href="\.\/recordings\/([^"]*)"/g)];
    expect(found.map(([, id = ""]) => decodeURIComponent(id))).toEqual(recordings);
    expect(html.match(/<h2 id="locations">[1-9]/g)?.length ?? 0).toBe(places);
  });

  test("finds alerts by their labels, and recordings by the camera server that they are on now", async () => {
    const states = ["a", "b", "c"].map((id) => recordingState(id, { locationId: "leeds" }));
    const servers = { a: "edge-7", b: "edge-8", c: "edge-7" };
    const inventory = {
      recording: (id: string) => aRecording(id, { cameraServer: servers[id as "a"], locationId: "leeds" }),
      location: () => undefined,
    };
    const server = alertOf("CameraServerOffline", {
      subject: { kind: "group", id: "camera_server/edge-7" },
      labels: { alertname: "CameraServerOffline", camera_server: "edge-7" },
      facts: {
        timezone: "UTC",
        problem: "camera_server_offline",
        locations: 5,
        locationNames: ["<b>Leeds</b>", "York"],
      },
    });
    const labels = { alertname: "RecordingOffline", recording_id: "b", recording: "B", camera_server: "edge-7" };
    const moved = alertOf("RecordingOffline", { subject: { kind: "recording", id: "b" }, labels });
    const fleet = async () => ({ ...fleetOf({ recordings: states }), inventory });
    const { html } = await page("/?q=EDGE-7", { fleet, alerts: active(server, moved, alertOf("LowQuality")) });
    const shown = shownText(html);
    expect(shown).toContain("2 active alerts");
    expect(shown.join("\n")).toContain("camera server edge-7 at <b>Leeds</b>, York and 3 more");
    expect(shown).toContain("2 recordings");
    const { html: none } = await page("/?q=edge-9", { fleet, alerts: active(server, moved) });
    expect(none).not.toContain("<table");
    // A time zone is asked for as a whole: part of it is in many names of places.
    expect(shownText((await page("/?q=Europe/London", { fleet })).html)).toContain("3 recordings");
    expect((await page("/?q=London", { fleet })).html).not.toContain("<table");
  });

  test("keeps what was searched for in the field, and in the links to more", async () => {
    const recordings = Array.from({ length: 150 }, (_, i) => recordingState(`cam "${i}"`));
    const { html } = await page('/?q=CAM+"', { fleet: async () => fleetOf({ recordings }) });
    expect(html).toContain('value="CAM &quot;"');
    expect(elementOf(html, "title")).toBe("150 found · lenswatch");
    const link = linksOf(html).get("50 more recordings") ?? "";
    expect(new URLSearchParams(link.slice(2)).get("q")).toBe('CAM "');
  });

  test("sorts numbers as people do", async () => {
    const recordings = ["Till 10", "till 9", "Till 1"].map((name) => recordingState(name));
    const { html } = await page("/?q=till", { fleet: async () => fleetOf({ recordings }) });
    const order = [...html.matchAll(/recordings\/(\w+)%20(\d+)"/g)].map(([, , n]) => n);
    expect(order).toEqual(["1", "9", "10"]);
  });

  test("is a form before there is anything to search for", async () => {
    const { status, html } = await page("/?show=search");
    expect(status).toBe(200);
    expect(html).toMatch(
      /<form class="search" role="search" action="\.\/" method="get">.*<input type="search" name="q"/s,
    );
    expect(html).not.toContain("<table");
  });
});
