import { describe, expect, test } from "vitest";
import { type FleetSnapshot, type RecordingState, ROWS_PER_STEP } from "../../src/health/shard-state.ts";
import { createLabels, type FleetView, fleetText } from "../../src/metrics/fleet.ts";
import { createTotals } from "../../src/metrics/totals.ts";
import { alertState, fleetOf, INTERVAL, largeFleet, NOW, recordingState, unreadFleet } from "./fleets.ts";

function piecesOf(snapshot: FleetSnapshot, view: Partial<FleetView> = {}, labelsOf = createLabels()): string[] {
  return [...fleetText({ snapshot, rules: [], otherAlerts: [], ...view }, "prometheus", labelsOf)];
}

function textOf(...args: Parameters<typeof piecesOf>): string {
  return piecesOf(...args).join("");
}

function linesOf(text: string, name: string): string[] {
  return text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

test("the whole fleet is written like this", async () => {
  const snapshot = fleetOf({
    recordings: [
      recordingState("rec-1"),
      recordingState("rec-2", {
        status: "offline",
        lastSeenAt: NOW - 60_500,
        averageQuality: undefined,
        alerts: {
          RecordingOffline: alertState("RecordingOffline"),
          LowUptime: alertState("LowUptime", {
            state: "pending",
            labels: { alertname: "LowUptime", severity: "warning" },
          }),
        },
      }),
      recordingState("rec-3", { status: "degraded", locationId: "loc-2", lastSeenAt: undefined }),
      recordingState("rec-4", { status: undefined, readAt: 0 }),
    ],
    names: { "rec-1": 'Till "1"', "rec-2": "Entrance" },
    locations: [{ id: "loc-1", name: "Leeds", alerts: { LocationOffline: alertState("LocationOffline") } }],
    uptimes: { "rec-1": 0.995, "rec-2": 0 },
  });
  const view = {
    rules: [{ alert: "RecordingDegraded", labels: {} }],
    otherAlerts: [{ state: "firing", labels: { alertname: "ServiceUnreachable", severity: "critical" } }],
  } as const;
  await expect(textOf(snapshot, view)).toMatchFileSnapshot("fleet.prom");
});

test("a recording without a good reading for 3 intervals has no series of its own and counts as unknown", () => {
  const readAt = NOW - 3 * INTERVAL;
  const recordings = [recordingState("fresh", { readAt }), recordingState("stale", { readAt: readAt - 1 })];
  const text = textOf(fleetOf({ recordings, uptimes: { fresh: 1, stale: 1 } }));
  expect(text).toContain('recording_id="fresh"');
  expect(text).not.toContain('recording_id="stale"');
  expect(linesOf(text, "lenswatch_recordings").slice(0, 4)).toEqual(
    ["online", "offline", "degraded", "unknown"].map(
      (status, i) => `lenswatch_recordings{status="${status}"} ${[1, 0, 0, 1][i]}`,
    ),
  );
});

test("a recording that stands in two shards is written once, by its later reading", () => {
  const shard = (readAt: number, status: "online" | "offline") => ({
    sweptAt: NOW,
    recordings: new Map([["rec-1", recordingState("rec-1", { readAt, status })]]),
    locations: new Map(),
  });
  const snapshot = fleetOf({ shards: [shard(NOW - 1_000, "offline"), shard(NOW - 2_000, "online")] });
  expect(linesOf(textOf(snapshot), "lenswatch_recording_online")).toEqual([
    expect.stringMatching(/recording_id="rec-1".* 0$/),
  ]);
});

test("two ids that look alike once rendered are still two series, of recordings and of locations", () => {
  const ids = [`${"a".repeat(300)}1`, `${"a".repeat(300)}2`, "b\n", "b "];
  const text = textOf(fleetOf({ recordings: ids.map((id) => recordingState(id, { locationId: id })) }));
  for (const kind of ["recording", "location"] as const) {
    const lines = linesOf(text, `lenswatch_${kind}_average_quality_ratio`);
    expect(new Set(lines.map((line) => /_id="([^"]*)"/.exec(line)?.[1])).size, kind).toBe(4);
  }
});

test("a large fleet is written in steps, with yields before the first line, and nothing is lost between them", () => {
  const pieces = piecesOf(largeFleet(5_000));
  const rows = pieces.map((piece) => piece.match(/^lenswatch_recording_/gm)?.length ?? 0);
  expect(rows.reduce((sum, count) => sum + count, 0)).toBe(4 * 5_000);
  expect(Math.max(...rows)).toBeLessThanOrEqual(ROWS_PER_STEP);
  expect(pieces.findIndex((piece) => piece !== "")).toBeGreaterThanOrEqual(2 * 100);
});

test("labels that are kept between scrapes change with the name, the location and its name", () => {
  const labelsOf = createLabels();
  const labels = (state: Partial<RecordingState>, name = "Till", location = "Leeds") => {
    const fleet = fleetOf({ recordings: [recordingState("rec-1", state)], names: { "rec-1": name } });
    const inventory = { ...fleet.inventory, location: (id: string) => ({ id, name: location, timezone: undefined }) };
    return /online{recording_id="rec-1",(.*)}/.exec(textOf({ ...fleet, inventory }, {}, labelsOf))?.[1];
  };
  for (let scrape = 1; scrape <= 2; scrape++) {
    expect(labels({})).toBe('recording="Till",location_id="loc-1",location="Leeds"');
    expect(labels({ locationId: "loc-2" })).toBe('recording="Till",location_id="loc-2",location="Leeds"');
    expect(labels({}, "Till", "York")).toBe('recording="Till",location_id="loc-1",location="York"');
    expect(labels({}, "Door")).toBe('recording="Door",location_id="loc-1",location="Leeds"');
  }
});

test("entries of the last full hour are written by location, where they are known", () => {
  const hours = [
    { locationId: "loc-1", expected: 41.5, counted: 0 },
    { locationId: "loc-2", counted: 7 },
  ];
  const snapshot = fleetOf({ recordings: [], locations: [{ id: "loc-1", name: 'Leeds "1"' }] });
  const text = textOf(snapshot, { hours });
  expect(linesOf(text, "lenswatch_location_entries_expected")).toEqual([
    'lenswatch_location_entries_expected{location_id="loc-1",location="Leeds \\"1\\""} 41.5',
  ]);
  expect(linesOf(text, "lenswatch_location_entries_counted")).toEqual([
    'lenswatch_location_entries_counted{location_id="loc-1",location="Leeds \\"1\\""} 0',
    'lenswatch_location_entries_counted{location_id="loc-2",location="loc-2"} 7',
  ]);
  expect(textOf(snapshot)).not.toContain("entries");
  const read = textOf(snapshot, { readAt: { recordings: NOW - 1_000, uptime: NOW - 60_000, counts: NOW } });
  const sampleOf = (what: string) => linesOf(read, `lenswatch_last_${what}_timestamp_seconds`);
  expect(sampleOf("uptime")).toEqual([`lenswatch_last_uptime_timestamp_seconds ${NOW / 1000 - 60}`]);
  expect(sampleOf("sweep")).toEqual([`lenswatch_last_sweep_timestamp_seconds ${NOW / 1000 - 1}`]);
  expect(sampleOf("counts")).toEqual([`lenswatch_last_counts_timestamp_seconds ${NOW / 1000}`]);
  expect(textOf(snapshot)).not.toContain("lenswatch_last_");
});

test("recordings that no sweep could store count as unknown", () => {
  const evidence = {
    state: "partly",
    known: 45,
    unread: 44,
    late: 0,
    isRare: false,
    unstored: 44,
    neverRead: 1,
  } as const;
  const snapshot = fleetOf({ recordings: [recordingState("a")] });
  const text = textOf({ ...snapshot, evidence: { ...evidence, oldestAt: undefined, causes: [] } });
  expect(linesOf(text, "lenswatch_recordings")).toContain('lenswatch_recordings{status="unknown"} 44');
});

describe("series per recording", () => {
  const history = { sampledAt: NOW, stretches: [] };
  const snapshot = fleetOf({
    recordings: [
      recordingState("healthy"),
      recordingState("offline", { status: "offline" }),
      recordingState("degraded", { status: "degraded" }),
      recordingState("alerted", { alerts: { x: alertState("LowQuality", { state: "pending" }) } }),
      recordingState("recovered", { history, locationId: "loc-2" }),
      recordingState("unknown", { readAt: 0, alerts: { x: alertState("RecordingOffline") } }),
    ],
    names: { healthy: "Till", offline: "Door" },
    uptimes: { healthy: 1, offline: 0.5, recovered: 0.9 },
  });
  const text = (perRecording: "all" | "off") => textOf(snapshot, { perRecording });
  const idsIn = (of: string) => linesOf(of, "lenswatch_recording_online").map((line) => /"([^"]*)"/.exec(line)?.[1]);

  test("are those of all recordings that are read, or none", () => {
    expect(idsIn(text("all"))).toEqual(["healthy", "offline", "degraded", "alerted", "recovered"]);
    expect(text("off")).not.toMatch(/^lenswatch_recording_/m);
  });

  test("are all that differs: every other series is the same", () => {
    const others = (of: string) => of.replaceAll(/^lenswatch_recording_.*\n/gm, "");
    expect(others(text("off"))).toBe(others(text("all")));
  });

  test("add up to the totals by location, organisation and camera server", () => {
    const sums = (name: string) => {
      const all = new Map<string | undefined, number>();
      for (const line of linesOf(text("off"), name)) {
        const [, status, count] = /status="(\w+)"} (\d+)$/.exec(line) ?? [];
        all.set(status, (all.get(status) ?? 0) + Number(count));
      }
      return all;
    };
    const fleet = sums("lenswatch_recordings");
    expect(Object.fromEntries(fleet)).toEqual({ online: 3, offline: 1, degraded: 1, unknown: 1 });
    for (const of of ["location", "organisation", "camera_server"])
      expect(sums(`lenswatch_${of}_recordings`), of).toEqual(fleet);
  });

  test.each([
    [100_000, "all"],
    [100_001, "off"],
  ])("are by default, of %d recordings: %s", (count, mode) => {
    const view = { snapshot: unreadFleet(count), rules: [], otherAlerts: [] };
    const walk = fleetText(view, "prometheus", createLabels());
    let step = walk.next();
    while (!step.done) step = walk.next();
    expect(step.value).toMatchObject({ perRecording: mode, recordings: count });
  });
});

test("of too many locations those that are online have no totals, and are counted", () => {
  const { inventory } = fleetOf({});
  const totals = createTotals(inventory, 2);
  for (const [i, status] of (["online", "online", "offline", "unknown"] as const).entries())
    totals.add({
      ...{ id: `rec-${i}`, name: undefined, locationId: `loc-${i}` },
      ...{ lastSeenAt: undefined, averageQuality: undefined },
      status,
      alerts: undefined,
      uptime: undefined,
      organisation: "org",
      cameraServer: `cs-${i}`,
    });
  const text = [...totals.text("prometheus")].join("");
  expect(new Set(text.match(/loc-\d|cs-\d/g))).toEqual(new Set(["loc-2", "loc-3", "cs-2", "cs-3"]));
  expect(Object.fromEntries(totals.omitted())).toEqual({ location: 2, organisation: 0, camera_server: 2 });
});
