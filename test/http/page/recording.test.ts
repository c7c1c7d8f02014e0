import { describe, expect, test } from "vitest";
import type { LogLine } from "../../../src/alerting/decision-log.ts";
import type { Maintenance } from "../../../src/alerting/maintenance.ts";
import { parseMatchers } from "../../../src/alerting/matcher.ts";
import { noteQuality, type QualityHistory } from "../../../src/health/quality.ts";
import type { UptimeBucket } from "../../../src/health/recording.ts";
import { rule } from "../../health/shard-history.ts";
import { alertState, fleetOf, INTERVAL, NOW, recordingState } from "../../metrics/fleets.ts";
import { anEpisode, anUptimeBucket } from "../../support/fixtures.ts";
import { overviewOfFleet } from "../../support/overviews.ts";
import { serve, shownConfig } from "../serve.ts";
import { active, alertOf, dark, keptUptime, locationOffline, pageOf, smallFleet, unreachable } from "./fleet.ts";
import { linksOf, shownText } from "./read-page.ts";
import { signedIn } from "./visitor.ts";

const HOUR = 3_600_000;
const DAY = { ratio: 1, segmentsExpected: 1_440 };
const TILL = "/recordings/till-3";
const till = { kind: "recording", id: "till-3" } as const;

function bucket(hoursAgo: number, overallUptime: number | undefined, withinSchedule = true): UptimeBucket {
  return anUptimeBucket(NOW - hoursAgo * HOUR, overallUptime, { withinSchedule });
}

/** What follows a line of what is shown. */
const lineAfter = (shown: string[], line: string) => shown[shown.indexOf(line) + 1];

describe("a recording", () => {
  test.each([
    [undefined, "", "since 12:48 CET (12 m)"],
    [undefined, "lang=en; timezone=America/New_York", "since 06:48 EST (12:48 CET; 12 m)"],
    [undefined, "timezone=Mars/Olympus", "since 12:48 CET (12 m)"],
    ["Europe/London", "timezone=America/New_York", "since 11:48 GMT (12:48 CET; 12 m)"],
  ])("has its times in the zone %s, and the browser that says %j: %s", async (timezone, cookie, since) => {
    const { recording, location } = smallFleet.inventory;
    const moved = (id: string) => {
      const known = recording(id);
      return known && { ...known, timezone: "Europe/Amsterdam", useUploadingSchedule: true };
    };
    const fleet = { ...smallFleet, inventory: { recording: moved, location } };
    const config = () => shownConfig({ display: { timezone } });
    const { shown } = await pageOf(TILL, { fleet: async () => fleet, config }, { cookie });
    expect(shown).toEqual(
      expect.arrayContaining([`✕ offline ${since}`, "Europe/Amsterdam", "records by an uploading schedule"]),
    );
  });

  test("of which nothing is known now has what it was", async () => {
    const recordings = [
      recordingState("stale", { readAt: NOW - 4 * INTERVAL, status: "offline" }),
      recordingState("never", { readAt: 0, status: undefined, lastSeenAt: undefined }),
    ];
    const fleet = async () => fleetOf({ recordings });
    const stale = await pageOf("/recordings/stale", { fleet, alerts: active(unreachable) });
    expect(stale.title).toBe("! Old data · ? Unknown · stale · lenswatch");
    expect(stale.shown).toContain("? unknown ✕ was offline read at 11:58 GMT (2 m ago)");
    expect(lineAfter(stale.shown, "Quality")).toBe("not known");
    const never = await pageOf("/recordings/never", { fleet });
    expect(never.shown).toContain("? unknown no good reading yet");
    expect(lineAfter(never.shown, "Last seen")).toBe("not known");
  });

  test.each([
    [{}, "cannot be read"],
    [{ absentSince: NOW - HOUR }, "The service lists it no more."],
  ] as const)("says why its status is unknown though its location is read: %j", async (seen, words) => {
    const known = fleetOf({ recordings: [recordingState("till-3", { readAt: NOW - HOUR, ...seen })] });
    const { shown } = await pageOf(TILL, { fleet: async () => known });
    expect(shown.join("\n")).toContain(words);
  });

  test("has the alerts of its location, of which one figure is shown", async () => {
    const LocationOffline = alertState("LocationOffline", {
      annotations: { description: "2 of 4 recordings offline since 2026-01-31 11:48 UTC." },
      facts: { timezone: "UTC", problem: "location_offline", offline: 3, of: 4, restated: ["description"] },
    });
    const locations = [{ id: "loc-1", name: "Leeds", alerts: { LocationOffline } }];
    const fleet = fleetOf({ recordings: [recordingState("a")], locations });
    const { shown } = await pageOf("/recordings/a", { fleet: async () => fleet });
    expect(shown).toContain("Location offline, 3 of 4 its location");
    expect(shown.join()).not.toContain("2 of 4 recordings offline");
  });

  test("takes the later reading of a recording that stands in two shards", async () => {
    const shardOf = (status: "online" | "offline", readAt: number) => ({
      sweptAt: NOW,
      recordings: new Map([["a", recordingState("a", { status, readAt })]]),
      locations: new Map(),
    });
    const shards = [shardOf("offline", NOW - 30_000), shardOf("online", NOW - 1_000)];
    const { title } = await pageOf("/recordings/a", { fleet: async () => fleetOf({ shards }) });
    expect(title).toBe("Online · a · lenswatch");
  });

  test("says what its alert means for those who count people", async () => {
    const impact = "the location usually counts 1,240 entries on a Friday";
    const alerts = active({ ...dark, annotations: { zones: "Ground:Tills", impact } });
    const { shown } = await pageOf(TILL, { alerts });
    expect(shown).toEqual(expect.arrayContaining(["Zones: Ground › Tills", `Impact: ${impact}`]));
  });

  const line = (minutesAgo: number, integration: string | undefined, reason: string, ruleId = "RecordingOffline") =>
    ({ subject: till, at: NOW - minutesAgo * 60_000, ruleId, integration, reason }) as LogLine;
  const fires = line(10, undefined, "firing");
  test.each([
    [[fires], "Not notified yet"],
    [[line(20, "ops/slack/0", "notified"), fires, line(9, "ops/slack/0", "silenced")], "Not notified yet"],
    [[fires, line(9, "ops/slack/0", "notified", "LowUptime")], "Not notified yet"],
    // Its beginning is not in the log any more.
    [[line(9, "ops/slack/0", "silenced")], undefined],
    [
      [
        line(9, "ops/slack/0", "notified"),
        line(8, "ops/email/0/a@b.c", "notified"),
        line(3, "ops/slack/0", "reminded"),
      ],
      "Notified Slack (ops) at 11:57 GMT, a@b.c (ops) at 11:52 GMT",
    ],
  ])("says who was notified of its alert: %#", async (lines, expected) => {
    const { shown } = await pageOf(TILL, { alerts: active(dark), timeline: async () => lines });
    expect(shown.find((text) => /^(?:Notified|Not notified)/.test(text))).toBe(expected);
  });
});

describe("the decision log", () => {
  const seen = (i: number, more: Partial<LogLine> = {}) =>
    ({ subject: till, at: NOW - (500 - i) * 1_000, ruleId: undefined, reason: "observed_offline", ...more }) as LogLine;

  test("is of a week, of the recording and its location", async () => {
    const asked: unknown[] = [];
    const timeline = async (...given: unknown[]) => {
      asked.push(given);
      return [];
    };
    await pageOf(TILL, { timeline });
    expect(asked).toEqual([[[till, { kind: "location", id: "leeds" }], NOW - 7 * 24 * HOUR]]);
  });

  test.each([
    [{}, /seen offline/g, 60, "440 older entries: see lenswatch why."],
    [{ ruleId: "Dark", reason: "firing" }, /Dark: fires/g, 20, "Dark: fires"],
  ])("has no more lines than a page bears: %#", async (more, row, lines, words) => {
    const timeline = async () => Array.from({ length: 500 }, (_, i) => seen(i, more));
    const { html, shown } = await pageOf(TILL, { timeline });
    expect(html.match(row)).toHaveLength(lines);
    expect(shown.join("\n")).toContain(words);
  });
});

test("episodes are of 30 days, page by page", async () => {
  const asked: number[] = [];
  const episode = (hoursAgo: number) =>
    anEpisode(NOW - hoursAgo * HOUR, NOW - hoursAgo * HOUR + 9 * 60_000, { subject: till, locationId: "leeds" });
  const episodes = async (since: number) => {
    asked.push(since);
    return Array.from({ length: 120 }, (_, i) => episode(i + 1));
  };
  const { get } = await serve({ fleet: async () => smallFleet, episodes });
  const lengths: number[] = [];
  let link: string | undefined = "";
  while (link !== undefined) {
    const html: string = await (await get(`${TILL}${link}`)).text();
    lengths.push(html.match(/>RecordingOffline<\/th>/g)?.length ?? 0);
    link = [...linksOf(html)].find(([words]) => /^\d+ more alerts$/.test(words))?.[1];
    if (lengths.length > 1) expect(linksOf(html).get("Back to the first")).toBe("?");
  }
  expect(lengths).toEqual([50, 50, 20]);
  expect(asked[0]).toBe(NOW - 30 * 24 * HOUR);
});

describe("uptime", () => {
  const kept = {
    buckets: [bucket(5, 1), bucket(4, undefined), bucket(3, 0.4), bucket(2, 0, false)],
    days: { "2026-01-30": { ...DAY, ratio: 0.97 }, "2026-01-29": DAY },
    timezone: "UTC",
  };
  const words = "97.3 % over 3 days; lowest 70 % on Sat 31 Jan; 27 days not known.";

  test("is drawn day by day and hour by hour, of a recording and of its location", async () => {
    const asked: (readonly string[])[] = [];
    const uptimes = async (ids: readonly string[]) => {
      asked.push(ids);
      return new Map([["till-3", kept]]);
    };
    const { shown, html } = await pageOf(TILL, { uptimes });
    for (const line of [words, "Sat 31 Jan 70 %", "07:00 100 %", "08:00 not known", "10:00 off schedule"])
      expect(shown).toContain(line);
    expect(shown).not.toContain("Wed 28 Jan not known");
    expect(html).toMatch(/<svg [^>]*role="img" aria-label="97.3 % over 3 days;/);
    expect(html.match(/<rect class="unknown"/g)).toHaveLength(27);
    expect(html.match(/<rect class="(?:good|warning|critical)"/g)).toHaveLength(3);
    expect((await pageOf("/?location=leeds", { uptimes })).shown).toContain(words);
    expect(asked.map((ids) => ids.toSorted())).toEqual([["till-3"], ["entrance", "till-3"]]);
  });

  test("has the days of its maintenance marked, of nothing else, and so has its location", async () => {
    const weekday = { times: [{ from: 60, to: 180 }], location: "UTC", weekdays: [{ from: 5, to: 5 }] };
    const nights: Maintenance = {
      name: "stock-take",
      matchers: parseMatchers("recording_id=till-3"),
      timeIntervals: [{ name: "nights", intervals: [weekday] }],
      comment: "",
    };
    const deps = {
      uptimes: async (ids: readonly string[]) => new Map(ids.map((id) => [id, kept])),
      config: () => shownConfig({ maintenance: [nights] }),
    };
    const marks = async (path: string) => (await pageOf(path, deps)).html.match(/<rect class="planned"/g)?.length ?? 0;
    expect((await pageOf(TILL, deps)).shown).toContain("Fri 30 Jan 97 %, 2 h of maintenance");
    expect([await marks(TILL), await marks("/?location=leeds"), await marks("/recordings/entrance")]).toEqual([
      5, 5, 0,
    ]);
  });

  test("has the hours from before it was known as the service tells them", async () => {
    const asked: unknown[] = [];
    const recallUptime = async (...given: unknown[]) => {
      asked.push(given);
      return [bucket(25 * 24, 0.5), bucket(25 * 24 - 1, 1), bucket(4, 0)];
    };
    const known = { buckets: [bucket(5, 1), bucket(4, 1)], days: {}, timezone: "Europe/London" };
    const { shown } = await pageOf(TILL, { uptimes: async () => new Map([["till-3", known]]), recallUptime });
    expect(asked).toEqual([["till-3", "Europe/London"]]);
    expect(shown).toEqual(expect.arrayContaining(["Tue 6 Jan 75 %", "12:00 50 %", "13:00 100 %", "Sat 31 Jan 100 %"]));
    expect(shown).not.toContain("08:00 0 %");
  });
});

test("quality of a week is drawn and said in words, where there were readings", async () => {
  const readings: [number, number][] = [
    [100, 0.95],
    [99, 0.6],
    [2, 0.95],
    [1, 0.93],
  ];
  const quality = readings.reduce<QualityHistory | undefined>(
    (history, [hoursAgo, level]) => noteQuality(history, level, NOW - hoursAgo * HOUR),
    undefined,
  );
  const kept = { buckets: [], days: {}, timezone: "UTC", quality };
  const { shown, html } = await pageOf(TILL, { uptimes: async () => new Map([["till-3", kept]]) });
  expect(shown).toContain(
    "Between about 60 % and 96 %; lowest Tue 27 Jan 09:00; known since Tue 27 Jan 08:00; 97 hours not known.",
  );
  expect(html.match(/<polyline/g)).toHaveLength(2);
  expect((await pageOf(TILL)).html).not.toContain("Quality of the last 7 days");
});

test("charts have their axes in per cent, and a line at the thresholds of the rules", async () => {
  const rules = [
    rule("A", { kind: "overall_uptime", below: 0.96, clearAbove: 0.97, overMs: 24 * HOUR }),
    rule("B", { kind: "overall_uptime", below: 0.9, clearAbove: 0.97, overMs: HOUR }),
    rule("C", { kind: "average_quality", below: 0.5, clearAbove: 0.6 }),
  ];
  const uptimes = async () => new Map([["till-3", keptUptime()]]);
  const { html, shown } = await pageOf(TILL, { uptimes, config: () => ({ ...shownConfig(), rules }) });
  const limits = [...html.matchAll(/<path class="limit" d="M0 ([\d.]+)H/g)].map(([, y]) => Number(y));
  expect(limits).toEqual([12, 30]);
  for (const at of ["96 %", "50 %"]) expect(shown).toContain(`The line is at ${at}, below which alerts fire.`);
  const ticks = [...html.matchAll(/<text x="30" y="([\d.]+)">([^<]*)/g)].map(([, y, words]) => `${words} ${y}`);
  expect(ticks).toEqual(["100 % 3", "90 % 22", "50 % 45.4", "0 % 63", "100 % 3", "50 % 33", "0 % 63"]);
  expect((await pageOf(TILL, { uptimes })).html).not.toContain('class="limit"');
});

test("a location without recordings is shown as it is", async () => {
  const fleet = fleetOf({ locations: [{ id: "new", name: "New shop" }] });
  const { title, shown } = await pageOf("/?location=new", { fleet: async () => fleet });
  expect(title).toBe("? No recording seen · New shop · lenswatch");
  expect(shown).toContain("No recordings.");
});

test("a location has the zones of all its recordings, each once", async () => {
  const zones = async () =>
    new Map([
      [
        "leeds",
        new Map([
          ["till-3", ["Ground:Tills"]],
          ["entrance", ["Ground:Tills", "Ground:Door"]],
        ]),
      ],
    ]);
  const { shown } = await pageOf("/?location=leeds", { zones });
  expect(shown).toContain("Zones: Ground › Door, Ground › Tills");
});

test("a recording whose name is not known is found by the link on the page of its location", async () => {
  const overview = overviewOfFleet(smallFleet);
  const inventory = { ...overview.inventory, recording: () => undefined };
  const fleet = async () => ({ ...smallFleet, inventory });
  const deps = { fleet, overview: async () => ({ ...overview, inventory }) };
  const { html } = await pageOf("/?location=leeds", deps);
  expect(html).toContain('href="./recordings/till-3?location=leeds"');
  expect((await pageOf("/recordings/till-3?location=leeds", deps)).shown).toContain("till-3");
  expect((await pageOf("/recordings/till-3", deps)).status).toBe(404);
});

test("the page of a location has what needs somebody first, with its buttons, and the others in a line each", async () => {
  const camera = (id: string, differing: Parameters<typeof alertOf>[1] = {}) =>
    alertOf("RecordingOffline", {
      subject: { kind: "recording", id },
      labels: { alertname: "RecordingOffline", severity: "warning", location_id: "leeds", recording_id: id },
      ...differing,
    });
  const low = camera("entrance", {
    labels: { ...dark.labels, severity: "warning", recording: "Leeds Briggate Entrance", recording_id: "entrance" },
  });
  const inhibited = Array.from({ length: 24 }, (_, i) => camera(`c${i}`));
  const acknowledgement = { author: "amy", comment: "", at: NOW };
  const asked: unknown[] = [];
  const { address } = await serve({
    ...{ adminToken: "boss-token", fleet: async () => smallFleet },
    alerts: async () => [
      ...inhibited.map((alert) => ({ alert, receivers: ["ops"], inhibitedBy: ["0011"] })),
      { alert: locationOffline("leeds"), receivers: ["ops"], acknowledgement },
      { alert: locationOffline("york"), receivers: ["ops"] },
      { alert: low, receivers: ["ops"] },
    ],
    timeline: async (subjects) => {
      asked.push(...subjects);
      return [{ subject: low.subject, ruleId: low.ruleId, at: NOW, reason: "notified", integration: "ops/slack/0" }];
    },
  });
  const { html } = await (await signedIn(address, "boss-token")).get("/?location=leeds");
  const [, section = ""] = /<section aria-labelledby="alerts">(.*?)<\/section>/s.exec(html) ?? [];
  const [cards = "", rows = ""] = section.split('<ul class="board">');
  expect(shownText(`<body>${cards}`)).toEqual(
    expect.arrayContaining(["26 alerts", "Offline Entrance", "Notified Slack (ops) at 12:00 GMT"]),
  );
  expect(cards.match(/<h3>|>Acknowledge<|>Silence…</g)).toEqual(["<h3>", ">Acknowledge<", ">Silence…<"]);
  expect(rows).not.toContain("<button");
  expect(rows).toMatch(/^<li class="[^"]*">.*?acknowledged by amy.*?suppressed by another alert/s);
  expect(shownText(`<body>${rows}`).at(-1)).toBe("5 more alerts");
  expect(asked).toEqual([{ kind: "location", id: "leeds" }, low.subject]);
  expect(html.slice(html.indexOf("Decision log of the location"))).toContain("No decisions.");
});
