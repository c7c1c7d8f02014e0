import { expect, it } from "vitest";
import type { Rule } from "../../src/health/model.ts";
import type { RecordingUptime } from "../../src/health/recording.ts";
import type { RecordingState } from "../../src/health/shard-state.ts";
import { figuresOf, uptimeRetentionMs } from "../../src/health/uptime.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createRefreshUptime } from "../../src/poll/uptime.ts";
import { rule, uptimeRule } from "../health/shard-history.ts";
import { HOUR, useTestStore } from "../store/fixtures.ts";
import { anUptimeBucket, aRecording } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const NOW = Date.UTC(2026, 10, 20, 14, 30);
const JUST_NOW = Date.UTC(2026, 10, 20, 13);
/** `old` was down until three days ago; `young` was set up yesterday. */
const fleet = [
  { recording: aRecording("old", { timezone: "UTC" }), since: NOW - 60 * DAY, upSince: NOW - 3 * DAY },
  { recording: aRecording("young", { timezone: "UTC" }), since: NOW - DAY, upSince: NOW - DAY },
];

describeWithRedis("a window of uptime", () => {
  const testStore = useTestStore();

  function watching() {
    const { store } = testStore();
    const asked: string[] = [];
    const clock = { at: NOW };
    const service = { fails: false, silentSince: Number.POSITIVE_INFINITY };
    const recordings = new Map<string, RecordingState>(
      fleet.map(({ recording: { id } }) => [id, { id, locationId: "north" } as never]),
    );
    const state = { sweptAt: NOW, locations: new Map(), recordings };
    /** As configured: figures over a day, and over `overMs`. */
    const refreshWith = (overMs: number, more: Rule[] = [], signal = new AbortController().signal) => {
      const rules = [uptimeRule({ when: { kind: "overall_uptime", below: 0.95, clearAbove: 0.95, overMs } }), ...more];
      return createRefreshUptime({
        clock: { now: () => clock.at },
        watch: { statusIntervalMs: 30_000, uptimeIntervalMs: 600_000 },
        log: silentLogger,
        service: {
          async uptimes({ start, recids = [] }) {
            asked.push(start);
            if (service.fails) throw new Error("No answer.");
            const own = fleet.filter(({ recording }) => recids.includes(recording.id));
            const results = own.map(({ recording, since, upSince }): RecordingUptime => {
              const buckets = [];
              for (let at = Date.parse(start); at <= clock.at; at += HOUR) {
                const ratio = at >= upSince && at < service.silentSince ? 1 : 0;
                if (at >= since) buckets.push(anUptimeBucket(at, ratio, { segmentsReceived: ratio * 60 }));
              }
              return { recording, buckets };
            });
            return { results, dropped: 0 };
          },
        },
        store: { ...store.shards, read: async () => ({ nonce: "", state }) },
        uptime: store.uptime,
        inventory: store.inventory,
        figures: figuresOf(rules),
        retainMs: uptimeRetentionMs(rules),
        indexTimezone: "recording",
      })(0, signal);
    };
    const figures = (overMs: number) => fleet.map(({ recording }) => store.uptime.figure(recording.id, overMs));
    return { refreshWith, figures, asked, clock, service, store, recordings };
  }

  it("of segments has a figure of recordings that were online all the time, in whole buckets", async () => {
    const { refreshWith, service, store, clock, recordings } = watching();
    const when = { kind: "segments_received", below: 0.05, clearAbove: 0.5, overMs: HOUR } as const;
    const at = async (minutes: number, came: Record<string, number>) => {
      clock.at = NOW + minutes * 60_000;
      for (const [id, since] of Object.entries(came)) {
        const readAt = clock.at - 1_000;
        recordings.set(id, { id, locationId: "north", status: "online", since: NOW + since * 60_000, readAt } as never);
      }
      await refreshWith(DAY, [rule("RecordingNotUploading", when)]);
      return fleet.map(({ recording: { id } }) => store.uptime.figure(id, `online-${HOUR}`));
    };
    service.silentSince = NOW + 30 * 60_000;
    const online = { old: -600, young: -600 };
    for (let minutes = 0; minutes < 100; minutes += 20)
      expect(await at(minutes, online)).toEqual([undefined, undefined]);
    const attempt = async () => (await store.shards.attempts()).get("uptime:0");
    expect([await at(100, { old: -600, young: 95 }), await attempt()]).toMatchObject([
      [undefined, undefined],
      { known: 0, absent: 0 },
    ]);
    expect(await at(106, { old: -600, young: 95 }), "15:00 to 16:00 is settled").toEqual([0, undefined]);
    expect(await attempt()).toMatchObject({ known: 1, absent: 1 });
    await at(130, { old: -600, young: 95 });
    await at(150, { old: -600, young: 95 });
    expect(await at(166, { old: -600, young: 95 }), "16:00 to 17:00").toEqual([0, undefined]);
    await at(190, { old: -600, young: 95 });
    await at(210, { old: -600, young: 95 });
    expect(await at(226, { old: -600, young: 95 }), "17:00 to 18:00").toEqual([0, 0]);
    expect(await at(260, { old: 250, young: 95 }), "both were not watched for too long").toEqual([
      undefined,
      undefined,
    ]);
  });

  it("is asked for by the days of the time zone that another replica stored", async () => {
    const { refreshWith, asked } = watching();
    const inAuckland = fleet.map(({ recording }) => ({ ...recording, timezone: "Pacific/Auckland" }));
    await testStore().replica().inventory.saveRecordings(inAuckland);
    await refreshWith(DAY);
    // 03:30 of the 21st there, 72 hours before.
    expect(asked).toEqual(["2026-11-18"]);
  });

  it("gives what arrived where the uptime is low alone", async () => {
    const { refreshWith, store } = watching();
    await refreshWith(WEEK);
    const arrived = fleet.map(({ recording: { id } }) => store.uptime.figure(id, `arrived-${WEEK}`));
    expect(arrived).toEqual([expect.closeTo(3 / 7, 1), undefined]);
  });

  it("has a figure once all of it was read, of a recording that existed for half of it", async () => {
    const { refreshWith, figures, asked, service, clock } = watching();
    await refreshWith(DAY);
    expect([asked, figures(DAY)]).toEqual([["2026-11-17"], [1, 1]]);
    service.fails = true;
    await refreshWith(WEEK);
    expect(figures(WEEK)).toEqual([undefined, undefined]);
    service.fails = false;
    await refreshWith(WEEK);
    expect(asked.slice(1)).toEqual(["2026-11-11", "2026-11-11"]);
    expect(figures(WEEK)[0]).toBeCloseTo(3 / 7, 1);
    expect(figures(WEEK)[1], "of a day in a week").toBeUndefined();
    clock.at += HOUR;
    await refreshWith(WEEK);
    expect(asked.at(-1), "once").toBe("2026-11-20");
  });

  it("that was shorter in between is read again", async () => {
    const { refreshWith, figures, asked, clock } = watching();
    for (const overMs of [WEEK, DAY, WEEK]) {
      await refreshWith(overMs);
      clock.at += HOUR;
    }
    expect(asked).toEqual(["2026-11-11", "2026-11-20", "2026-11-11"]);
    expect(figures(WEEK)[0]).toBeCloseTo(3 / 7, 1);
  });

  it("is lacking after it was configured, and never where it is known", async () => {
    const { refreshWith, store } = watching();
    await refreshWith(DAY);
    const lacking = (figures: ReturnType<typeof figuresOf>) => {
      const kinds = figures.map(({ key }) => key);
      return store.uptime.lackingFigures([0, 1], kinds);
    };
    expect(await lacking(figuresOf([]))).toEqual([]);
    expect(await lacking([...figuresOf([]), { key: WEEK, kind: "uptime", overMs: WEEK }])).toEqual([0]);
  });

  it("is left as it was where its replica leaves the shard between two requests", async () => {
    const { refreshWith, figures, asked, store } = watching();
    const leaving = new AbortController();
    leaving.abort();
    await refreshWith(DAY, [], leaving.signal);
    expect([asked, figures(DAY)]).toEqual([[], [undefined, undefined]]);
    expect((await store.shards.attempts()).size).toBe(0);
  });

  it("has no failure noted by a replica that left the shard meanwhile: the next one reads it", async () => {
    const { refreshWith, service, store } = watching();
    const leaving = new AbortController();
    Object.defineProperty(service, "fails", {
      get() {
        leaving.abort();
        return true;
      },
    });
    await refreshWith(DAY, [], leaving.signal);
    expect((await store.shards.attempts()).size).toBe(0);
  });

  it("is read of a newcomer alone", async () => {
    const { refreshWith, asked, store } = watching();
    await refreshWith(DAY);
    await store.uptime.forgetOthers(0, new Set(["old"]));
    await refreshWith(DAY);
    expect(asked.slice(1)).toEqual(["2026-11-20", "2026-11-17"]);
  });

  it("of a history whose first day is not known is read again", async () => {
    const { refreshWith, asked, store } = watching();
    const buckets = [anUptimeBucket(JUST_NOW, 1)];
    const history = { buckets, days: {}, finishedDay: "2026-11-19" };
    await store.uptime.saveHistories(0, new Map(fleet.map(({ recording: { id } }) => [id, history])));
    await refreshWith(DAY);
    expect(asked).toEqual(["2026-11-17"]);
  });
});
