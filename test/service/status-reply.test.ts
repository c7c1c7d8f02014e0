import fc from "fast-check";
import { expect, it } from "vitest";
import type { StatusSnapshot } from "../../src/health/recording.ts";
import { createStatusReplies } from "../../src/service/status-reply.ts";
import { parseStatusRows } from "../../src/service/status-uptime-rows.ts";
import { statusRow } from "./support.ts";

const kinds: string[] = [];
const report = (kind: string) => void kinds.push(kind);

/** The snapshot and what was reported on the way. */
function reported<T>(read: () => T) {
  kinds.length = 0;
  const snapshot = read();
  return { snapshot, kinds: [...kinds] };
}

const id = fc.integer({ min: 0, max: 5 }).map((n) => String(n).repeat(24));
const time = fc.constantFrom(
  ...["00:00.000", "00:59.999", "01:07.123", "01:60.000", "01:0x.000", '00:00"000', "00:01.5"].map(
    (at) => `2026-03-01T10:${at}Z`,
  ),
  "2026-03-01T10:00:00.000+02:00",
  null,
  17,
);
const nested = fc.constantFrom<unknown>(
  undefined,
  { last_seen_utc: "2026-03-01T10:00:00.000Z" },
  ["]", { a: "}" }],
  '"last_seen_utc": "x',
);
const row = fc.record({
  firmware: nested,
  recording_id: fc.oneof({ weight: 9, arbitrary: id }, fc.constantFrom("é", 7)),
  location_id: fc.oneof(id, fc.constant(null)),
  status: fc.constantFrom("online", "online", "online", "offline", "degraded", "asleep"),
  last_seen_utc: time,
  average_quality: fc.constantFrom(0.9, 0.5, null, 7),
});
const element = fc.oneof({ weight: 20, arbitrary: row }, fc.constantFrom("no row", null, [[]], 1));
const reply = fc.record({ rows: fc.array(element, { maxLength: 8 }), space: fc.constantFrom(0, 1, "\t") });
/** The one before again, at another time and with a few other rows. */
const change = fc.record({
  seen: time,
  at: fc.nat(8),
  removed: fc.nat(1),
  added: fc.array(element, { maxLength: 2 }),
  space: fc.constantFrom(0, 0, 1),
});

it("reads what parsing all of it reads, whatever the reply before was", () => {
  fc.assert(
    fc.property(reply, fc.array(change, { maxLength: 6 }), ({ rows, space }, changes) => {
      const replies = createStatusReplies(report);
      let last: StatusSnapshot | undefined;
      let now: unknown[] = rows;
      for (const [i, { seen, at, removed, added, space: then }] of [...changes, ...changes].entries()) {
        const text = JSON.stringify(now, undefined, i === 0 ? space : then);
        const read = reported(() => replies.read(Buffer.from(text), last));
        expect(read).toEqual(reported(() => parseStatusRows(JSON.parse(text), report)));
        expect(replies.isSnapshot(read.snapshot)).toBe(true);
        last = read.snapshot;
        now = now.map((one) => (Object(one).last_seen_utc ? { ...Object(one), last_seen_utc: seen } : one));
        now = now.toSpliced(at, removed, ...added);
      }
    }),
    { numRuns: 300 },
  );
});

it("parses only rows where more than the time moved", () => {
  const replies = createStatusReplies(report);
  const ids = ["a".repeat(24), "b".repeat(24), "c".repeat(24)];
  const at = (second: number, status = "online") =>
    Buffer.from(
      JSON.stringify(
        ids.map((recording_id, i) =>
          statusRow({
            recording_id,
            last_seen_utc: `2026-03-01T10:00:0${second}.000Z`,
            status: i === 1 ? status : "online",
          }),
        ),
      ),
    );
  const idsOf = (snapshot: StatusSnapshot | undefined) => snapshot?.readings.map(({ recordingId }) => recordingId);
  const first = replies.read(at(1), undefined);
  const parsed: string[] = [];
  const parse = JSON.parse;
  JSON.parse = (text: string) => {
    parsed.push(text);
    return parse(text);
  };
  try {
    const second = replies.read(at(2, "offline"), first);
    expect(parsed).toEqual([expect.stringContaining("bbbb")]);
    expect(idsOf(second)).toEqual(ids);
    expect(second?.readings.map(({ lastSeenAt }) => lastSeenAt)).toEqual(Array(3).fill(Date.UTC(2026, 2, 1, 10, 0, 2)));
    const third = replies.read(at(3, "offline"), second);
    expect(parsed).toHaveLength(1);
    expect(third?.readings.map(({ status }) => status)).toEqual(["online", "offline", "online"]);
  } finally {
    JSON.parse = parse;
  }
});

it("reads a change anywhere among many rows, and what follows it", () => {
  const many = (second: number, changed: number, change: object) =>
    Array.from({ length: 100 }, (_, i) =>
      statusRow({
        recording_id: String(i).padStart(24, "0"),
        last_seen_utc: `2026-03-01T10:00:0${second}.000Z`,
        ...(i === changed && change),
      }),
    );
  const longer = { status: "degraded" };
  for (let changed = 0; changed < 100; changed += 3) {
    const replies = createStatusReplies(report);
    let last: StatusSnapshot | undefined;
    for (const [second, change] of [{}, longer, longer, {}, { average_quality: 0.8 }].entries()) {
      const rows = many(second, changed, change);
      last = replies.read(Buffer.from(JSON.stringify(rows)), last);
      expect(last).toEqual(parseStatusRows(rows, report));
    }
  }
});

it("takes no longer for rows without a time", () => {
  const cpuOf = (last_seen_utc: string | undefined) => {
    const rows = Array.from({ length: 4_000 }, (_, i) =>
      statusRow({ recording_id: String(i).padStart(24, "0"), last_seen_utc }),
    );
    const replies = createStatusReplies(report);
    const text = Buffer.from(JSON.stringify(rows));
    const began = process.threadCpuUsage();
    expect(replies.read(text, undefined)?.readings).toHaveLength(rows.length);
    return process.threadCpuUsage(began).user;
  };
  const timed = cpuOf("2026-03-01T10:00:00.000Z");
  expect(cpuOf(undefined)).toBeLessThan(20 * timed);
});

it.each(["", "[", "[1", "[1,]", "[1]]", "{}", "[{}", '[{"a":1} {"b":2}]', "[1}", "[,1]"])(
  "leaves %j to be refused",
  (text) => {
    expect(createStatusReplies(report).read(Buffer.from(text), undefined)).toBeUndefined();
  },
);
