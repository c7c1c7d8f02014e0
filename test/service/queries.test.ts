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
const base = {
  start: "2026-01-01T00:00:00.000Z",
  end: "2026-02-01T00:00:00.000Z",
  entities: ["shop"],
  entityType: "location",
};

describe("a metric question", () => {
  it("on entries filters by the breakdown's own values", () => {
    const query = {
      ...period,
      facets: ["segments", "summary"],
      aggregationPeriod: "day",
      breakdown: { age: ["25_34"], gender: true, entity: true },
    } as const;
    expect(entriesRequest(query)).toEqual({
      action: "metric",
      route: "entries",
      body: {
        ...base,
        facets: ["segments", "summary"],
        aggregationPeriod: "day",
        breakdownByDimensions: ["age", "gender", "entity"],
        ages: ["25_34"],
      },
    });
  });

  it("on zones names them and splits by them", () => {
    const query = {
      ...period,
      facets: ["summary"],
      taxonomies: ["A:B:C", "A:B:D"],
      breakdown: { taxonomy: true, role: ["staff"] },
    } as const;
    expect(areaDataRequest(query)).toMatchObject({
      route: "area/data",
      body: {
        areaType: "taxonomy",
        taxonomy: ["A:B:C", "A:B:D"],
        breakdownByDimensions: ["taxonomy", "role"],
        roles: ["staff"],
      },
    });
  });

  it("on dwell asks for the dwell over locations, and breaks nothing down unasked", () => {
    expect(averageDwellTimeRequest({ ...period, facets: ["summary"] })).toEqual({
      action: "metric",
      route: "average-dwell-time",
      body: { ...base, facets: ["summary"], areaType: "location-dwell" },
    });
  });

  it("on conversion is by entity, always", () => {
    expect(conversionRateRequest({ ...period, facets: ["summary"] })).toEqual({
      action: "metric",
      route: "transactions/conversion-rate",
      body: { ...base, facets: ["summary"], breakdownByDimensions: ["entity"] },
    });
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

it("asks for the status and the zones of entities", () => {
  const query = { entities: ["a"], entityType: "recording" } as const;
  expect(statusRequest(query)).toEqual({ action: "status", route: "status/uptime", body: query });
  expect(areaContextsRequest(query)).toEqual({
    action: "detail",
    route: "detail/list",
    body: { returnEntityType: "area_context", ...query },
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
