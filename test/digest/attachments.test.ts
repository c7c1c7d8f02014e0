import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { attachmentsOf, renderDigest } from "../../src/digest/mail.ts";
import { computeDigest } from "./compute-digest.ts";
import { input, subject } from "./fixtures.ts";
import { sampleDigest } from "./sample.ts";

describe("attachments of a digest", () => {
  test("are CSV that Excel reads as UTF-8, named after the digest and its first day", async () => {
    const files = await attachmentsOf("Läden / weekly", sampleDigest("1w"));
    expect(files.map(({ filename, contentType }) => [filename, contentType])).toEqual([
      ["Läden-weekly-2026-11-16-recordings.csv", "text/csv; charset=utf-8"],
      ["Läden-weekly-2026-11-16-visitor-counts.csv", "text/csv; charset=utf-8"],
    ]);
    for (const { content } of files) {
      expect([...content.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
      expect(content.toString()).toMatch(/^\ufeff"location","location_id",/);
    }
  });

  test("are the recordings alone where every day's counts are reliable", async () => {
    const digest = computeDigest(input({ recordings: [subject("a")] }));
    expect(await attachmentsOf("daily", digest)).toHaveLength(1);
  });

  test("are compressed where they are too large for mail servers", async () => {
    const name = "x".repeat(180);
    const recordings = Array.from({ length: 22_000 }, (_, i) => subject(`${i}`, { name: `${i} ${name}` }));
    const [file] = await attachmentsOf("daily", computeDigest(input({ recordings })));
    expect(file).toMatchObject({ filename: "daily-2026-11-19-recordings.csv.gz", contentType: "application/gzip" });
    expect(file?.content.length).toBeLessThan(1_000_000);
    const lines = gunzipSync(file?.content ?? "")
      .toString()
      .trimEnd()
      .split("\n");
    expect(lines).toHaveLength(22_001);
  });

  test("leave out what is least needed where mail servers would refuse the mail, and say so", async () => {
    const lines = 25_000;
    const name = () => randomBytes(130).toString("base64");
    const recordings = Array.from({ length: lines }, (_, i) => subject(`${i}`, { name: name(), locationName: name() }));
    const last = `${lines - 1}`;
    const down = recordings.map((one) => (one.recording.id === last ? { ...one, status: "offline" as const } : one));
    const digest = computeDigest(input({ recordings: down }));
    const [file] = await attachmentsOf("daily", digest);
    if (!file) throw new Error("there is no table");
    expect(file.content.length).toBeLessThan(3_500_000);
    expect(file.content.length).toBeGreaterThan(2_500_000);
    const table = gunzipSync(file.content).toString().trimEnd().split("\n");
    expect(file).toMatchObject({ rows: table.length - 1, total: lines });
    expect(table[1]).toContain(`"${last}","down_now"`);
    const { text } = await renderDigest(digest, { name: "daily", externalUrl: undefined, tables: [file] });
    expect(text).toContain(`The attached table has the worst ${file.rows.toLocaleString("en")} of 25,000 recordings.`);
  });
});
