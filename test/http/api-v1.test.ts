import { describe, expect, test } from "vitest";
import type { Listing } from "../../src/http/paging.ts";
import type { ApiRecording } from "../../src/http/v1/recordings.ts";
import type { StoredEpisode } from "../../src/store/episodes.ts";
import { alertState, fleetOf, INTERVAL, largeFleet, NOW, recordingState } from "../metrics/fleets.ts";
import { anEpisode, aRecording } from "../support/fixtures.ts";
import { shardsOfFleet } from "../support/overviews.ts";
import { firingAlert, serve } from "./serve.ts";

const fleet = fleetOf({
  recordings: [
    recordingState("rec-2", {
      status: "offline",
      since: NOW - 90_000,
      averageQuality: undefined,
      alerts: {
        LowUptime: alertState("LowUptime", { state: "pending", labels: { alertname: "LowUptime" } }),
        RecordingOffline: alertState("RecordingOffline"),
      },
    }),
    recordingState("rec-1"),
    recordingState("rec-3", { readAt: NOW - 4 * INTERVAL, locationId: "loc-2" }),
    recordingState("rec-4", { status: undefined, readAt: 0, lastSeenAt: undefined, locationId: "loc-2" }),
  ],
  names: { "rec-1": "Till <1>" },
  locations: [{ id: "loc-1", name: "Leeds", alerts: { LocationOffline: alertState("LocationOffline") } }],
  uptimes: { "rec-1": 0.99 },
});

describe("GET /api/v1/recordings", () => {
  const ids = (body: unknown) => (body as Listing<ApiRecording>).items.map((row) => row.recordingId);

  test("gives a row per recording, by id", async () => {
    const { json } = await serve({ fleet: async () => fleet });
    const { status, body } = await json("/api/v1/recordings");
    expect([status, ids(body)]).toEqual([200, ["rec-1", "rec-2", "rec-3", "rec-4"]]);
    expect((body as Listing<ApiRecording>).items).toMatchSnapshot();
  });

  test.each([
    ["status=offline", ["rec-2"]],
    ["status=offline&status=unknown", ["rec-2", "rec-3", "rec-4"]],
    ["location=Leeds", ["rec-1", "rec-2"]],
    ["location=leeds&status=online", ["rec-1"]],
    ["location=loc-2", ["rec-3", "rec-4"]],
    ["location=LOC-2&location=Leeds", ["rec-1", "rec-2", "rec-3", "rec-4"]],
    ["location=Lee", []],
    ["q=EDGE-7", ["rec-2", "rec-4"]],
    ["q=leeds+edge&status=offline", ["rec-2"]],
    ["q=+", ["rec-1", "rec-2", "rec-3", "rec-4"]],
    ["q=edge-8", []],
  ])("?%s gives %j", async (query, expected) => {
    const on = (id: string) => aRecording(id, { cameraServer: ["rec-2", "rec-4"].includes(id) ? "edge-7" : "" });
    const inventory = { ...fleet.inventory, recording: on };
    const { json } = await serve({ fleet: async () => ({ ...fleet, inventory }) });
    expect(ids((await json(`/api/v1/recordings?${query}`)).body)).toEqual(expected);
  });

  test("following the cursor gives every recording once", async () => {
    const large = largeFleet(1_234);
    const { json } = await serve({ fleet: async () => large });
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const path: string = `/api/v1/recordings?limit=100${cursor && `&cursor=${cursor}`}`;
      const page = (await json(path)).body as Listing<ApiRecording>;
      expect(page.items.length).toBeLessThanOrEqual(100);
      seen.push(...page.items.map((row) => row.recordingId));
      cursor = page.nextCursor;
    }
    expect(seen).toHaveLength(1_234);
    expect(new Set(seen).size).toBe(1_234);
  });

  test("a recording that comes or goes between two pages neither hides nor doubles another", async () => {
    let now = ["b", "c", "d", "e"];
    const { json } = await serve({ fleet: async () => fleetOf({ recordings: now.map((id) => recordingState(id)) }) });
    const first = (await json("/api/v1/recordings?limit=2")).body as Listing<ApiRecording>;
    expect(ids(first)).toEqual(["b", "c"]);
    now = ["a", "d", "e"];
    const second = (await json(`/api/v1/recordings?limit=2&cursor=${first.nextCursor}`)).body;
    expect(second).toMatchObject({ items: [{ recordingId: "d" }, { recordingId: "e" }], nextCursor: null });
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=1001", "limit"],
    ["limit=ten", "limit"],
    ["limit=1&limit=2", "limit"],
    ["status=down", "status"],
    ["cursor=rec-1", "cursor"],
    ["cursor=", "cursor"],
    ["page=2", "page"],
    ["__proto__=1", "__proto__"],
  ])("?%s is a 400 that names %s", async (query, field) => {
    const { json } = await serve({ fleet: async () => fleet });
    const { status, body } = await json(`/api/v1/recordings?${query}`);
    expect(status).toBe(400);
    const { error } = body as { error: { code: string; message: string } };
    expect(error.code).toBe("bad_query");
    expect(error.message.startsWith(`${field}: `)).toBe(true);
  });
});

describe("GET /api/v1/locations", () => {
  test("counts each location's recordings by status", async () => {
    const notes = [{ author: "sam", text: "x", at: NOW }];
    const acknowledgement = { author: "dana", comment: "on my way", at: NOW, until: NOW + 3_600_000, notes };
    const maintenance = { reason: "maintenance", by: "stock-take" } as const;
    const subject = { kind: "location", id: "loc-1" } as const;
    const alert = { ...firingAlert("LocationOffline", { severity: "critical" }), subject, startsAt: NOW - 600_000 };
    const alerts = async () => [{ alert, receivers: ["ops"], acknowledgement, maintenance }];
    const { json } = await serve({ fleet: async () => fleet, alerts });
    expect(await json("/api/v1/locations")).toMatchSnapshot();
  });

  test("is paged", async () => {
    const { json } = await serve({ fleet: async () => fleet });
    const first = (await json("/api/v1/locations?limit=1")).body as Listing<{ locationId: string }>;
    expect(first.items).toMatchObject([{ locationId: "loc-1" }]);
    const second = (await json(`/api/v1/locations?limit=1&cursor=${first.nextCursor}`)).body;
    expect(second).toMatchObject({ items: [{ locationId: "loc-2" }], nextCursor: null });
  });
});

describe("GET /api/v1/incidents", () => {
  const episode = (id: string, minutesAgo: number, differing: Partial<StoredEpisode> = {}) => {
    const at = NOW - minutesAgo * 60_000;
    return anEpisode(at, at + 30_000, { id: `${id}@${at}`, problem: "offline", locationId: "loc-1", ...differing });
  };
  const open = episode("open", 2, { endsAt: undefined, endReason: undefined });
  const episodes = [
    episode("old", 60, { uncounted: { estimate: 312, low: 264, high: 369 } }),
    ...[open, open],
    episode("place", 30, {
      ...{ alertname: "LocationOffline", problem: "location_offline", offline: 3 },
      ...{ subject: { kind: "location", id: "loc-2" }, locationId: "loc-2" },
    }),
    episode("blind", 10, {
      ...{ alertname: "ServiceUnreachable", problem: "service_unreachable" },
      ...{ subject: { kind: "service", id: "service" }, locationId: undefined },
    }),
  ];
  const deps = { fleet: async () => fleet, episodes: async () => episodes };
  const titles = (body: unknown) => (body as Listing<{ title: string }>).items.map(({ title }) => title);
  const [till, service, place] = [
    "Till <1> · Leeds: offline",
    "Analytics service: service unreachable",
    "loc-2: offline",
  ];

  test("gives the latest start first, an outage that came again as one, with who has it and its alerts", async () => {
    const alert = { ...firingAlert("RecordingOffline"), id: open.id };
    const alerts = async () => [{ alert, receivers: [], acknowledgement: { author: "dana", comment: "", at: NOW } }];
    const { json } = await serve({ ...deps, alerts, episodes: async () => [...episodes, episode("again", 20)] });
    const { body } = await json("/api/v1/incidents");
    expect(titles(body)).toEqual([service, till, place, till]);
    expect((body as Listing<unknown>).items).toMatchObject([
      { recordings: 0, locations: 0, cause: null, episodes: [{ recording: null, locationId: null, location: null }] },
      {
        ...{ endsAt: null, durationSeconds: 150, recordings: 1, locations: 1, timezone: "UTC" },
        acknowledgement: { author: "dana", until: null },
        cause: { label: "location_id", value: "loc-1" },
        episodes: [{ endReason: "recovered" }, { recording: "Till <1>", location: "Leeds", endReason: null }],
      },
      { recordings: 3, episodes: [{ recording: null, location: "loc-2", subject: { kind: "location", id: "loc-2" } }] },
      {
        ...{ endsAt: "2026-01-31T11:00:30.000Z", acknowledgement: null, uncounted: { low: 264 } },
        episodes: [{ planned: null }],
      },
    ]);
  });

  test("one is found by its id, with its timeline", async () => {
    const line = { at: NOW, subject: open.subject, ruleId: "RecordingOffline", reason: "notified" } as const;
    const { json } = await serve({ ...deps, timeline: async () => [line, { ...line, at: NOW - 60_000 }] });
    const [, first] = ((await json("/api/v1/incidents")).body as Listing<{ id: string }>).items;
    const { body } = await json(`/api/v1/incidents/${first?.id.toLowerCase()}`);
    const decisions = expect.arrayContaining([expect.objectContaining({ reason: "notified" })]);
    expect(body).toEqual({ ...first, decisions });
    expect(body).toMatchObject({ decisions: [{ about: { name: "Till <1> · Leeds" } }, {}] });
  });

  test.each([
    ["recording=rec-1", [till, till]],
    ["location=loc-2", [place]],
    ["alertname=ServiceUnreachable", [service]],
  ])("?%s gives %j", async (query, expected) => {
    const { json } = await serve(deps);
    expect(titles((await json(`/api/v1/incidents?${query}`)).body)).toEqual(expected);
  });

  test("is paged, and an episode listed twice is given once", async () => {
    const { json } = await serve(deps);
    const first = (await json("/api/v1/incidents?limit=3")).body as Listing<{ episodes: unknown[] }>;
    expect([titles(first), first.items[0]?.episodes.length]).toEqual([[till, service, place], 1]);
    expect(titles((await json(`/api/v1/incidents?limit=3&cursor=${first.nextCursor}`)).body)).toEqual([till]);
  });

  test("asks for the last 7 days, or since the time given", async () => {
    const asked: number[] = [];
    const { json } = await serve({
      ...deps,
      episodes: async (since) => {
        asked.push(since);
        return [];
      },
    });
    await json("/api/v1/incidents");
    await json("/api/v1/incidents?since=2026-01-01T02:00:00%2B02:00");
    expect(asked).toEqual([NOW - 7 * 86_400_000, Date.parse("2026-01-01T00:00:00Z")]);
  });

  test.each(["since=yesterday", "since=2026-01-01", "recording=a&recording=b"])("?%s is a 400", async (query) => {
    const { json } = await serve(deps);
    const { status, body } = await json(`/api/v1/incidents?${query}`);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(`${query.split("=")[0]}: expected`);
  });
});

describe("GET /api/v1/overview", () => {
  test("reads the shards with something to say, one for each page, that of an alert first", async () => {
    const pending = { LowUptime: alertState("LowUptime", { state: "pending", labels: { alertname: "LowUptime" } }) };
    const locations = ["calm", "pending", "firing", "offline"];
    const shards = locations.map((locationId) => {
      const alerts = locationId === "pending" ? pending : undefined;
      const status = locationId === "offline" ? "offline" : "online";
      const state = recordingState(`of ${locationId}`, { locationId, status, alerts });
      return { sweptAt: NOW, recordings: new Map([[state.id, state]]), locations: new Map() };
    });
    const subject = { kind: "location", id: "firing" } as const;
    const labels = { alertname: "LocationOffline", severity: "critical", location_id: "firing" };
    const alerts = async () => [{ alert: { ...firingAlert("LocationOffline"), subject, labels }, receivers: ["ops"] }];
    const read: number[][] = [];
    const whole = fleetOf({ shards });
    const { json } = await serve({
      fleet: async () => whole,
      alerts,
      shards: async (numbers) => {
        read.push([...numbers]);
        return shardsOfFleet(whole, numbers);
      },
    });
    const pages: (string | null)[][] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const { body } = await json(`/api/v1/overview${cursor && `?cursor=${cursor}`}`);
      const { items, nextCursor } = body as Listing<{ readonly locationId: string | null }>;
      pages.push(items.map(({ locationId }) => locationId));
      cursor = nextCursor;
    }
    expect(pages).toEqual([["firing"], ["offline"], ["pending"]]);
    expect(read).toEqual([[2], [3], [1]]);
  });
});
