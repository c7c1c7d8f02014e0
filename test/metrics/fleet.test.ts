import { describe, expect, test } from "vitest";
import type { FleetSnapshot, RecordingState } from "../../src/health/shard-state.ts";
import { createKept, type FleetView, fleetText } from "../../src/metrics/fleet.ts";
import { ROWS_PER_BLOCK } from "../../src/metrics/members.ts";
import { createGroupLabels, createTotals } from "../../src/metrics/totals.ts";
import { aRecording } from "../support/fixtures.ts";
import { seededRandom } from "../support/random.ts";
import { alertState, fleetOf, INTERVAL, largeFleet, NOW, recordingState } from "./fleets.ts";

function piecesOf(snapshot: FleetSnapshot, view: Partial<FleetView> = {}, kept = createKept()): string[] {
  return Array.from(fleetText({ snapshot, rules: [], otherAlerts: [], ...view }, "prometheus", kept), (piece) =>
    Buffer.from(piece).toString(),
  );
}

function textOf(...args: Parameters<typeof piecesOf>): string {
  return piecesOf(...args).join("");
}

function linesOf(text: string, name: string): string[] {
  return text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

test("the whole fleet is written like this", () => {
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
  expect(textOf(snapshot, view)).toBe(`\
# HELP lenswatch_recording_online Whether the recording is online or degraded (1) or offline (0).
# TYPE lenswatch_recording_online gauge
lenswatch_recording_online{recording_id="rec-1",recording="Till \\"1\\"",location_id="loc-1",location="Leeds"} 1
lenswatch_recording_online{recording_id="rec-2",recording="Entrance",location_id="loc-1",location="Leeds"} 0
lenswatch_recording_online{recording_id="rec-3",recording="rec-3",location_id="loc-2",location="loc-2"} 1
# HELP lenswatch_recording_average_quality_ratio Average quality in the last good reading.
# TYPE lenswatch_recording_average_quality_ratio gauge
lenswatch_recording_average_quality_ratio{recording_id="rec-1",recording="Till \\"1\\"",location_id="loc-1",location="Leeds"} 0.92
lenswatch_recording_average_quality_ratio{recording_id="rec-3",recording="rec-3",location_id="loc-2",location="loc-2"} 0.92
# HELP lenswatch_recording_last_seen_timestamp_seconds Last contact of the service with the recording.
# TYPE lenswatch_recording_last_seen_timestamp_seconds gauge
lenswatch_recording_last_seen_timestamp_seconds{recording_id="rec-1",recording="Till \\"1\\"",location_id="loc-1",location="Leeds"} 1769860787.500
lenswatch_recording_last_seen_timestamp_seconds{recording_id="rec-2",recording="Entrance",location_id="loc-1",location="Leeds"} 1769860739.500
# HELP lenswatch_recording_overall_uptime_ratio Overall uptime ratio within the schedule over the window.
# TYPE lenswatch_recording_overall_uptime_ratio gauge
lenswatch_recording_overall_uptime_ratio{recording_id="rec-1",recording="Till \\"1\\"",location_id="loc-1",location="Leeds",window="24h"} 0.995
lenswatch_recording_overall_uptime_ratio{recording_id="rec-2",recording="Entrance",location_id="loc-1",location="Leeds",window="24h"} 0
# HELP lenswatch_location_recordings Recordings at the location by status; statuses other than online only where there are any.
# TYPE lenswatch_location_recordings gauge
lenswatch_location_recordings{location_id="loc-1",location="Leeds",status="online"} 1
lenswatch_location_recordings{location_id="loc-1",location="Leeds",status="offline"} 1
lenswatch_location_recordings{location_id="loc-1",location="Leeds",status="unknown"} 1
lenswatch_location_recordings{location_id="loc-2",location="loc-2",status="online"} 0
lenswatch_location_recordings{location_id="loc-2",location="loc-2",status="degraded"} 1
# HELP lenswatch_location_average_quality_ratio Mean over the location's recordings of the average quality in their last good reading.
# TYPE lenswatch_location_average_quality_ratio gauge
lenswatch_location_average_quality_ratio{location_id="loc-1",location="Leeds"} 0.92
lenswatch_location_average_quality_ratio{location_id="loc-2",location="loc-2"} 0.92
# HELP lenswatch_location_overall_uptime_ratio Mean over the location's recordings of the overall uptime ratio within the schedule over the window.
# TYPE lenswatch_location_overall_uptime_ratio gauge
lenswatch_location_overall_uptime_ratio{location_id="loc-1",location="Leeds",window="24h"} 0.4975
# HELP lenswatch_organisation_recordings Recordings of the organisation by status; statuses other than online only where there are any.
# TYPE lenswatch_organisation_recordings gauge
lenswatch_organisation_recordings{organisation="org",status="online"} 1
lenswatch_organisation_recordings{organisation="org",status="offline"} 1
lenswatch_organisation_recordings{organisation="",status="online"} 0
lenswatch_organisation_recordings{organisation="",status="degraded"} 1
lenswatch_organisation_recordings{organisation="",status="unknown"} 1
# HELP lenswatch_camera_server_recordings Recordings of the camera server by status; statuses other than online only where there are any.
# TYPE lenswatch_camera_server_recordings gauge
lenswatch_camera_server_recordings{camera_server="cs",status="online"} 1
lenswatch_camera_server_recordings{camera_server="cs",status="offline"} 1
lenswatch_camera_server_recordings{camera_server="",status="online"} 0
lenswatch_camera_server_recordings{camera_server="",status="degraded"} 1
lenswatch_camera_server_recordings{camera_server="",status="unknown"} 1
# HELP lenswatch_recordings Recordings by status; unknown means no good reading for 3 intervals.
# TYPE lenswatch_recordings gauge
lenswatch_recordings{status="online"} 1
lenswatch_recordings{status="offline"} 1
lenswatch_recordings{status="degraded"} 1
lenswatch_recordings{status="unknown"} 1
# HELP lenswatch_exposition_omitted Locations, organisations and camera servers without series because there are too many.
# TYPE lenswatch_exposition_omitted gauge
lenswatch_exposition_omitted{kind="location"} 0
lenswatch_exposition_omitted{kind="organisation"} 0
lenswatch_exposition_omitted{kind="camera_server"} 0
# HELP lenswatch_alerts Alerts by name, severity and state.
# TYPE lenswatch_alerts gauge
lenswatch_alerts{alertname="RecordingDegraded",severity="",state="pending"} 0
lenswatch_alerts{alertname="RecordingDegraded",severity="",state="firing"} 0
lenswatch_alerts{alertname="ServiceUnreachable",severity="critical",state="firing"} 1
lenswatch_alerts{alertname="LocationOffline",severity="critical",state="firing"} 1
lenswatch_alerts{alertname="RecordingOffline",severity="critical",state="firing"} 1
lenswatch_alerts{alertname="LowUptime",severity="warning",state="pending"} 1
`);
});

describe("being blind does not look like health", () => {
  const text = textOf(
    fleetOf({
      recordings: [
        recordingState("fresh", { readAt: NOW - 3 * INTERVAL }),
        recordingState("stale", { readAt: NOW - 3 * INTERVAL - 1 }),
      ],
      uptimes: { fresh: 1, stale: 1 },
    }),
  );

  test("a recording without a good reading for 3 intervals has no series of its own", () => {
    expect(text).toContain('recording_id="fresh"');
    expect(text).not.toContain('recording_id="stale"');
  });

  test("it counts as unknown", () => {
    expect(linesOf(text, "lenswatch_recordings")).toContain('lenswatch_recordings{status="unknown"} 1');
    expect(linesOf(text, "lenswatch_recordings")).toContain('lenswatch_recordings{status="online"} 1');
  });
});

test("a figure that is no number has no sample", () => {
  const recordings = [recordingState("rec-1", { averageQuality: Number.NaN, lastSeenAt: Number.NaN })];
  const text = textOf(fleetOf({ recordings, uptimes: { "rec-1": Number.NaN } }));
  expect(text.match(/^lenswatch_recording_\w+/gm)).toEqual(["lenswatch_recording_online"]);
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

test("a large fleet is written in steps of at most a thousand rows, and nothing is lost between them", () => {
  const snapshot = largeFleet(5_000);
  let rows = 0;
  let longest = 0;
  for (const piece of piecesOf(snapshot)) {
    const lines = piece.split("\n").filter((line) => line.startsWith("lenswatch_recording_")).length;
    rows += lines;
    longest = Math.max(longest, lines);
  }
  expect(rows).toBe(4 * 5_000);
  expect(longest).toBeLessThanOrEqual(ROWS_PER_BLOCK);
});

test("the walks before the first line yield at each shard", () => {
  const pieces = piecesOf(largeFleet(5_000));
  const before = pieces.findIndex((piece) => piece !== "");
  expect(before).toBeGreaterThanOrEqual(3 * 100);
});

describe("between scrapes", () => {
  let kept = createKept();
  const recording = aRecording("rec-1", { name: "Till", locationId: "loc-1" });
  const [online, lastSeen] = ["lenswatch_recording_online{", "lenswatch_recording_last_seen"];
  const scrape = (one = recording, state: Partial<RecordingState> = {}, location?: string) => {
    const inventory = {
      recording: () => ({ ...one }),
      location: (id: string) => ({ id, name: location, timezone: undefined }),
    };
    const snapshot = { ...fleetOf({ recordings: [recordingState("rec-1", state)] }), inventory };
    return [...fleetText({ snapshot, rules: [], otherAlerts: [] }, "prometheus", kept)];
  };
  const pieceOf = (pieces: readonly (string | Uint8Array)[], start: string) =>
    pieces.find((piece) => typeof piece !== "string" && Buffer.from(piece).toString().startsWith(start));

  test("bytes are the same while nothing in them changes", () => {
    const [before, after] = [scrape(), scrape(recording, { lastSeenAt: NOW - 1_000, readAt: NOW - 1 })];
    expect(pieceOf(after, online)).toBe(pieceOf(before, online));
    expect(pieceOf(after, lastSeen)).not.toEqual(pieceOf(before, lastSeen));
  });

  test("a value is written over the one before, as long as it or not", () => {
    const values = [0.92, 0.93, 0.5, 0.875, Number.NaN, 1, 0, 0.25];
    const written = values.map((averageQuality) => {
      const text = scrape(recording, { averageQuality }).map((piece) => Buffer.from(piece).toString());
      return linesOf(text.join(""), "lenswatch_recording_average_quality_ratio")[0]?.split(" ").at(-1);
    });
    expect(written).toEqual(values.map((value) => (Number.isNaN(value) ? undefined : String(value))));
  });

  test("bytes of more recordings than fit are not kept", () => {
    kept = createKept(0);
    const [before, after] = [pieceOf(scrape(), online), pieceOf(scrape(), online)];
    expect(after).toEqual(before);
    expect(after).not.toBe(before);
  });

  test("labels change with the name, the location and its name", () => {
    const text = (piece: Uint8Array | string | undefined) => Buffer.from(piece ?? "").toString();
    const labels = (...args: Parameters<typeof scrape>) => text(pieceOf(scrape(...args), online));
    expect(labels()).toContain('recording="Till",location_id="loc-1",location="loc-1"');
    expect(labels(recording, { locationId: "loc-2" })).toContain('location_id="loc-2",location="loc-2"');
    expect(labels(recording, { locationId: "loc-2" }, "Leeds")).toContain('location_id="loc-2",location="Leeds"');
    expect(labels({ ...recording, name: "Door" })).toContain('recording="Door"');
    const ofLocation = (name: string) => scrape(recording, {}, name).map((piece) => Buffer.from(piece).toString());
    for (const name of ["Leeds", "York"])
      expect(ofLocation(name).join("")).toContain(
        `lenswatch_location_average_quality_ratio{location_id="loc-1",location="${name}"}`,
      );
  });
});

test("whatever the scrapes before it had, a scrape is as the first", () => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = seededRandom(seed);
    const pick = (most: number) => Math.floor(random() * most);
    const someId = () => `rec-${pick(320)}`;
    const kept = createKept();
    const locations = ["loc-0", "loc-1"].map((id) => ({ id, name: "Leeds" }));
    const [names, uptimes]: [Record<string, string>, Record<string, number>] = [{}, {}];
    const shards = [0, 1].map(() => new Map<string, RecordingState>());
    let [revision, now] = [0, NOW];
    const someShard = () => shards[pick(2)] ?? new Map<string, RecordingState>();
    const set = (differing: Partial<RecordingState>) => {
      const id = someId();
      someShard().set(id, recordingState(id, { readAt: now - pick(2) * INTERVAL, ...differing }));
    };
    const changes = [
      () => set({ averageQuality: [undefined, 0, Number.NaN][pick(3)] }),
      () => set({ status: ([undefined, "offline", "degraded"] as const)[pick(3)], locationId: `loc-${pick(2)}` }),
      () => someShard().delete(someId()),
      () => shards.reverse(),
      () => shards.splice(0, 1, new Map([...(shards[0] ?? [])].reverse())),
      () => ([names[someId()], revision] = [`Till ${pick(9)}`, revision + 1]),
      () => (uptimes[someId()] = pick(9)),
      () => (now += INTERVAL),
      () => undefined,
    ];
    for (let i = 0; i < 290; i++) set({});
    for (let scrape = 0; scrape < 12; scrape++) {
      changes[pick(changes.length)]?.();
      const fleet = fleetOf({
        locations,
        shards: shards.map((recordings) => ({ sweptAt: now, recordings, locations: new Map() })),
        names,
        uptimes,
      });
      const inventory = { ...fleet.inventory, revision: () => revision };
      const snapshot = { ...fleet, inventory, now };
      const perRecording = (["all", "all", "all", "off"] as const)[pick(4)];
      expect(textOf(snapshot, { perRecording }, kept), `seed ${seed}, scrape ${scrape}`).toBe(
        textOf(snapshot, { perRecording }),
      );
    }
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
    const recordings = Array.from({ length: count }, (_, i) => recordingState(`rec-${i}`));
    const found = textOf(fleetOf({ recordings })).match(/^lenswatch_recording_online/gm)?.length ?? 0;
    expect(found).toBe(mode === "all" ? count : 0);
  });
});

test("of too many locations those that are online have no totals, and are counted", () => {
  const { inventory } = fleetOf({});
  const totals = createTotals(inventory, createGroupLabels(), 2);
  for (const [i, status] of (["online", "online", "offline", "unknown"] as const).entries())
    totals.add({
      ...{ id: `rec-${i}`, locationId: `loc-${i}`, alerts: undefined, history: undefined },
      ...{ lastSeenAt: undefined, averageQuality: undefined },
      status,
      uptime: undefined,
      organisation: "org",
      cameraServer: `cs-${i}`,
    });
  const text = [...totals.text("prometheus")].join("");
  expect(new Set(text.match(/loc-\d|cs-\d/g))).toEqual(new Set(["loc-2", "loc-3", "cs-2", "cs-3"]));
  expect(Object.fromEntries(totals.omitted())).toEqual({ location: 2, organisation: 0, camera_server: 2 });
});
