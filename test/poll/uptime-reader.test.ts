import { describe, expect, test } from "vitest";
import type { RecordingUptime } from "../../src/health/recording.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createRecallUptime } from "../../src/poll/uptime-reader.ts";
import { ServiceError } from "../../src/service/errors.ts";
import { anUptimeBucket, aRecording } from "../support/fixtures.ts";

const NOW = Date.parse("2026-01-31T23:30:00Z");
const HOUR = 3_600_000;

function stage(answer: (id: string) => Promise<RecordingUptime>) {
  const asked: unknown[] = [];
  let now = NOW;
  const recall = createRecallUptime({
    clock: { now: () => now },
    log: silentLogger,
    service: {
      recordingUptime(id, days) {
        asked.push([id, days]);
        return answer(id);
      },
    },
  });
  const pass = (ms: number) => {
    now += ms;
  };
  return { recall, asked, pass };
}

function uptimeOf(id: string): RecordingUptime {
  return { recording: aRecording(id, { timezone: "UTC" }), buckets: [anUptimeBucket(NOW, 1, { segmentsExpected: 1 })] };
}

describe("a recording's last month", () => {
  test("is asked for by its own days, and kept for some hours", async () => {
    const { recall, asked, pass } = stage(async (id) => uptimeOf(id));
    expect(await recall("a", "Asia/Tokyo")).toHaveLength(1);
    expect(asked).toMatchObject([["a", { start: "2026-01-03", end: "2026-02-01" }]]);
    pass(6 * HOUR - 1);
    await recall("a", "Asia/Tokyo");
    expect(asked).toHaveLength(1);
    pass(1);
    await recall("a", "Asia/Tokyo");
    expect(asked).toHaveLength(2);
  });

  test.each<[string, Error, string]>([
    ["of any recording", new ServiceError("rate_limited", "Too many."), "b"],
    ["of this recording", new Error("503"), "a"],
  ])("%s is not asked for within a minute after a failure: %s", async (_, failure, next) => {
    const { recall, asked, pass } = stage(() => Promise.reject(failure));
    for (const id of ["a", next]) expect(await recall(id, "UTC")).toEqual([]);
    expect(asked).toHaveLength(1);
    pass(60_000);
    await recall(next, "UTC");
    expect(asked).toHaveLength(2);
  });

  test("that is refused keeps nobody from another recording's", async () => {
    const refusal = new ServiceError("bad_request", "There is no such recording.");
    const { recall, asked } = stage((id) => (id === "a" ? Promise.reject(refusal) : Promise.resolve(uptimeOf(id))));
    await recall("a", "UTC");
    expect(await recall("b", "UTC")).toHaveLength(1);
    expect(asked.map((one) => (one as unknown[])[0])).toEqual(["a", "a", "a", "b"]);
  });

  test("is not waited for long, and is there for the next look", async () => {
    const { promise, resolve } = Promise.withResolvers<RecordingUptime>();
    const { recall, asked } = stage(() => promise);
    expect(await recall("a", "UTC")).toEqual([]);
    expect(await recall("a", "UTC")).toEqual([]);
    resolve(uptimeOf("a"));
    await promise;
    await new Promise(setImmediate);
    expect(await recall("a", "UTC")).toHaveLength(1);
    expect(asked).toHaveLength(1);
  });

  test("is asked for four recordings at a time, and kept for 64", async () => {
    const gates = new Map<string, PromiseWithResolvers<RecordingUptime>>();
    const { recall, asked } = stage((id) => {
      const gate = Promise.withResolvers<RecordingUptime>();
      gates.set(id, gate);
      return gate.promise;
    });
    const looks = ["a", "b", "c", "d", "e"].map((id) => recall(id, "UTC"));
    expect(asked).toHaveLength(4);
    for (const [id, { resolve }] of gates) resolve(uptimeOf(id));
    expect((await Promise.all(looks)).map(({ length }) => length)).toEqual([1, 1, 1, 1, 0]);

    const many = stage(async (id) => uptimeOf(id));
    for (let i = 0; i < 65; i++) {
      many.pass(1_000);
      await many.recall(`r${i}`, "UTC");
    }
    await many.recall("r64", "UTC");
    expect(many.asked).toHaveLength(65);
    many.pass(1_000);
    await many.recall("r0", "UTC");
    expect(many.asked).toHaveLength(66);
  });

  test("is asked for once a second, whoever opens pages for how long, and whatever the clock does", async () => {
    const { recall, asked, pass } = stage(async (id) => uptimeOf(id));
    for (let i = 0; i < 600; i++) {
      await recall(`r${i % 100}`, "UTC");
      pass(50);
    }
    expect(asked.length).toBeLessThanOrEqual(30 + 4);
    expect(asked.length).toBeGreaterThanOrEqual(30);
    pass(-HOUR);
    await recall("new", "UTC");
    expect(await recall("other", "UTC")).toEqual([]);
    pass(4_000);
    expect(await recall("another", "UTC")).toHaveLength(1);
  });
});
