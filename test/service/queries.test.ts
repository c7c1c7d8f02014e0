import { describe, expect, it } from "vitest";
import {
  areaContextsRequest,
  areaDataRequest,
  averageDwellTimeRequest,
  conversionRateRequest,
  entriesRequest,
  recordingUptimeRequest,
  statusRequest,
  uptimesRequest,
} from "../../src/service/queries.ts";

const period = { start: Date.UTC(2026, 0, 1), end: Date.UTC(2026, 1, 1), locations: ["shop"] };
describe("a metric question", () => {
  it("and those on entities are as in the contract", async () => {
    const summary = { ...period, facets: ["summary"] } as const;
    const split = { age: ["25_34"], gender: true, entity: true } as const;
    const entities = { entities: ["a"], entityType: "recording" } as const;
    const requests = [
      entriesRequest({ ...period, facets: ["segments", "summary"], aggregationPeriod: "day", breakdown: split }),
      areaDataRequest({ ...summary, taxonomies: ["A:B:C", "A:B:D"], breakdown: { taxonomy: true, role: ["staff"] } }),
      averageDwellTimeRequest(summary),
      conversionRateRequest(summary),
      statusRequest(entities),
      areaContextsRequest(entities),
    ];
    await expect(`${requests.map((one) => JSON.stringify(one)).join("\n")}\n`).toMatchFileSnapshot("requests.txt");
  });

  it.each([
    ["without locations", { locations: [] }, "locations"],
    ["with an empty id", { locations: [""] }, "locations"],
    ["without facets", { facets: [] }, "facets"],
    ["that ends before it starts", { end: 0 }, "before end"],
    ["with a time that is none", { end: Number.POSITIVE_INFINITY }, "instants"],
    ["with an empty filter", { breakdown: { gender: [] } }, "genders"],
    ["with an age of another shape", { breakdown: { age: ["young"] } }, "25_34"],
  ])("%s is refused before anything is sent", (_, over, why) => {
    const ask = () => entriesRequest({ ...period, facets: ["summary"], ...over });
    expect(ask).toThrow(expect.objectContaining({ code: "bad_request", retryable: false }));
    expect(ask).toThrow(why);
  });

  it("may leave its end out", () => {
    const { end: _, ...open } = period;
    const { body } = entriesRequest({ ...open, facets: ["summary"] });
    expect(body).toMatchObject({ start: new Date(period.start).toISOString() });
    expect(body).not.toHaveProperty("end");
  });

  it("has segments only where the contract shows them", () => {
    // @ts-expect-error: dwell over a location has a summary alone
    averageDwellTimeRequest({ ...period, facets: ["segments"] });
    // @ts-expect-error: so have sales
    conversionRateRequest({ ...period, facets: ["segments"] });
    areaDataRequest({ ...period, facets: ["segments"], taxonomies: ["A:B:C"] });
  });

  it("on zones is refused without any", () => {
    expect(() => areaDataRequest({ ...period, facets: ["summary"], taxonomies: [] })).toThrow("taxonomies");
  });
});

describe("an uptime request", () => {
  const days = { start: "2026-01-01", end: "2026-01-02" };

  it("names its recordings, or asks for all of them", () => {
    expect(uptimesRequest(days).json).toEqual(days);
    expect(uptimesRequest({ ...days, recids: ["a"] }).json).toEqual({ ...days, recids: ["a"] });
  });

  it("cannot leave its path", () => {
    expect(recordingUptimeRequest("../x?y", days).path).toBe(
      "/v1/recording/..%2Fx%3Fy/uptime?start=2026-01-01&end=2026-01-02",
    );
  });

  it.each([
    () => uptimesRequest({ start: "2026-01-01T00:00:00.000Z", end: "2026-01-02" }),
    () => uptimesRequest({ start: "2026-02-30", end: "2026-03-02" }),
    () => uptimesRequest({ start: "2026-01-03", end: "2026-01-02" }),
    () => uptimesRequest({ ...days, recids: [] }),
    () => recordingUptimeRequest("", days),
    () => recordingUptimeRequest("..", days),
  ])("that the service would refuse or misread is not sent (%#)", (ask) => {
    expect(ask).toThrow(expect.objectContaining({ code: "bad_request" }));
  });
});
