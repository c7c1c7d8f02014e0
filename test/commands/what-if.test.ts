import { describe, expect, test } from "vitest";
import { createMatcher } from "../../src/alerting/matcher.ts";
import type { Integration, Route } from "../../src/alerting/route.ts";
import type { Rule } from "../../src/health/model.ts";
import { rule } from "../health/shard-history.ts";
import { rootRoute, serve, shownConfig } from "../http/serve.ts";
import { fleetOf, NOW, recordingState } from "../metrics/fleets.ts";
import { aSilence } from "../support/fixtures.ts";
import { lenswatch } from "./run-command.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const critical = { labels: { severity: "critical" } };
const rules: readonly Rule[] = [
  rule("RecordingOffline", { kind: "status", status: "offline" }, { forMs: 2 * MINUTE, ...critical }),
  rule(
    "LocationOffline",
    { kind: "location_offline", atLeast: 1, clearBelow: 0.8, minRecordings: 2 },
    { forMs: MINUTE, ...critical },
  ),
  rule("LowQuality", { kind: "average_quality", below: 0.5, clearAbove: 0.6 } as Rule["when"]),
];
const inhibitRules = [
  {
    sourceMatchers: [createMatcher("alertname", "=", "LocationOffline")],
    targetMatchers: [createMatcher("alertname", "=", "RecordingOffline")],
    equal: ["location_id"],
  },
];
const integration = (receiver: string, type: string): Integration => ({
  ...{ id: `${receiver}/${type}/0`, name: `${receiver}/${type}/0`, receiver, type, sendResolved: true },
  ...{ endpoint: type, paceMs: 0 },
});
const integrations = [integration("ops", "slack"), integration("phone", "pagerduty"), integration("quiet", "email")];
const night = { name: "night", intervals: [{ times: [{ from: 0, to: 13 * 60 }], location: "UTC" }] };
const route: Route = {
  ...rootRoute,
  escalate: [{ afterMs: 15 * MINUTE, receiver: "phone" }],
  routes: [
    {
      ...{ ...rootRoute, key: "{}/york", receiver: "quiet", muteTimes: [night] },
      matchers: [createMatcher("location", "=", "York")],
    },
  ],
};
const fleet = fleetOf({
  recordings: ["rec-1", "rec-2", "rec-3"].map((id) =>
    recordingState(id, id === "rec-3" ? { locationId: "loc-2" } : {}),
  ),
  names: { "rec-1": "Till 1", "rec-2": "Entrance", "rec-3": "Door" },
  locations: [
    { id: "loc-1", name: "Leeds" },
    { id: "loc-2", name: "York" },
  ],
});

async function whatIf(
  name: string,
  silences: readonly ReturnType<typeof aSilence>[] = [],
  deps: Parameters<typeof serve>[0] = {},
  ...more: string[]
) {
  const { address } = await serve({
    ...{ fleet: async () => fleet, silences: async () => silences, integrations: () => integrations },
    config: () => shownConfig({ rules, route, inhibitRules }),
    ...deps,
  });
  return lenswatch(["why", "--what-if", name, "--url", address, ...more], { LENSWATCH_READ_TOKEN: "any" });
}

describe("lenswatch why --what-if", () => {
  test.each<[string, string, string[]]>([
    [
      "a location: its own alert, its escalation, and what it inhibits",
      "leeds",
      [
        "If Leeds (2 recordings) went offline now, 12:00:00 UTC:",
        "",
        "  12:01:30 UTC  Slack (ops): LocationOffline, again every 4 h",
        "  12:16:30 UTC  PagerDuty (phone): LocationOffline, if nobody acknowledges it for 15 m, again every 4 h",
        "  not sent  Slack (ops): RecordingOffline of 2, inhibited by LocationOffline (Leeds)",
        "  not sent  PagerDuty (phone): RecordingOffline of 2, inhibited by LocationOffline (Leeds), if nobody acknowledges it for 15 m",
      ],
    ],
    [
      "one recording of several",
      "rec-1",
      [
        "If Till 1 · Leeds (1 recording) went offline now, 12:00:00 UTC:",
        "",
        "  12:02:30 UTC  Slack (ops): RecordingOffline, again every 4 h",
        "  12:17:30 UTC  PagerDuty (phone): RecordingOffline, if nobody acknowledges it for 15 m, again every 4 h",
      ],
    ],
    [
      "one whose route is muted now",
      "Door",
      [
        "If Door · York (1 recording) went offline now, 12:00:00 UTC:",
        "",
        "  13:00:00 UTC  e-mail (quiet): RecordingOffline, muted by the time interval night until 13:00:00 UTC, again every 4 h",
      ],
    ],
  ])("says of %s who would get what, when", async (_, name, lines) => {
    const { stdout, exitCode } = await whatIf(name);
    expect([exitCode, ...stdout.split("\n").slice(0, -3)]).toEqual([0, ...lines]);
  });

  test("says that it is offline already, and since when", async () => {
    const is = { status: "offline", since: NOW - HOUR } as const;
    const dark = { ...fleet, shards: fleetOf({ recordings: [recordingState("rec-1", is)] }).shards };
    const { stdout } = await whatIf("rec-1", [], { fleet: async () => dark });
    expect(stdout.split("\n")[0]).toBe(
      "Not all of it is online: offline since 11:00 UTC (1 h). This is of an outage that begins now.",
    );
  });

  test("goes to the recipients that a directory has for the shop, by the route of its region", async () => {
    const shop = { labels: { region: "north" }, contacts: [], recipients: { regional_email: ["north@example.com"] } };
    const north = { ...integration("north", "email"), columns: ["regional_email"], recipient: "north@example.com" };
    const { json } = await serve({
      fleet: async () => ({
        ...fleet,
        inventory: { ...fleet.inventory, shop: (id: string) => (id === "loc-1" ? shop : undefined) },
      }),
      integrations: () => [...integrations, north, { ...north, id: "south", recipient: "south@example.com" }],
      config: () =>
        shownConfig({
          rules,
          route: {
            ...rootRoute,
            routes: [
              {
                ...{ ...rootRoute, key: "{}/north", receiver: "north", columns: ["regional_email"], continue: true },
                matchers: [createMatcher("region", "=", "north")],
              },
              { ...rootRoute, key: "{}/ops" },
            ],
          },
        }),
    });
    const itemsOf = async (id: string) => {
      const { body } = await json(`/api/v1/recordings/${id}/what-if`);
      const { items } = body as { items: { integration: string; alertname: string; alerts: number }[] };
      return items.map(({ integration, alertname, alerts }) => [integration, alertname, alerts]);
    };
    expect(await itemsOf("loc-1")).toEqual([
      ["north/email/0", "LocationOffline", 1],
      ["ops/slack/0", "LocationOffline", 1],
      ["north/email/0", "RecordingOffline", 2],
      ["ops/slack/0", "RecordingOffline", 2],
    ]);
    expect(await itemsOf("rec-3")).toEqual([["ops/slack/0", "RecordingOffline", 1]]);
  });

  test("waits for silences one after another, and for none that ends before", async () => {
    const of = (id: string, from: number, to: number) =>
      aSilence({
        ...{ id, startsAt: NOW + from, endsAt: NOW + to, createdBy: id },
        matchers: [createMatcher("location_id", "=", "loc-1")],
      });
    const all = [
      of("short", -HOUR, MINUTE),
      of("amy", -HOUR, HOUR),
      of("lee", HOUR, 2 * HOUR),
      of("late", 3 * HOUR, 4 * HOUR),
    ];
    const { stdout } = await whatIf("rec-1", all);
    expect(stdout).toContain(
      "  14:00:00 UTC  Slack (ops): RecordingOffline, silenced by amy until 13:00:00 UTC, silenced by lee until 14:00:00 UTC, again",
    );
    expect(stdout).not.toMatch(/by (?:late|short)/);
    const json = JSON.parse((await whatIf("rec-1", all, {}, "--output", "json")).stdout);
    expect(json.items[0]).toMatchObject({
      at: new Date(NOW + 2 * HOUR).toISOString(),
      suppressions: [{ by: "amy" }, { by: "lee" }],
    });
  });

  test.each([
    ["Leedz", /similar:\n {2}Leeds/],
    ["camera_server/none", /not found/],
  ])("of %s is exit code 1", async (name, message) => {
    expect(await whatIf(name)).toMatchObject({
      exitCode: expect.toSatisfy((code) => code !== 0),
      stderr: expect.stringMatching(message),
    });
  });
});
