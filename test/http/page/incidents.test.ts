import { describe, expect, test } from "vitest";
import type { Incident } from "../../../src/store/incidents.ts";
import { NOW } from "../../metrics/fleets.ts";
import { pageOf } from "./fleet.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function incident(
  id: string,
  hoursAgo: number,
  lastedMs: number | undefined,
  differing: Partial<Incident> = {},
): Incident {
  const startsAt = NOW - hoursAgo * HOUR;
  return {
    id,
    ruleId: "RecordingOffline",
    alertname: "RecordingOffline",
    fingerprint: "00112233445566aa",
    subject: { kind: "recording", id: "till-3" },
    locationId: "leeds",
    startsAt,
    endsAt: lastedMs === undefined ? undefined : startsAt + lastedMs,
    endReason: lastedMs === undefined ? undefined : "recovered",
    ...differing,
  };
}

const shoes = { subject: { kind: "recording", id: "shoes" }, locationId: "york" } as const;
const all = [
  incident("brief", 3, 30_000),
  incident("long", 20, 5 * HOUR, {
    ...shoes,
    alertname: "=LowUptime",
    uncounted: { estimate: 312, low: 264, high: 369 },
  }),
  incident("open", 1, undefined, shoes),
  incident("service", 30, MINUTE, {
    subject: { kind: "service", id: "analytics" },
    locationId: undefined,
    alertname: "ServiceUnreachable",
    fingerprint: undefined,
  }),
];

async function page(path: string, incidents = all) {
  const asked: number[] = [];
  const since = async (at: number) => {
    asked.push(at);
    return incidents.filter(({ endsAt = NOW }) => endsAt >= at);
  };
  return { asked, ...(await pageOf(path, { incidents: since })) };
}

describe("GET /incidents", () => {
  test("shows what happened and where, with seconds where it was brief, and leads to each alert", async () => {
    const { shown, links, asked } = await page("/incidents");
    expect(shown).toEqual(
      expect.arrayContaining([
        "4 incidents",
        "RecordingOffline | Shoes York | began 11:00 UTC | | lasted 1 h | | not over",
        "RecordingOffline | Till 3 Leeds Briggate | began 09:00:00 UTC | ended 09:00:30 UTC | lasted 30 s | | recovered",
        "ServiceUnreachable | the service | began Fri 30 Jan 06:00:00 UTC | ended Fri 30 Jan 06:01:00 UTC | lasted 1 m | | recovered",
        expect.stringContaining("lasted 5 h | visits uncounted about 310 (260–370) | recovered"),
      ]),
    );
    expect(links.get("RecordingOffline")).toBe("./alerts/00112233445566aa");
    expect(asked).toEqual([NOW - 7 * 24 * HOUR]);
  });

  test.each([
    ["q=york", 2],
    ["q=till", 1],
    ["rule=ServiceUnreachable", 1],
    ["days=1", 3],
    ["q=nowhere", 0],
  ])("?%s shows %i", async (query, expected) => {
    const { shown } = await page(`/incidents?${query}`);
    expect(shown).toContain(expected === 1 ? "1 incident" : `${expected} incidents`);
  });

  test("can begin with the longest, and pages them", async () => {
    const many = Array.from({ length: 130 }, (_, i) => incident(`i${i}`, 4 + i / 100, (i + 1) * MINUTE));
    const { links, shown } = await page("/incidents?sort=longest", many);
    expect(shown.find((line) => line.includes("lasted"))).toContain("lasted 2 h 10 m");
    const next = links.get("30 more incidents") ?? "";
    expect((await page(next.slice(1), many)).html.match(/recovered/g)).toHaveLength(30);
  });

  test("as CSV has the same rows, and no formulas", async () => {
    const { headers, html } = await page("/incidents.csv?q=york&sort=longest");
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(headers.get("content-disposition")).toBe('attachment; filename="incidents.csv"');
    expect(html.split("\n")).toEqual([
      expect.stringContaining('"alertname","location","location_id","recording"'),
      `"'=LowUptime","York","york","Shoes","shoes","2026-01-30T16:00:00.000Z","2026-01-30T21:00:00.000Z",18000,"recovered",,312,264,369`,
      `"RecordingOffline","York","york","Shoes","shoes","2026-01-31T11:00:00.000Z",,3600,,,,,`,
      "",
    ]);
  });

  test("says that outages which last are not estimated at so many locations", async () => {
    const lasting = (n: number) =>
      Array.from({ length: n }, (_, i) => incident(`i${i}`, 1, undefined, { ...shoes, locationId: `l${i}` }));
    const said = async (incidents: typeof all) => (await page("/incidents", incidents)).shown.join("\n");
    const words = "What outages that last cost in visits is not estimated: they are at more than 100 locations.";
    expect(await said([...all, ...lasting(101)])).toContain(words);
    const uncounted = { estimate: 9, low: 8, high: 10 };
    expect(await said([...all, ...lasting(99)])).not.toContain(words);
    expect(await said(lasting(101)), "where counts are not read").not.toContain(words);
    expect(await said([...lasting(101), incident("known", 1, undefined, { ...shoes, uncounted })])).not.toContain(
      words,
    );
  });
});

describe("the overview", () => {
  test("shows what ended in the last 24 hours, outages within one of their location with it", async () => {
    const whole = incident("whole", 2, HOUR, {
      alertname: "LocationOffline",
      subject: { kind: "location", id: "york" },
    });
    const york = { ...whole, locationId: "york" };
    const within = incident("within", 2, HOUR, { ...shoes, alertname: "Within" });
    const { shown, links, asked } = await page("/", [...all, york, within]);
    const from = shown.slice(shown.indexOf("What happened in the last 24 hours"));
    expect(from.filter((line) => line.includes("lasted")).map((line) => line.split(" | ")[0])).toEqual([
      "LocationOffline",
      "RecordingOffline",
      "=LowUptime",
    ]);
    expect(links.get("4 ended, all incidents")).toBe("./incidents?days=1");
    expect(asked).toEqual([NOW - 24 * HOUR]);
  });

  test("says nothing where nothing ended", async () => {
    expect((await page("/", [])).shown).not.toContain("What happened in the last 24 hours");
  });
});
