import { describe, expect, test } from "vitest";
import { episodeOf, incidentsOf } from "../../../src/alerting/incident.ts";
import type { StoredEpisode } from "../../../src/store/episodes.ts";
import { NOW } from "../../metrics/fleets.ts";
import { anEpisode } from "../../support/fixtures.ts";
import { alertOf, pageOf } from "./fleet.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function incident(
  id: string,
  hoursAgo: number,
  lastedMs: number | undefined,
  differing: Partial<StoredEpisode> = {},
): StoredEpisode {
  const startsAt = NOW - hoursAgo * HOUR;
  const of = { problem: "offline", subject: { kind: "recording", id: "till-3" }, locationId: "leeds" } as const;
  const endsAt = lastedMs === undefined ? undefined : startsAt + lastedMs;
  return anEpisode(startsAt, endsAt, { id, fingerprint: "00112233445566aa", ...of, ...differing });
}

const shoes = { subject: { kind: "recording", id: "shoes" }, locationId: "york" } as const;
const all = [
  incident("brief", 3, 30_000),
  incident("long", 20, 5 * HOUR, {
    ...shoes,
    alertname: "=LowUptime",
    problem: "low_uptime",
    uncounted: { estimate: 312, low: 264, high: 369 },
  }),
  incident("open", 1, undefined, shoes),
  incident("service", 30, MINUTE, {
    subject: { kind: "service", id: "analytics" },
    locationId: undefined,
    alertname: "ServiceUnreachable",
    problem: "service_unreachable",
    fingerprint: undefined,
  }),
];

async function page(path: string, incidents = all) {
  const asked: number[] = [];
  const since = async (at: number) => {
    asked.push(at);
    return incidents.filter(({ endsAt = NOW }) => endsAt >= at);
  };
  return { asked, ...(await pageOf(path, { episodes: since })) };
}

describe("GET /incidents", () => {
  test("shows what happened and where, with seconds where it was brief, and leads to each incident", async () => {
    const { shown, links, asked } = await page("/incidents");
    expect(shown).toEqual(
      expect.arrayContaining([
        "4 incidents",
        expect.stringMatching(/^Shoes · York: offline I-\w{5} \| began 11:00 UTC \| \| lasted 1 h$/),
        expect.stringMatching(
          /^Till 3 · Leeds Briggate: offline I-\w{5} \| began 09:00:00 UTC \| ended 09:00:30 UTC \| lasted 30 s$/,
        ),
        expect.stringMatching(
          /^Analytics service: service unreachable I-\w{5} \| began Fri 30 Jan 06:00:00 UTC \| ended Fri 30 Jan 06:01:00 UTC \| lasted 1 m$/,
        ),
        expect.stringMatching(/^Shoes · York: uptime low I-\w{5} .* lasted 5 h$/),
      ]),
    );
    expect(links.get("Shoes · York: offline")).toMatch(/^\.\/incidents\/I-\w{5}$/);
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
    const many = Array.from({ length: 130 }, (_, i) =>
      incident(`i${i}`, 4 + i / 20, (i + 1) * MINUTE, { subject: { kind: "recording", id: `r${i}` } }),
    );
    const { links, shown } = await page("/incidents?sort=longest", many);
    expect(shown.find((line) => line.includes("lasted"))).toContain("lasted 2 h 10 m");
    const next = links.get("30 more incidents") ?? "";
    expect((await page(next.slice(1), many)).shown.filter((line) => line.includes("lasted"))).toHaveLength(30);
  });

  test("as CSV has the same rows, and no formulas", async () => {
    const { headers, html } = await page("/incidents.csv?q=york&sort=longest");
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(headers.get("content-disposition")).toBe('attachment; filename="incidents.csv"');
    expect(html.split("\n")).toEqual([
      expect.stringContaining('"incident","title","alertnames","locations","location_ids"'),
      expect.stringMatching(
        /^"I-\w{5}","Shoes · York: uptime low","'=LowUptime","York","york",0,"location_id=york","2026-01-30T16:00:00.000Z","2026-01-30T21:00:00.000Z",18000,,,312,264,369$/,
      ),
      expect.stringMatching(
        /^"I-\w{5}","Shoes · York: offline","RecordingOffline","York","york",1,"location_id=york","2026-01-31T11:00:00.000Z",,3600,,,,,$/,
      ),
      "",
    ]);
  });

  test("as CSV have each visit once, also where two were at one location", async () => {
    const uncounted = { estimate: 240, low: 200, high: 280 };
    const till = { subject: { kind: "recording", id: "till" }, locationId: "york", uncounted } as const;
    const both = [incident("a", 5, 2 * HOUR, { ...shoes, uncounted }), incident("b", 4, 2 * HOUR, till)];
    const { html } = await page("/incidents.csv", both);
    const visits = html.split("\n").map((line) => line.split(",").slice(-3).join());
    expect(visits.slice(1)).toEqual(["240,200,280", "120,100,140", ""]);
  });
});

describe("the overview", () => {
  test("shows what ended in the last 24 hours, what one cause ended as one", async () => {
    const whole = { ...incident("whole", 2, HOUR), alertname: "LocationOffline", problem: "location_offline" as const };
    const york = { ...whole, subject: { kind: "location" as const, id: "york" }, locationId: "york" };
    const within = incident("within", 2, HOUR, shoes);
    const ended = [...all, york, within].filter(({ endsAt = 0 }) => endsAt >= NOW - 24 * HOUR);
    const { shown, links } = await pageOf("/", { endedLately: async () => ended });
    const from = shown.slice(shown.indexOf("What happened in the last 24 hours"));
    expect(from.filter((line) => line.includes("lasted")).map((line) => line.split(" I-")[0])).toEqual([
      "1 camera at York offline",
      "Till 3 · Leeds Briggate: offline",
      "Shoes · York: uptime low",
    ]);
    expect(links.get("3 ended, all of them")).toBe("./incidents?days=1");
  });

  test("says nothing where nothing ended", async () => {
    expect((await pageOf("/")).shown).not.toContain("What happened in the last 24 hours");
  });
});

describe("GET /incidents/{id}", () => {
  const eight = Array.from({ length: 8 }, (_, i) =>
    incident(`Offline/recording/n${i}@${NOW - 2 * HOUR + i}`, 2 - i / 1_000, undefined, {
      subject: { kind: "recording", id: `n${i}` },
      uncounted: { estimate: 10 + i, low: 5, high: 20 },
    }),
  );
  const id = incidentsOf(eight)[0]?.id ?? "";

  test("has its alerts, its places, what it cost and what was decided, under any id that it had", async () => {
    for (const one of [id, id.toLowerCase(), id.slice(2)]) {
      const { shown, heading } = await page(`/incidents/${one}`, eight);
      expect(heading).toBe("8 cameras at Leeds Briggate offline");
      expect(shown).toEqual(
        expect.arrayContaining([
          expect.stringMatching(`^Since 10:00 GMT \\(2 h\\) incident ${id} · open$`),
          "At Leeds Briggate",
          "8 alerts",
          "about 15 visits uncounted so far (5–20)",
        ]),
      );
    }
  });

  test("says who has it", async () => {
    const alert = alertOf("RecordingOffline");
    const acknowledgement = { author: "dana <b>", comment: "on it", at: NOW, eta: NOW + HOUR };
    const [own] = incidentsOf([episodeOf(alert)]);
    const { shown } = await pageOf(`/incidents/${own?.id}`, {
      alerts: async () => [{ alert, receivers: ["ops"], acknowledgement }],
      episodes: async () => [
        { ...incident(alert.id, 0, undefined), ...episodeOf(alert), alertname: "RecordingOffline" },
      ],
    });
    expect(shown.find((line) => line.startsWith("Acknowledged by"))).toMatch(
      /^Acknowledged by dana <b>, ETA 13:00 \w+: on it since 12:00 \w+$/,
    );
  });

  test("is not found where nothing had the id", async () => {
    expect((await page("/incidents/I-00000", eight)).status).toBe(404);
  });
});
