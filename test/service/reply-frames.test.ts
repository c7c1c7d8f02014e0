import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeParts, PartCollector, parseFrame } from "../../src/service/reply-frames.ts";
import { limitsOfRequest, replyLimits } from "../../src/service/reply-size.ts";

const bytes = (text: string) => Buffer.from(text);

describe("a frame", () => {
  it("has an id, two numbers and a payload that may contain bars", () => {
    const frame = parseFrame(bytes('q-1|2|3|["a|b"]'));
    expect(frame).toEqual({ id: "q-1", part: 2, total: 3, payload: bytes('["a|b"]') });
  });

  it.each([
    ["", undefined],
    ["no bars", undefined],
    ["|0|0|[]", undefined],
    ["q|0|0", "q"],
    ["q|x|0|[]", "q"],
    ["q|-1|0|[]", "q"],
    ["q|0.5|1|[]", "q"],
    ["q||0|[]", "q"],
    ["q|3|2|[]", "q"],
    ["q|1|0|[]", "q"],
    ["q|99999999999|99999999999|[]", "q"],
    [`${"q".repeat(300)}|0|0|[]`, undefined],
  ])("is not %j", (text, id) => {
    expect(parseFrame(bytes(text))).toEqual({ id, bad: true });
  });
});

/** Feeds the parts as frames to one question; what the last of them gives. */
function feed(texts: string[], max = 10_000) {
  const budget = { used: 0, max };
  const collector = new PartCollector(budget, { bytes: 1e6, values: 1e6 });
  const answers = texts.map((text) => {
    const frame = parseFrame(bytes(text));
    return "bad" in frame ? "bad" : collector.add(frame);
  });
  const used = budget.used;
  collector.clear();
  expect(budget.used).toBe(0);
  return { last: answers.at(-1), early: answers.slice(0, -1).filter(Boolean), used };
}

describe("a reply in parts", () => {
  it.each([
    ["one part, marked 0 of 0", ["q|0|0|[1]"], [1]],
    ["one part, marked 0 of 1", ["q|0|1|[1]"], [1]],
    ["one part, marked 1 of 1", ["q|1|1|[1]"], [1]],
    ["pieces of the text counted from 1", ["q|1|3|[1", "q|2|3|,2", "q|3|3|,3]"], [1, 2, 3]],
    ["pieces of the text counted from 0", ["q|0|3|[1", "q|1|3|,2", "q|2|3|,3]"], [1, 2, 3]],
    ["arrays of their own counted from 1", ["q|1|2|[1]", "q|2|2|[2]"], [1, 2]],
    ["arrays of their own counted from 0", ["q|0|2|[1]", "q|1|2|[2]"], [1, 2]],
    ["parts in any order", ["q|3|3|,3]", "q|1|3|[1", "q|2|3|,2"], [1, 2, 3]],
    ["a part that comes twice", ["q|1|2|[1", "q|1|2|[1", "q|2|2|,2]"], [1, 2]],
    ["an object in pieces", ['q|1|2|{"a":', "q|2|2|1}"], { a: 1 }],
    ["an empty piece", ["q|1|2|[1]", "q|2|2|"], [1]],
  ])("may be %s", (_, texts, value) => {
    expect(feed(texts)).toMatchObject({ last: { value }, early: [] });
  });

  it.each([
    ["that is no JSON", ["q|0|0|nope"], "bad_json"],
    ["whose parts are neither pieces nor arrays", ["q|1|2|{}", "q|2|2|[]"], "bad_part"],
    ["whose total changes", ["q|1|3|[1", "q|2|2|,2]"], "bad_part"],
    ["that turns out whole after a part", ["q|1|3|[1", "q|0|0|[]"], "bad_part"],
    ["whose second copy differs", ["q|1|2|[1", "q|1|2|[2"], "bad_part"],
    ["that counts from 0 and from 1", ["q|0|2|[1", "q|2|2|,2]"], "bad_part"],
    ["in too many parts", ["q|1|1000000|["], "too_large"],
  ])("is refused %s", (_, texts, kind) => {
    expect(feed(texts)).toMatchObject({ last: { kind }, early: [] });
  });

  it("is refused where it exceeds the memory for all replies", () => {
    const [one, other] = [`q|1|3|${"x".repeat(600)}`, `q|2|3|${"x".repeat(600)}`];
    expect(feed([one, other], 1_000)).toMatchObject({ last: { kind: "too_large" }, used: 856 });
  });

  it("takes memory for each part, however short", () => {
    const parts = Array.from({ length: 5_000 }, (_, i) => `q|${i + 1}|99999|`);
    expect(feed(parts, 1_000_000)).toMatchObject({ last: { kind: "too_large" } });
  });

  it("keeps nothing of what was read from the connection together with a part", () => {
    const read = bytes("q|1|2|[1");
    const collector = new PartCollector({ used: 0, max: 1_000 }, { bytes: 1_000, values: 10 });
    for (const frame of [read, bytes("q|2|2|,2]")].map(parseFrame)) {
      const answer = "bad" in frame ? expect.fail() : collector.add(frame);
      read.fill(0);
      if (answer) expect(answer).toEqual({ value: [1, 2] });
    }
  });

  it("is the same however it was cut and shuffled", () => {
    const reply = fc.array(fc.record({ id: fc.string(), n: fc.nat() }));
    fc.assert(
      fc.property(reply, fc.integer({ min: 2, max: 6 }), fc.constantFrom(0, 1), fc.nat(), (rows, total, base, turn) => {
        const text = Array.from(JSON.stringify(rows));
        const size = Math.ceil(text.length / total);
        const pieces = Array.from({ length: total }, (_, i) => text.slice(i * size, (i + 1) * size).join(""));
        const frames = pieces.map((piece, i) => `q|${i + base}|${total}|${piece}`);
        const turned = frames.map((_, i) => frames[(i + turn) % total] ?? "");
        expect(feed(turned, 1e6).last).toEqual({ value: rows });
      }),
    );
  });
});

it("joins no parts into nothing", () => {
  expect(decodeParts([], 0)).toEqual({ value: [] });
});

it("the documented rows of ten thousand recordings of one location are read", () => {
  const id = (n: number) => n.toString(16).padStart(24, "0");
  const rows = Array.from({ length: 10_000 }, (_, i) => ({
    recording_id: id(i),
    location_id: id(0),
    status: "online",
    last_seen_utc: "2026-11-17T12:00:00.000Z",
    average_quality: 0.9731,
  }));
  const limits = limitsOfRequest(replyLimits(4e9), { entities: [id(0)], entityType: "location" });
  const frame = parseFrame(bytes(`abc|0|0|${JSON.stringify(rows)}`));
  expect(new PartCollector({ used: 0, max: limits.bytes }, limits).add(frame as never)).toHaveProperty("value");
});
