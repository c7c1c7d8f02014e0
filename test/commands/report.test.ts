import { describe, expect, test } from "vitest";
import type { Report, ReportRequest } from "../../src/report/report.ts";
import { noLoss } from "../../src/report/tally.ts";
import { serve } from "../http/serve.ts";
import { NOW as here } from "../metrics/fleets.ts";
import { lenswatch } from "./run-command.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const from = Date.parse("2026-11-18T00:00:00Z");
const NOW = from + DAY + 8 * HOUR;
const clock = { now: () => NOW };

const loss = (over: Partial<ReturnType<typeof noLoss>>) => ({
  ...noLoss(),
  recordings: 2,
  expectedMs: 48 * HOUR,
  knownMs: 40 * HOUR,
  ...over,
});
const leeds = loss({ location: 3 * HOUR, recording: HOUR, maintenance: 4 * HOUR });
const bath = loss({ unknown: 1_500 });
const total = { ...leeds, recordings: 4, expectedMs: 96 * HOUR, knownMs: 80 * HOUR, unknown: 1_500 };

const report: Report = {
  now: NOW,
  period: { from, to: from + DAY, label: "Wed 18 Nov 2026" },
  total,
  before: {
    period: { from: from - DAY, to: from, label: "Tue 17 Nov 2026" },
    total: loss({ location: HOUR, knownMs: 44 * HOUR }),
    incidents: 3,
  },
  incidents: [
    {
      ...{ id: "I-4F2K7", title: "8 cameras at Leeds Briggate offline", startsAt: from + 14 * HOUR },
      ...{ endsAt: from + 17 * HOUR, durationMs: 36_000, visits: { estimate: 312, low: 264, high: 369 } },
    },
    {
      id: "I-4F2K8",
      title: "Till · <i>Bath: offline",
      startsAt: from + 20 * HOUR,
      endsAt: undefined,
      durationMs: NOW - from - 20 * HOUR,
      visits: undefined,
    },
  ],
  groups: ["location", "organisation", "camera_server", "recording", "region"],
  rows: [
    { id: "leeds", name: "Leeds <b>Briggate</b>\u001b[2J", incidents: 2, loss: leeds },
    { id: "bath", name: "=Bath Southgate", incidents: 0, loss: bath },
  ],
};

async function served(over: Partial<Report> = {}, at: { now(): number } = clock) {
  const requests: ReportRequest[] = [];
  const made = await serve({
    clock: at,
    report: async (request) => {
      requests.push(request);
      return { ...report, ...over };
    },
  });
  const run = (...argv: string[]) =>
    lenswatch(
      ["report", "--url", made.address, ...argv],
      { TZ: "Europe/London", NO_COLOR: "1" },
      { isTTY: true, columns: 80 },
    );
  return { ...made, requests, run };
}

describe("lenswatch report", () => {
  test("prints the groups with most lost time first, and all of them, in 80 columns", async () => {
    const { run, requests } = await served();
    expect((await run("--period", "1d")).stdout).toMatchSnapshot();
    expect(requests).toEqual([{ period: "1d", timezone: "Europe/London", by: "location", matchers: [] }]);
  });

  test("writes exact seconds as CSV that a spreadsheet does not run", async () => {
    const { run } = await served();
    const { stdout } = await run("--output", "csv");
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toMatchSnapshot();
  });

  test("reads every page, and gives their sums as JSON", async () => {
    const rows = Array.from({ length: 2_500 }, (_, i) => ({
      id: `r${i}`,
      name: `R ${i}`,
      incidents: 0,
      loss: loss({ recording: i % 7 }),
    }));
    const { run, requests } = await served({ rows });
    const { stdout } = await run("--output", "json", "--by", "recording", "--matchers", 'organisation="acme"');
    const answer = JSON.parse(stdout);
    expect(new Set(answer.items.map(({ id }: { id: string }) => id)).size).toBe(2_500);
    expect(answer.items[0]).toMatchObject({ lostSeconds: 0.006, causes: { recording: 0.006 } });
    expect(requests.length).toBe(3);
    expect(requests[2]).toMatchObject({ by: "recording", matchers: [{ name: "organisation", value: "acme" }] });
  });

  test("prints a link that is read without a token", async () => {
    const { address, get } = await serve({ clock, report: async () => report, readToken: "reader" });
    const { stdout } = await lenswatch(["report", "--url", address, "--link"], { LENSWATCH_READ_TOKEN: "reader" });
    expect(stdout.startsWith(`${address}/shared/report?`)).toBe(true);
    expect((await get(stdout.trim().slice(address.length))).status).toBe(200);
  });

  test("asks for one report, however long reading its pages takes", async () => {
    const rows = Array.from({ length: 1_500 }, (_, i) => ({ id: `r${i}`, name: "", incidents: 0, loss: leeds }));
    let now = NOW + 1_000;
    const { run, requests } = await served({ rows }, { now: () => (now += 5_000) });
    await run("--from", "2026-11-18T00:00:00Z", "--output", "json");
    expect(requests.map(({ period }) => period)).toEqual([
      { from, to: NOW },
      { from, to: NOW },
    ]);
  });

  test.each([
    [() => new Promise<never>(() => {}), /takes longer: ask again in a few seconds/],
    [() => undefined, /Other reports are being made/],
  ])("a report that is not made in time is answered with what to do", async (report, message) => {
    const { get } = await serve({ clock, report, limits: { answerMs: 1_000 } });
    const answer = await get("/api/v1/report");
    expect([answer.status, answer.headers.get("retry-after"), await answer.text()]).toEqual([
      503,
      "5",
      expect.stringMatching(message),
    ]);
  });

  test("asks for the time between two instants, up to now", async () => {
    const { run, requests } = await served();
    await run("--from", "2026-11-18T12:00:00+01:00", "--to", "2027-01-01T00:00:00Z");
    expect(requests[0]?.period).toEqual({ from: from + 11 * HOUR, to: NOW });
  });

  test.each([
    [["--from", "24h", "--to", "1h"], { from: here - DAY, to: here - HOUR }],
    [["--from", "yesterday", "--to", "yesterday"], { from: here - 1.5 * DAY, to: here - 0.5 * DAY }],
    [["--from", "2026-11-17"], { from: from - DAY, to: NOW }],
  ])("%j is taken as by other commands", async (argv, period) => {
    const { run, requests } = await served();
    await run(...argv);
    expect(requests[0]?.period).toEqual(period);
  });

  test("a time that cannot be read is refused before the daemon is asked", async () => {
    const { run, requests } = await served();
    const { stderr, exitCode } = await run("--from", "soon");
    expect([exitCode, stderr, requests]).toEqual([2, expect.stringContaining("It must be a day or time"), []]);
  });

  test.each([
    [["--to", "2026-11-18T00:00:00Z"], "from: expected a time beside `to`"],
    [["--from", "2026-11-20T00:00:00Z"], "from: expected a time before `to`, and before now"],
    [["--from", "2026-06-01T00:00:00Z"], "at most 92 days"],
    [["--timezone", "Europe/Londn"], "timezone: expected an IANA time zone"],
    [["--matchers", "organisation"], "matchers: "],
  ])("%j is refused", async (argv, problem) => {
    const { run } = await served();
    const { stderr, exitCode } = await run(...argv);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(problem)]);
  });
});

describe("the page of lost time", () => {
  test("shows the same table, and the page of incidents leads to it", async () => {
    const { get, requests } = await served();
    const page = await (await get("/report?period=1w&by=camera_server&timezone=UTC")).text();
    expect(page).toContain("Leeds &lt;b&gt;Briggate&lt;/b&gt;");
    expect(page).toContain("<bdi>Till · &lt;i&gt;Bath: offline</bdi> <small>I-4F2K8</small>");
    expect(page).toMatch(
      /Wed 18 Nov 14:00.*36 s in all<.*about 310 \(260–370\)<.*Wed 18 Nov 20:00.*12 h, open<\/td><td role="cell"><\/td>/s,
    );
    expect(page).toContain("Unknown: missing in the service&#39;s own figures, though no outage was seen.");
    expect(requests).toEqual([{ period: "1w", timezone: "UTC", by: "camera_server", matchers: [] }]);
    expect(await (await get("/incidents")).text()).toContain('href="./report"');
    const some = await (await get(`/report?matchers=${encodeURIComponent('location="<i>"')}`)).text();
    expect(some).toContain('name="matchers" value="location=&quot;&lt;i&gt;&quot;"');
    expect(some).toMatch(/ from \d{4}-\d\d-\d\d \d\d:\d\d to \S+ \S+, UTC/);
    expect((await get("/report?by=everything")).status).toBe(400);
  });

  test("takes days and times as the command does, and keeps them in its form", async () => {
    const { get, requests } = await served();
    const page = await (await get("/report?from=24h&to=&timezone=UTC")).text();
    expect(page).toContain('name="from" value="24h"');
    await get("/report?from=yesterday&to=yesterday&timezone=Europe/Paris");
    await get("/api/v1/report?from=2026-11-18&to=2026-11-18");
    await get("/report?from=&to=");
    expect(requests.map(({ period }) => period)).toEqual([
      { from: NOW - DAY, to: NOW },
      { from: from - HOUR, to: from + DAY - HOUR },
      { from, to: from + DAY },
      "1mo",
    ]);
    const refused = await get("/report?from=24h&to=soon");
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining("to: expected a day or time"),
    ]);
  });
});
