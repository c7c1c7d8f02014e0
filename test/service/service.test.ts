/** The client against the simulator: every route, and every way it can go wrong. */
import { describe, expect, it } from "vitest";
import { startBoth } from "./support.ts";

const days = { start: "2026-03-01", end: "2026-03-02" };
const period = { start: Date.UTC(2026, 2, 1), end: Date.UTC(2026, 2, 8) };

async function locationIds(service: Awaited<ReturnType<typeof startBoth>>["service"]) {
  return (await service.locations()).locations.map(({ id }) => id);
}

describe("the service", () => {
  it("returns locations, the status of their recordings and their uptime", async () => {
    const { service, recorder } = await startBoth();
    const ids = await locationIds(service);
    expect(ids).toHaveLength(2);
    const snapshot = await service.statusUptime({ entities: ids, entityType: "location" });
    expect(snapshot).toMatchObject({ unidentified: 0, unreadable: [] });
    expect(snapshot.readings).toHaveLength(6);
    const recids = snapshot.readings.slice(0, 2).map((reading) => reading.recordingId);
    const { results, dropped } = await service.uptimes({ ...days, recids });
    expect(results.map(({ recording }) => recording.id).sort()).toEqual([...recids].sort());
    expect(dropped).toBe(0);
    const one = await service.recordingUptime(recids[0] ?? "", days);
    expect(one).toEqual(results.find(({ recording }) => recording.id === recids[0]));
    expect((await service.uptimes(days)).results).toHaveLength(6);
    expect(recorder.kinds).toEqual([]);
  });

  it("answers every metric and detail route", async () => {
    const { service, recorder } = await startBoth();
    const locations = await locationIds(service);
    const { contexts } = await service.areaContexts({ entities: locations, entityType: "location" });
    expect(contexts[0]).toMatchObject({ areaType: "taxonomy", recordingId: expect.any(String) });
    const taxonomies = [contexts[0]?.taxonomy ?? ""];
    const query = { ...period, locations, facets: ["summary"] } as const;

    const entries = await service.entries({ ...query, facets: ["segments", "summary"], aggregationPeriod: "day" });
    expect(entries.segments).toHaveLength(14);
    expect(entries.segments?.[0]).toMatchObject({ location: locations[0], index: "2026-03-01T00:00:00.000" });
    expect(entries.units).toEqual({ entries: "peopleCount" });
    const area = await service.areaData({ ...query, taxonomies, breakdown: { taxonomy: true } });
    expect(area.summary?.[0]?.values.area_total_entries).toBeGreaterThan(0);
    const dwell = await service.averageDwellTime({ ...query, breakdown: { age: ["25_34"], entity: true } });
    expect(dwell.summary?.map(({ age }) => age)).toEqual(["25_34", "25_34"]);
    const sales = await service.conversionRate(query);
    expect(sales.summary?.map(({ location }) => location).sort()).toEqual([...locations].sort());
    expect(recorder.kinds).toEqual([]);
    expect(recorder.requests.filter((line) => !line.endsWith(" ok"))).toEqual([]);
  });

  it("answers many questions at once, each with its own answer", async () => {
    const { service } = await startBoth({}, { locations: 20 });
    const ids = await locationIds(service);
    const snapshots = await Promise.all(
      ids.map((id) => service.statusUptime({ entities: [id], entityType: "location" })),
    );
    snapshots.forEach(({ readings }, i) => {
      expect(readings.map(({ locationId }) => locationId)).toEqual([ids[i], ids[i], ids[i]]);
    });
  });

  it("refuses a question before anything is sent", async () => {
    const { service, recorder } = await startBoth();
    await expect(service.statusUptime({ entities: [], entityType: "location" })).rejects.toMatchObject({
      code: "bad_request",
    });
    expect(recorder.requests).toEqual(["status_uptime bad_request"]);
  });
});

describe("what the service gets wrong", () => {
  it.each([
    { parts: 3, base: 0, split: "text" },
    { parts: 3, base: 1, split: "arrays", reversed: true },
  ] as const)("a reply in parts is put together: %j", async (how) => {
    const { simulator, service } = await startBoth();
    const entities = await locationIds(service);
    simulator.faults.set("multi_part", how);
    simulator.faults.set("duplicate_frames", { copies: 2 });
    const { readings } = await service.statusUptime({ entities, entityType: "location" });
    expect(readings).toHaveLength(6);
  });

  it.each(["bad_json", "bad_numbers"] as const)("%s fails its own question and no other", async (kind) => {
    const { simulator, service, recorder } = await startBoth();
    const query = { entities: await locationIds(service), entityType: "location" } as const;
    simulator.faults.set("garbage_frames", { kind, times: 1 });
    const answers = await Promise.allSettled([service.statusUptime(query), service.statusUptime(query)]);
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(answers[0]).toMatchObject({ reason: { code: "bad_payload" } });
    expect(recorder.kinds).toHaveLength(1);
    expect(recorder.reconnects()).toBe(0);
  });

  it.each([
    ["no_pipes", "bad_frame"],
    ["unknown_id", "unknown_id"],
  ] as const)("a frame that names no question (%s) is counted, and its question times out", async (kind, counted) => {
    const { simulator, service, recorder } = await startBoth({ config: { requestTimeoutMs: 400 } });
    const query = { entities: await locationIds(service), entityType: "location" } as const;
    simulator.faults.set("garbage_frames", { kind, times: 1 });
    await expect(service.statusUptime(query)).rejects.toMatchObject({ code: "timeout" });
    expect(recorder.kinds).toEqual([counted]);
    await service.statusUptime(query);
  });

  it.each(["error", "errors"] as const)("an object with %s is a failed request", async (key) => {
    const { simulator, service, recorder } = await startBoth();
    const entities = await locationIds(service);
    simulator.faults.set("error_payload", { key });
    const unavailable = { code: "unavailable" };
    await expect(service.statusUptime({ entities, entityType: "location" })).rejects.toMatchObject(unavailable);
    await expect(service.locations()).rejects.toMatchObject(unavailable);
    await expect(service.uptimes(days)).rejects.toMatchObject(unavailable);
    expect(recorder.kinds).toEqual(["error_payload", "error_payload", "error_payload"]);
  });

  it.each([
    [{ status: 500 }, "unavailable", undefined],
    [{ status: 503, retry_after: 7 }, "unavailable", 7_000],
    [{ status: 429, retry_after: 3 }, "rate_limited", 3_000],
    [{ status: 404 }, "bad_request", undefined],
    [{ status: 403 }, "auth", undefined],
  ] as const)("HTTP answered with %j is %s", async (fault, code, retryAfterMs) => {
    const { simulator, service } = await startBoth();
    simulator.faults.set("http_error", { ...fault, endpoint: ["location_list", "status"] });
    const wanted = { code, retryAfterMs };
    await expect(service.locations()).rejects.toMatchObject(wanted);
    await expect(service.checkStatus()).rejects.toMatchObject(wanted);
  });

  it("a connection that is cut is unavailable, and the next request is fine", async () => {
    const { simulator, service } = await startBoth();
    simulator.faults.set("connection_reset", { endpoint: "location_list", times: 1 });
    await expect(service.locations()).rejects.toMatchObject({ code: "unavailable" });
    await service.locations();
  });

  it("an answer that is late is a time-out, over HTTP and the socket", async () => {
    const { simulator, service } = await startBoth({ config: { requestTimeoutMs: 300 } });
    const entities = await locationIds(service);
    simulator.faults.set("slow", { ms: 2_000, endpoint: ["uptimes", "status/uptime"] });
    await Promise.all([
      expect(service.uptimes(days)).rejects.toMatchObject({ code: "timeout", retryable: true }),
      expect(service.statusUptime({ entities, entityType: "location" })).rejects.toMatchObject({ code: "timeout" }),
    ]);
  });

  it("sockets cut under their questions lose none", async () => {
    const { simulator, service, recorder } = await startBoth();
    const query = { entities: await locationIds(service), entityType: "location" } as const;
    await service.statusUptime(query);
    simulator.faults.set("drop_sockets", { times: 2 });
    const { readings } = await service.statusUptime(query);
    expect(readings).toHaveLength(6);
    expect(recorder.reconnects()).toBeGreaterThan(0);
  });
});

describe("a token", () => {
  it("is asked for once and reused, over HTTP and the socket", async () => {
    const { service, recorder } = await startBoth();
    const entities = await locationIds(service);
    await Promise.all([service.uptimes(days), service.statusUptime({ entities, entityType: "location" })]);
    expect(recorder.requests.filter((line) => line.startsWith("token"))).toEqual(["token ok"]);
  });

  it("that is refused twice in one request is an auth error naming the keys to check", async () => {
    const { simulator, service, recorder } = await startBoth();
    const entities = await locationIds(service);
    simulator.faults.set("unauthorized");
    const keys = { code: "auth", message: expect.stringContaining("service.client_id") };
    await expect(service.locations()).rejects.toMatchObject(keys);
    await expect(service.statusUptime({ entities, entityType: "location" })).rejects.toMatchObject(keys);
    expect(recorder.requests.filter((line) => line.startsWith("token"))).toHaveLength(3);
  });

  it("that was refused is not shown again while the issuer gives no other", async () => {
    const { simulator, service } = await startBoth({ random: () => 1 });
    await service.locations();
    simulator.faults.set("unauthorized", { times: 1 });
    simulator.faults.set("token_refused");
    await expect(service.locations()).rejects.toMatchObject({ code: "auth" });
    await expect(service.locations()).rejects.toMatchObject({ code: "auth" });
  });
});
