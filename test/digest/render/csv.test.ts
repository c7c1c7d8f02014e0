import { expect, test } from "vitest";
import type { Digest } from "../../../src/digest/digest.ts";
import { tablesOf } from "../../../src/digest/render/csv.ts";
import { computeDigest } from "../compute-digest.ts";
import { at, day, input, offline, subject } from "../fixtures.ts";
import { sampleDigest } from "../sample.ts";

const linesOf = (pieces: Iterable<string>) => [...pieces].join("").trimEnd().split("\n");
const tableOf = (digest: Digest, name = "recordings"): string[] => {
  const table = tablesOf(digest).find((one) => one.name === name);
  return [...(table?.csv() ?? [])];
};

test("a line per recording, worst first, blank where there is no figure", () => {
  const digest = computeDigest(
    input({
      recordings: [
        subject("a", { name: '=cmd|"x"!A1' }),
        subject("b", { locationName: "York, Coney Street", status: "offline", since: at("22:40") }),
        subject("c", { locationName: "Bath", status: "unknown", since: 0 }),
      ],
      uptime: new Map([["a", day(0.987654321)]]),
      incidents: [
        offline("a", at("10:00"), at("10:30")),
        offline("a", at("12:00"), at("13:00")),
        offline("b", at("22:40")),
      ],
    }),
  );
  expect(linesOf(tableOf(digest))).toEqual([
    '"location","location_id","recording","recording_id","part","uptime_ratio","uptime_before_ratio","lost_seconds","planned_seconds","outages","longest_outage_seconds","mean_recovery_seconds","flapping_seconds","down_since"',
    `"York, Coney Street","york,'-coney-street","Camera b","b","down_now",,,4800,0,1,4800,,,"2026-11-19T22:40:00.000Z"`,
    `"Leeds Briggate","leeds-briggate","'=cmd|""x""!A1","a","down_some",0.987654,,5400,0,2,3600,2700,,`,
    '"Bath","bath","Camera c","c","unknown",,,,,,,,,',
  ]);
});

test("where there is no room for all, those without data go before those that were up", () => {
  const recordings = [subject("a"), subject("b", { status: "unknown", since: 0 })];
  const [table] = tablesOf(computeDigest(input({ recordings, uptime: new Map([["a", day(1)]]) })));
  expect(linesOf(table?.csv(1) ?? [])[1]).toContain('"b","unknown"');
});

test("a name is one line of bearable length, and no formula", () => {
  const recordings = [subject("a", { name: `@${"x".repeat(10_000)}\r\ny`, locationName: "\u202eevil\n=1" })];
  const lines = linesOf(tableOf(computeDigest(input({ recordings }))));
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/^"evil =1","evil =1","'@x{198}…","a","up",/);
});

test("a large fleet comes in pieces, each recording once", () => {
  const recordings = Array.from({ length: 1_234 }, (_, i) => subject(`${i}`));
  const pieces = tableOf(computeDigest(input({ recordings })));
  expect(pieces.length).toBeGreaterThan(2);
  const ids = linesOf(pieces).map((line) => line.split(",")[3]);
  expect(new Set(ids).size).toBe(1_235);
});

test("the week's sample has the uptime of the period before, and flapping", () => {
  const lines = linesOf(tableOf(sampleDigest("1w")));
  expect(lines.find((line) => line.includes(',"Tills","22",'))).toBe(
    '"Bath Southgate","bath-southgate","Tills","22","down_some",0.977571,0.999,12960,0,6,2160,2160,24000,',
  );
});

test("a line per untrusted day, with its shortfall from the usual count", () => {
  expect(linesOf(tableOf(sampleDigest("1w"), "visitor-counts"))).toEqual([
    '"location","location_id","date","uptime_ratio","entries","usual_entries","short_by"',
    '"Manchester Market Street","manchester-market-street","2026-11-17",0.734417,521,1294,773',
    '"York Coney Street","york-coney-street","2026-11-21",0.746685,598,1476,878',
  ]);
});
