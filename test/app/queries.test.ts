/** `/api/v1/query/…` of a daemon: names as it knows them, and limits that protect its sweeps and the service. */
import { expect, onTestFinished, test, vi } from "vitest";
import { incidentsSince, readSince } from "../../src/app/http-deps.ts";
import { createQueries } from "../../src/app/queries.ts";
import type { Setup } from "../../src/app/setup.ts";
import { type Service, ServiceError } from "../../src/service/service.ts";
import { serve } from "../http/serve.ts";
import { fleetOf, NOW, recordingState } from "../metrics/fleets.ts";
import { anAlert } from "../support/fixtures.ts";

const fleet = fleetOf({
  recordings: [recordingState("rec-1"), recordingState("rec-2", { locationId: "loc-2" })],
  locations: [{ id: "loc-1", name: "Leeds" }],
});

async function start(service: Partial<Service>, endpointsDown: () => string[] = () => []) {
  const setup = { service, engine: { fleet: async () => fleet }, config: { watch: { locationsPerRequest: 50 } } };
  const deps = { clock: { now: () => NOW }, setup: () => setup as unknown as Setup, endpointsDown };
  return serve({ query: createQueries(deps) });
}

const entries: Service["entries"] = async ({ locations }) => ({
  ...{ segments: undefined, estimates: undefined, units: {}, dropped: 0 },
  summary: locations.map((location, n) => ({
    ...{ index: undefined, location, taxonomy: undefined, age: undefined, gender: undefined, role: undefined },
    values: { entries: n },
  })),
});

test("locations and recordings are those watched, by the names the daemon knows, without a request for them", async () => {
  const { json } = await start({ entries });
  expect(await json("/api/v1/query/entries?location=LEEDS&timezone=UTC")).toMatchObject({
    status: 200,
    body: {
      columns: ["locationId", "location", "entries"],
      items: [{ locationId: "loc-1", location: "Leeds", entries: 0 }],
    },
  });
  const { body } = await json("/api/v1/query/locations");
  expect(body).toMatchObject({ items: [{ locationId: "loc-1" }, { locationId: "loc-2", timezone: null }] });
});

test.each([
  ["entries?location=Leds", 400, /no location .*"Leds".*Leeds/],
  ["entries?by=colour", 400, /by "colour"/],
  ["conversion?only=age%3D25_34", 400, /sales carry no visitor attributes/],
  ["turnover", 404, /entries, zones/],
])("%s is answered %i with the next step", async (path, status, message) => {
  const answer = await (await start({ entries })).json(`/api/v1/query/${path}`);
  expect(answer).toMatchObject({ status, body: { error: { message: expect.stringMatching(message) } } });
});

test("a third query at once is answered 429 with Retry-After, and one that ended makes room", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  onTestFinished(() => release());
  let asked = 0;
  const { promise: bothAsked, resolve } = Promise.withResolvers<void>();
  const slow: Service["entries"] = async (query) => {
    if (++asked === 2) resolve();
    await released;
    return entries(query);
  };
  const { get } = await start({ entries: slow });
  const path = "/api/v1/query/entries?timezone=UTC";
  const running = [get(path), get(path)];
  await bothAsked;
  const refused = await get(path);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
  expect(asked).toBe(2);
  release();
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await get(path)).status).toBe(200);
});

test("while the service does not answer, nothing is requested", async () => {
  const { json } = await start({ entries: () => expect.unreachable() }, () => ["status_uptime"]);
  expect(await json("/api/v1/query/entries")).toMatchObject({
    status: 503,
    body: { error: { code: "unavailable", message: expect.stringContaining("status_uptime") } },
  });
});

test("a service that fails is a 503 with its reason, and frees its place", async () => {
  const failing = async () => {
    throw new ServiceError("rate_limited", "too many requests");
  };
  const { json } = await start({ entries: failing });
  for (let n = 0; n < 4; n++)
    expect(await json("/api/v1/query/entries")).toMatchObject({
      status: 503,
      body: { error: { message: "too many requests" } },
    });
});

test("incidents that last are listed without what they cost where estimating that takes long", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const visits = { estimate: 310, low: 260, high: 370 };
  const listed = async (of: () => Promise<unknown>) => {
    const store = { incidents: { endedSince: async () => [] }, shards: { alerts: async () => [anAlert()] } };
    const setup = { engine: { uncounted: { of } }, config: { maintenance: [] } } as unknown as Setup;
    const runtime = { store, clock: { now: () => NOW } } as unknown as Parameters<typeof incidentsSince>[0];
    const reading = incidentsSince(runtime, setup, 0);
    await vi.advanceTimersByTimeAsync(1_000);
    return (await reading).map(({ uncounted }) => uncounted);
  };
  expect(await listed(async () => new Map([[anAlert().id, visits]]))).toEqual([visits]);
  expect(await listed(() => new Promise(() => {}))).toEqual([undefined]);
});

test("counts are as old as those of the shard that was read longest ago", async () => {
  const [shard0, shard2] = [
    { goodAt: NOW, attemptedAt: NOW },
    { goodAt: NOW - 60_000, attemptedAt: NOW, error: "no" },
  ];
  const stored = new Map(Object.entries({ "counts:0": shard0, "counts:1": { goodAt: 0, attemptedAt: NOW } }));
  stored.set("counts:2", shard2);
  const attemptsOf = async (ids: readonly string[]) => new Map([...stored].filter(([id]) => ids.includes(id)));
  const shards = { attemptsOf } as Parameters<typeof readSince>[0]["shards"];
  expect(await readSince({ shards }, "counts", [0, 1, 2])).toBe(NOW - 60_000);
  expect(await readSince({ shards }, "counts", [1])).toBeUndefined();
});
