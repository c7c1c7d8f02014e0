/** Requests and rows of a query, against a service of the test's own. */
import { describe, expect, test } from "vitest";
import type { Location, Recording, UptimeBucket } from "../../src/health/recording.ts";
import { type QueryOptions, type QueryRoute, toAsk } from "../../src/query/ask.ts";
import { type QueryDeps, runQuery } from "../../src/query/query.ts";

const NOW = Date.parse("2026-11-22T10:30:00Z");
const places: Location[] = [
  { id: "b", name: "Paris", timezone: "Europe/Paris" },
  { id: "a", name: "Leeds", timezone: "Europe/London" },
  { id: "c", name: undefined, timezone: undefined },
];
const recording = (id: string, locationId: string): Recording => ({
  ...{ id, locationId, name: `Door ${id}`, organisation: "org", cameraServer: "edge-1" },
  ...{ useUploadingSchedule: true, timezone: "Europe/London" },
});
const recordings = [recording("r1", "a"), recording("r2", "a"), recording("r3", "b")];
const row = (location: string | undefined, value: number | undefined, more: object = {}) => ({
  ...{ index: undefined, location, taxonomy: undefined, age: undefined, gender: undefined, role: undefined },
  values: { entries: value, area_total_entries: value, average_dwell_time: value, sales_conversion_rate: value },
  ...more,
});

/** Of other routes, which the fake row has too. */
const others = { areaTotalEntries: 1, averageDwellTime: 1, salesConversionRate: 1 };

type Fake = Partial<Record<keyof QueryDeps["service"], (query: never) => unknown>>;

function asking(answers: Fake, differing: Partial<QueryDeps> = {}) {
  const asked: (readonly [string, Record<string, unknown>])[] = [];
  const service = new Proxy({} as QueryDeps["service"], {
    get: (_, name: keyof Fake) => async (query: never, days?: object) => {
      asked.push([name, typeof query === "string" ? { id: query, ...days } : query]);
      return answers[name]?.(query);
    },
  });
  const deps: QueryDeps = {
    ...{ service, now: NOW, locationsPerRequest: 50, mostRows: 1_000, attempt: (request) => request() },
    signal: new AbortController().signal,
    directory: {
      locations: async () => places,
      recordings: async ({ locations }) => recordings.filter(({ locationId }) => locations.includes(locationId)),
    },
    ...differing,
  };
  const ask = (route: QueryRoute, options: QueryOptions = {}) => runQuery(toAsk(route, options, NOW), deps);
  return { ask, asked };
}

const entries = (rows: object[], facet = "summary") => ({
  [facet]: rows,
  units: { entries: "peopleCount" },
  dropped: 0,
});

test("rows are by location in the order of names, with the service's units; null is no data, never 0", async () => {
  const { ask } = asking({ entries: () => entries([row("a", undefined), row("b", 0)]) });
  expect(await ask("entries", { location: ["Leeds", "Paris"], timezone: "UTC" })).toEqual({
    columns: ["locationId", "location", "entries"],
    items: [
      expect.objectContaining({ locationId: "a", location: "Leeds", entries: null }),
      expect.objectContaining({ locationId: "b", location: "Paris", entries: 0 }),
    ],
    units: { entries: "peopleCount" },
    dropped: 0,
  });
});

test("a dimension that the service leaves out is null", async () => {
  const { ask } = asking({ entries: () => entries([row("a", 1, { age: "25_34" })]) });
  const { items } = await ask("entries", { location: ["a"], by: ["age", "role"] });
  expect(items).toEqual([{ locationId: "a", location: "Leeds", age: "25_34", role: null, entries: 1, ...others }]);
});

test("locations of one zone share a request, and each zone has its own midnight", async () => {
  const { ask, asked } = asking({ entries: () => entries([]) });
  await ask("entries", { from: "2026-11-20", to: "2026-11-20" });
  expect(asked.map(([, { locations, start }]) => [locations, new Date(Number(start)).toISOString()])).toEqual([
    [["c"], "2026-11-20T00:00:00.000Z"],
    [["a"], "2026-11-20T00:00:00.000Z"],
    [["b"], "2026-11-19T23:00:00.000Z"],
  ]);
  asked.length = 0;
  await ask("entries", { timezone: "UTC", from: "2026-11-20" });
  expect(asked.map(([, { locations }]) => locations)).toEqual([["c", "a", "b"]]);
});

test("a location without a time zone has that of its recordings, for days of figures and of uptime", async () => {
  const tokyo = { ...recording("r9", "c"), timezone: "Asia/Tokyo" };
  const directory = { locations: async () => places, recordings: async () => [tokyo] };
  const { ask, asked } = asking(
    { entries: () => entries([]), recordingUptime: () => ({ recording: tokyo, buckets: [] }) },
    { directory, now: NOW + 8 * 3_600_000 },
  );
  await ask("entries", { location: ["c"], from: "2026-11-20", to: "2026-11-20" });
  expect(new Date(Number(asked[0]?.[1].start)).toISOString()).toBe("2026-11-19T15:00:00.000Z");
  await ask("uptime", { recording: ["r9"], from: "today" });
  expect(asked[1]).toEqual(["recordingUptime", { id: "r9", start: "2026-11-23", end: "2026-11-23" }]);
});

test("a reply about other locations, or about none where several are asked for, is counted as not read", async () => {
  const { ask } = asking({ entries: () => entries([row("z", 5), row(undefined, 5), row("a", 1)]) });
  expect(await ask("entries", { timezone: "UTC" })).toMatchObject({ items: [{ locationId: "a" }], dropped: 2 });
  expect(await ask("entries", { location: ["a"] })).toMatchObject({
    items: [{ entries: 5 }, { entries: 1 }],
    dropped: 1,
  });
});

test.each([
  ["day", "2026-11-19T23:00:00.000", "2026-11-20"],
  ["day", "2026-11-20T00:00:00.000", "2026-11-20"],
  ["month", "2026-10-31T23:00:00.000", "2026-11"],
])("a segment of a %s at %s is of %s", async (every, index, shown) => {
  const { ask, asked } = asking({ entries: () => entries([row("b", 1, { index })], "segments") });
  const { items } = await ask("entries", { location: ["Paris"], every });
  expect(items).toMatchObject([{ [every]: shown, entries: 1 }]);
  expect(asked[0]?.[1]).toMatchObject({ facets: ["segments"], aggregationPeriod: every });
});

test("dwell and conversion, which have no segments, are requested once a day", async () => {
  const { ask, asked } = asking({ conversionRate: () => entries([row("a", 0.5)]) });
  const { items } = await ask("conversion", { location: ["a"], from: "2026-10-24", to: "2026-10-26", every: "day" });
  expect(items.map(({ day }) => day)).toEqual(["2026-10-24", "2026-10-25", "2026-10-26"]);
  const hours = asked.map(([, { start, end }]) => (Number(end) - Number(start)) / 3_600_000);
  expect(hours, "clocks go back on the second day").toEqual([24, 25, 24]);
  await expect(ask("dwell", { location: ["a"], from: "500d", every: "day" })).rejects.toMatchObject({
    code: "too_much",
  });
});

test("a week, which is no segment either, is one request for its days that are asked for", async () => {
  const { ask, asked } = asking({ entries: () => entries([row("a", 7)]) });
  const { items } = await ask("entries", { location: ["a"], from: "2026-10-21", to: "2026-10-27", every: "week" });
  expect(items).toMatchObject([
    { week: "2026-W43", entries: 7 },
    { week: "2026-W44", entries: 7 },
  ]);
  const days = asked.map(([, { start, end }]) => (Number(end) - Number(start)) / 86_400_000);
  expect(days, "the first begins on a Wednesday, and in it clocks go back").toEqual([5 + 1 / 24, 2]);
  expect(asked[0]?.[1]).toMatchObject({ facets: ["summary"] });
  expect(asked[0]?.[1]).not.toHaveProperty("aggregationPeriod");
});

describe("zones", () => {
  const contexts = ["Ground:Entrance:Door", "Ground:Service:Tills"].map((taxonomy) => ({
    ...{ areaType: "taxonomy", taxonomy, recordingId: "r1" },
  }));
  const answers = {
    areaContexts: () => ({ contexts, dropped: 0 }),
    areaData: ({ taxonomies }: { taxonomies: string[] }) =>
      entries(taxonomies.map((taxonomy) => row("a", 7, { taxonomy, age: "25_34" }))),
  };

  test("are all of the location, or those named in full or by their last part", async () => {
    const { ask, asked } = asking(answers);
    const all = await ask("zones", { location: ["a"], by: ["age"] });
    expect(all.items.map(({ zone, age }) => [zone, age])).toEqual(contexts.map(({ taxonomy }) => [taxonomy, "25_34"]));
    expect((await ask("zones", { location: ["a"], zone: ["tills"] })).items).toMatchObject([
      { zone: "Ground:Service:Tills" },
    ]);
    expect(asked.at(-1)?.[1]).toMatchObject({ breakdown: { entity: true, taxonomy: true } });
  });

  test("that no location has are refused with those that are near", async () => {
    const refused = asking(answers).ask("zones", { zone: ["tilly"] });
    await expect(refused).rejects.toMatchObject({ code: "unknown_name", message: expect.stringContaining("Tills") });
  });

  test("of recordings are listed with both names", async () => {
    const { items } = await asking(answers).ask("areas", { location: ["a"] });
    expect(items[0]).toEqual({
      ...{ locationId: "a", location: "Leeds", recordingId: "r1", recording: "Door r1" },
      ...{ areaType: "taxonomy", zone: "Ground:Entrance:Door" },
    });
    const nobodys = [{ areaType: "taxonomy", taxonomy: undefined, recordingId: undefined }];
    const bare = asking({ areaContexts: () => ({ contexts: nobodys, dropped: 0 }) });
    expect((await bare.ask("areas", { location: ["a"] })).items).toEqual([
      { locationId: null, location: null, recordingId: null, recording: null, areaType: "taxonomy", zone: null },
    ]);
  });
});

test("a request is for so few locations that its reply has a bounded number of rows, and too long answers are refused", async () => {
  const { ask, asked } = asking({ entries: () => entries([], "segments") }, { mostRows: 20_000 });
  const splits = { by: ["age,gender"], every: "day", timezone: "UTC" };
  await ask("entries", { ...splits, from: "50d" });
  expect(asked.map(([, { locations }]) => locations)).toEqual([["c", "a"], ["b"]]);
  await expect(ask("entries", { ...splits, from: "1500d" })).rejects.toMatchObject({ code: "too_much" });
  const full = asking({ entries: () => entries(Array.from({ length: 9 }, () => row("a", 1))) }, { mostRows: 8 });
  await expect(full.ask("entries")).rejects.toMatchObject({ code: "too_much" });
});

test("estimates are printed as served, with names; hostile fields stay data", async () => {
  const served = JSON.parse('[{"location":"a","__proto__":"x","low":3,"nested":{"no":1}},null,"text"]');
  served[0].long = "x".repeat(300);
  const { items, columns } = await asking({ entries: () => ({ estimates: served, units: {}, dropped: 0 }) }).ask(
    "entries",
    { ...{ facet: "estimates", location: ["a"] } },
  );
  expect(columns.slice(0, 2)).toEqual(["locationId", "location"]);
  expect(columns).toContain("__proto__");
  expect(items[0]).toMatchObject({ locationId: "a", location: "Leeds", low: 3, long: "x".repeat(200) });
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
});

test("a recording given by its id is not of a location that is asked for without it", async () => {
  const id = "a".repeat(24);
  const directory = { locations: async () => places, recordings: async () => [recording(id, "b")] };
  const refused = asking({}, { directory }).ask("status", { location: ["a"], recording: [id] });
  await expect(refused).rejects.toMatchObject({ code: "unknown_name" });
});

describe("uptime", () => {
  const bucket = (startAt: string, figures: Partial<UptimeBucket> = {}): UptimeBucket => ({
    ...{ startAt: Date.parse(startAt), withinSchedule: true, segmentsExpected: 60, segmentsReceived: 30 },
    ...{ avgUptimeOnSegment: 0.9, pcSegmentsReceived: 0.5, overallUptime: 0.45 },
    ...figures,
  });
  const none = {
    ...{ segmentsExpected: undefined, segmentsReceived: undefined, avgUptimeOnSegment: undefined },
    ...{ pcSegmentsReceived: undefined, overallUptime: undefined },
  };
  const buckets = [
    bucket("2026-11-20T09:00Z"),
    bucket("2026-11-20T10:00Z", { segmentsReceived: 60, avgUptimeOnSegment: 1, overallUptime: 1 }),
    bucket("2026-11-20T11:00Z", { withinSchedule: false, segmentsReceived: 0 }),
    bucket("2026-11-21T09:00Z", none),
  ];
  const results = (ids: readonly string[]) =>
    ids.map((id) => ({ recording: recordings.find((one) => one.id === id) ?? recording(id, "a"), buckets }));
  const answers = {
    statusUptime: () => ({ readings: [{ recordingId: "r1" }, { recordingId: "r2" }], unreadable: [], unidentified: 0 }),
    uptimes: ({ recids }: { recids: string[] }) => ({ results: results(recids), dropped: 0 }),
    recordingUptime: (id: string) => results([id])[0],
  };

  test("of several recordings is one request, that of one recording its own; both take whole days", async () => {
    const days = { start: "2026-11-20", end: "2026-11-21" };
    const { ask, asked } = asking(answers);
    await ask("uptime", { location: ["a"], from: days.start, to: days.end });
    expect(asked.at(-1)).toEqual(["uptimes", { ...days, recids: ["r1", "r2"] }]);
    await ask("uptime", { recording: ["Door r2"], from: days.start, to: days.end });
    expect(asked.at(-1)).toEqual(["recordingUptime", { ...days, id: "r2" }]);
  });

  test("of a recording at a location that is not listed is asked for all the same", async () => {
    const directory = { locations: async () => [], recordings: async () => recordings };
    const { ask, asked } = asking(answers, { directory });
    const { items } = await ask("uptime", { recording: ["Door r2"] });
    expect(asked.at(-1)).toMatchObject(["recordingUptime", { id: "r2" }]);
    expect((await ask("uptime", { recording: ["Door r1", "Door r2"] })).items).toHaveLength(2);
    expect(items).toMatchObject([{ locationId: "a", location: "a", recording: "Door r2" }]);
  });

  test("is summed within the schedule, and the figures multiply; what has no data is null", async () => {
    const { ask } = asking(answers);
    const { items } = await ask("uptime", { recording: ["Door r1"], every: "day" });
    expect(items).toMatchObject([
      { day: "2026-11-20", segmentsExpected: 120, segmentsReceived: 90, pcSegmentsReceived: 0.75 },
      {
        day: "2026-11-21",
        segmentsExpected: null,
        pcSegmentsReceived: null,
        avgUptimeOnSegment: null,
        overallUptime: null,
      },
    ]);
    const [day] = items;
    expect(Number(day?.avgUptimeOnSegment) * Number(day?.pcSegmentsReceived)).toBeCloseTo(Number(day?.overallUptime));
    expect((await ask("uptime", { recording: ["Door r1"], every: "week" })).items).toMatchObject([
      { week: "2026-W47", segmentsExpected: 120, segmentsReceived: 90 },
    ]);
    const hours = await ask("uptime", { recording: ["Door r1"], every: "hour" });
    expect(hours.items).toHaveLength(4);
    expect(hours.items[2]).toMatchObject({
      hour: "2026-11-20T11:00:00.000Z",
      withinSchedule: false,
      overallUptime: 0.45,
    });
  });
});

test("the status names its location from the fleet where the service leaves it out", async () => {
  const reading = {
    recordingId: "r3",
    locationId: undefined,
    status: "online",
    lastSeenAt: NOW,
    averageQuality: undefined,
  };
  const { ask, asked } = asking({ statusUptime: () => ({ readings: [reading], unreadable: ["x"], unidentified: 0 }) });
  const { items, dropped } = await ask("status", { recording: ["Door r3"] });
  expect(asked).toEqual([["statusUptime", { entities: ["r3"], entityType: "recording" }]]);
  expect(items[0]).toMatchObject({
    location: "Paris",
    recording: "Door r3",
    averageQuality: null,
    cameraServer: "edge-1",
  });
  expect(dropped).toBe(1);
});
