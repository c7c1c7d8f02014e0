import { DateTime } from "luxon";
import { expect, it } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import { createRefreshDetails, usualByLocation, zonesByLocation } from "../../src/poll/details.ts";
import type { AreaContext, EntriesQuery } from "../../src/service/service.ts";
import { HOUR, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

/** A Friday, 14:05 in Leeds. */
const NOW = Date.UTC(2026, 10, 20, 14, 5);
const DAY = 24 * HOUR;

const context = (recordingId: string | undefined, taxonomy: string | undefined): AreaContext => ({
  areaType: "taxonomy",
  taxonomy,
  recordingId,
});
const PLACED = new Map([
  ["a", { locationId: "leeds" }],
  ["b", { locationId: "york" }],
]);

it("zones go to the location of their recording; what belongs nowhere is left out", () => {
  const rows = [
    context("a", "Tills"),
    context("a", "Door"),
    context("a", "Tills"),
    context("b", " \u202e\n "),
    context("stranger", "Vault"),
    context(undefined, "Vault"),
    context("a", undefined),
  ];
  const zones = zonesByLocation(["leeds", "york"], rows, PLACED);
  expect([...zones].map(([id, byRecording]) => [id, [...byRecording]])).toEqual([
    ["leeds", [["a", ["Tills", "Door"]]]],
    ["york", []],
  ]);
});

it("zones are bounded, in number and in length", () => {
  const rows = Array.from({ length: 100 }, (_, i) => context("a", `${i} ${"x".repeat(9_000)}`));
  const known = zonesByLocation(["leeds"], rows, PLACED).get("leeds")?.get("a") ?? [];
  expect(known).toHaveLength(20);
  expect(Math.max(...known.map((zone) => zone.length))).toBe(200);
});

const row = (index: string | undefined, entries: number | undefined, location?: string) => ({
  index,
  location,
  values: { entries },
});

it("days without a count, outside the weeks asked for or at another place are none", () => {
  const period = { start: Date.UTC(2026, 9, 23, 23), end: Date.UTC(2026, 10, 20) };
  const rows = [
    row("2026-10-30T00:00:00.000", 10, "leeds"),
    row("2026-11-06T00:00:00.000", 20, "leeds"),
    row("2026-11-13T00:00:00.000", undefined, "leeds"),
    row("2026-11-20T00:00:00.000", 1, "leeds"),
    row("2026-10-23T00:00:00.000", 1, "leeds"),
    row("2026-11-13T00:00:00.000", 90, "bath"),
    row("2026-11-13 or so", 90, "leeds"),
    row(undefined, 90, "leeds"),
    row("2026-11-13T00:00:00.000", -5, "leeds"),
    row("2026-11-13T00:00:00.000", 1e300, "leeds"),
  ];
  const fridayOf = (all: typeof rows) =>
    usualByLocation(["leeds", "york"], all, period, "Europe/London").get("leeds")?.[4];
  expect(fridayOf(rows)).toBeUndefined();
  expect(fridayOf([...rows, row("2026-11-13T00:00:00.000", 30, "leeds")])).toBe(20);
});

it("rows that name no place are those of the only one asked for", () => {
  const period = { start: Date.UTC(2026, 9, 23), end: Date.UTC(2026, 10, 20) };
  const rows = ["2026-10-30", "2026-11-06", "2026-11-13"].map((day) => row(`${day}T00:00:00.000`, 7));
  expect(usualByLocation(["leeds"], rows, period, "UTC").get("leeds")?.[4]).toBe(7);
  expect(usualByLocation(["leeds", "york"], rows, period, "UTC").get("leeds")?.[4]).toBeUndefined();
});

it.each([
  "Australia/Sydney",
  "America/New_York",
  "Europe/London",
  "Asia/Kolkata",
  "America/St_Johns",
  "Pacific/Auckland",
])("days of %s are of the same weekday, their midnight written in local time or in UTC", (zone) => {
  const end = DateTime.fromISO("2026-11-20", { zone });
  const days = Array.from({ length: 56 }, (_, i) => end.minus({ days: i + 1 }));
  const period = { start: end.minus({ weeks: 8 }).toMillis(), end: end.toMillis() };
  const usual = (indexOf: (day: DateTime) => string | null) =>
    usualByLocation(
      ["leeds"],
      days.map((day) => row(indexOf(day) ?? "", day.weekday, "leeds")),
      period,
      zone,
    );
  const weekdays = new Map([["leeds", [1, 2, 3, 4, 5, 6, 7]]]);
  expect(usual((day) => day.toFormat("yyyy-MM-dd'T'HH:mm:ss.SSS"))).toEqual(weekdays);
  expect(usual((day) => day.toUTC().toFormat("yyyy-MM-dd'T'HH:mm:ss.SSS"))).toEqual(weekdays);
  expect(usual((day) => day.toUTC().toISO())).toEqual(weekdays);
});

describeWithRedis("reading zones and usual entries", () => {
  const testStore = useTestStore();

  function watching(locations = ["leeds", "york"]) {
    const { store } = testStore();
    const clock = { at: NOW };
    const asked: EntriesQuery[] = [];
    const stopping = new AbortController();
    const service = { broken: undefined as Error | undefined, zone: "Tills" };
    const state = {
      sweptAt: NOW,
      locations: new Map(),
      recordings: new Map([...PLACED].map(([id, { locationId }]) => [id, { id, locationId } as never])),
    };
    const refresh = createRefreshDetails({
      clock: { now: () => clock.at },
      log: silentLogger,
      service: {
        async areaContexts() {
          if (service.broken) throw service.broken;
          return { contexts: [context("a", service.zone)], dropped: 0 };
        },
        async entries(query) {
          asked.push(query);
          const days = ["2026-10-30", "2026-11-06", "2026-11-13"];
          const segments = query.locations.flatMap((location) =>
            days.map((day) => ({ ...row(`${day}T00:00:00.000`, 1_240, location) }) as never),
          );
          return { segments, summary: undefined, estimates: undefined, units: {}, dropped: 0 };
        },
      },
      store: { ...store, shards: { ...store.shards, read: async () => ({ nonce: "", state }) } },
      assigned: { locations: () => locations },
      locationsPerRequest: 50,
      signal: stopping.signal,
    });
    return { refresh, clock, asked, service, state, stopping, store };
  }

  it("zones are read every time, habits once a day, in weeks of whole local days", async () => {
    const { refresh, clock, asked, service, store } = watching();
    await store.inventory.saveLocations([
      { id: "leeds", name: "Leeds", timezone: "Europe/London" },
      { id: "york", name: "York", timezone: "Australia/Sydney" },
    ]);
    expect(await refresh(0)).toBe("done");
    expect((await store.zones.read(["leeds"])).get("leeds")?.get("a")).toEqual(["Tills"]);
    expect((await store.usualEntries.read(["york"])).get("york")?.weekdays[4]).toBe(1_240);
    expect(
      asked.map(({ locations, start, end }) => [locations, new Date(start).toJSON(), new Date(end ?? 0).toJSON()]),
    ).toEqual([
      [["leeds"], "2026-09-24T23:00:00.000Z", "2026-11-20T00:00:00.000Z"],
      [["york"], "2026-09-25T14:00:00.000Z", "2026-11-20T13:00:00.000Z"],
    ]);
    service.zone = "Door";
    clock.at += HOUR;
    await refresh(0);
    expect((await store.zones.read(["leeds"])).get("leeds")?.get("a")).toEqual(["Door"]);
    expect(asked).toHaveLength(2);
    clock.at += DAY;
    await refresh(0);
    expect(asked).toHaveLength(4);
  });

  it("a few locations are one question", async () => {
    const { refresh, asked } = watching(Array.from({ length: 12 }, (_, i) => `loc-${i}`));
    await refresh(0);
    expect(asked.map(({ locations }) => locations.length)).toEqual([5, 5, 2]);
  });

  it("a failure keeps what was known and is noted", async () => {
    const { refresh, service, store } = watching();
    await refresh(0);
    service.broken = new Error("No answer.");
    expect(await refresh(0)).toBe("failed");
    expect((await store.zones.read(["leeds"])).get("leeds")?.get("a")).toEqual(["Tills"]);
    expect((await store.shards.attempts()).get("details:0")).toMatchObject({ error: "No answer." });
    service.broken = undefined;
    expect(await refresh(0)).toBe("done");
  });

  it("habits are read where zones cannot be", async () => {
    const { refresh, service, store } = watching();
    service.broken = new Error("No such route.");
    expect(await refresh(0)).toBe("failed");
    expect((await store.usualEntries.read(["leeds"])).size).toBe(1);
  });

  it("a shard that was not swept yet is not asked for, and one without locations needs nothing", async () => {
    const { refresh, state, asked } = watching();
    state.sweptAt = 0;
    expect(await refresh(0)).toBe("not_swept");
    const empty = watching([]);
    expect(await empty.refresh(0)).toBe("done");
    expect(asked.length + empty.asked.length).toBe(0);
  });

  it("is broken off between two questions", async () => {
    const { refresh, asked, stopping, store } = watching();
    stopping.abort();
    expect(await refresh(0)).toBe("failed");
    expect(asked).toEqual([]);
    expect((await store.zones.read(["leeds"])).size).toBe(0);
  });
});
