import { describe, expect, it } from "vitest";
import type { Rule } from "../../src/health/model.ts";
import type { Recording } from "../../src/health/recording.ts";
import { scheduleState } from "../../src/health/schedule.ts";
import type { RecordingState } from "../../src/health/shard-state.ts";
import { figuresOf } from "../../src/health/uptime.ts";
import { createLocalHours } from "../../src/lib/local-hours.ts";
import { createScheduleLookup } from "../../src/poll/schedule-lookup.ts";
import { createRefreshUptime } from "../../src/poll/uptime.ts";
import { ServiceError } from "../../src/service/errors.ts";
import { rule, uptimeRule } from "../health/shard-history.ts";
import { HOUR, inventory, MINUTE, shards, uptime, useTestStore } from "../store/fixtures.ts";
import { anUptimeBucket, aRecording } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { bucketsWithin, DAY, isOpen, type Served, statesOf, UNBROKEN, uptimeOver } from "./rig.ts";

const WEEK = 7 * DAY;
/** A Friday. */
const NOW = Date.UTC(2026, 10, 20, 14, 30);

describeWithRedis("the uptime of a shard", () => {
  const testStore = useTestStore();

  describe("in a window", () => {
    /** `old` was down until three days ago; `young` was set up yesterday. */
    const since: Record<string, { known: number; up: number }> = {
      old: { known: NOW - 60 * DAY, up: NOW - 3 * DAY },
      young: { known: NOW - DAY, up: NOW - DAY },
    };
    const fleet = ["old", "young"].map((id) => aRecording(id, { timezone: "UTC" }));

    function watching() {
      const asked: string[] = [];
      const clock = { at: NOW };
      const service = { fails: false, silentSince: Number.POSITIVE_INFINITY };
      const recordings = statesOf(fleet);
      const served: Served = {
        fleet,
        asked({ start }) {
          asked.push(start);
          if (service.fails) throw new Error("No answer.");
        },
        bucketsOf({ id }, from) {
          const { known = 0, up = 0 } = since[id] ?? {};
          const buckets = [];
          for (let at = from; at <= clock.at; at += HOUR) {
            const ratio = at >= up && at < service.silentSince ? 1 : 0;
            if (at >= known) buckets.push(anUptimeBucket(at, ratio, { segmentsReceived: ratio * 60 }));
          }
          return buckets;
        },
      };
      /** As configured: figures over a day, and over `overMs`. */
      const refreshWith = (overMs: number, more: Rule[] = [], signal = UNBROKEN) => {
        const when = { kind: "overall_uptime", below: 0.95, clearAbove: 0.95, overMs } as const;
        const options = { rules: [uptimeRule({ when }), ...more], recordings };
        return createRefreshUptime(uptimeOver(testStore().store, clock, served, options))(0, signal);
      };
      const figures = (key: Parameters<typeof uptime.figure>[1]) => fleet.map(({ id }) => uptime.figure(id, key));
      return { refreshWith, figures, asked, clock, service, recordings };
    }

    it("of segments has a figure of recordings that were online all the time, in whole buckets", async () => {
      const { refreshWith, figures, service, clock, recordings } = watching();
      const when = { kind: "segments_received", below: 0.05, clearAbove: 0.5, overMs: HOUR } as const;
      const at = async (minutes: number, young: number, old = -600) => {
        clock.at = NOW + minutes * MINUTE;
        for (const [id, online] of Object.entries({ old, young })) {
          const state = { status: "online", since: NOW + online * MINUTE, readAt: clock.at - 1_000 };
          recordings.set(id, { id, locationId: "north", ...state } as RecordingState);
        }
        await refreshWith(DAY, [rule("RecordingNotUploading", when)]);
        return figures(`online-${HOUR}`);
      };
      service.silentSince = NOW + 30 * MINUTE;
      for (let minutes = 0; minutes < 100; minutes += 20)
        expect(await at(minutes, -600)).toEqual([undefined, undefined]);
      const attempt = async () => (await shards.attempts()).get("uptime:0");
      expect(await at(100, 95)).toEqual([undefined, undefined]);
      expect(await attempt()).toMatchObject({ known: 0, absent: 0 });
      expect(await at(106, 95), "15:00 to 16:00 is settled").toEqual([0, undefined]);
      expect(await attempt()).toMatchObject({ known: 1, absent: 1 });
      for (const minutes of [130, 150]) await at(minutes, 95);
      expect(await at(166, 95), "16:00 to 17:00").toEqual([0, undefined]);
      for (const minutes of [190, 210]) await at(minutes, 95);
      expect(await at(226, 95), "17:00 to 18:00").toEqual([0, 0]);
      expect(await at(260, 95, 250), "both were not watched for too long").toEqual([undefined, undefined]);
    });

    it("is asked for by the days of the time zone that another replica stored", async () => {
      const { refreshWith, asked } = watching();
      const inAuckland = fleet.map((recording) => ({ ...recording, timezone: "Pacific/Auckland" }));
      await testStore().replica().inventory.saveRecordings(inAuckland);
      await refreshWith(DAY);
      // 03:30 of the 21st there, 72 hours before.
      expect(asked).toEqual(["2026-11-18"]);
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
      expect(figures(WEEK), "of a day in a week").toEqual([expect.closeTo(3 / 7, 1), undefined]);
      expect(figures(`arrived-${WEEK}`), "where the uptime is low alone").toEqual([
        expect.closeTo(3 / 7, 1),
        undefined,
      ]);
      clock.at += HOUR;
      await refreshWith(WEEK);
      expect(asked.at(-1), "once").toBe("2026-11-20");
      await refreshWith(DAY);
      await refreshWith(WEEK);
      expect(asked.slice(-2), "it was shorter in between").toEqual(["2026-11-20", "2026-11-11"]);
      expect(figures(WEEK)[0]).toBeCloseTo(3 / 7, 1);
    });

    it("is lacking after it was configured, and never where it is known", async () => {
      await watching().refreshWith(DAY);
      const lacking = (...figures: ReturnType<typeof figuresOf>) =>
        uptime.lackingFigures(
          [0, 1],
          [...figuresOf([]), ...figures].map(({ key }) => key),
        );
      expect(await lacking()).toEqual([]);
      expect(await lacking({ key: WEEK, kind: "uptime", overMs: WEEK })).toEqual([0]);
    });

    it.each(["between two requests", "during one that fails"])(
      "is left as it was, without a note, where its replica leaves the shard %s",
      async (when) => {
        const { refreshWith, figures, asked, service } = watching();
        const leaving = new AbortController();
        const fails = () => {
          leaving.abort();
          return true;
        };
        if (when === "between two requests") leaving.abort();
        else Object.defineProperty(service, "fails", { get: fails });
        await refreshWith(DAY, [], leaving.signal);
        expect(asked).toHaveLength(when === "between two requests" ? 0 : 1);
        expect([figures(DAY), (await shards.attempts()).size]).toEqual([[undefined, undefined], 0]);
      },
    );

    it("is read of a newcomer alone, and again where the first day of a history is not known", async () => {
      const { refreshWith, asked } = watching();
      await refreshWith(DAY);
      await uptime.forgetOthers(0, new Set(["old"]));
      await refreshWith(DAY);
      expect(asked.slice(1)).toEqual(["2026-11-20", "2026-11-17"]);
      const history = { buckets: [anUptimeBucket(NOW - 1.5 * HOUR, 1)], days: {}, finishedDay: "2026-11-19" };
      await uptime.saveHistories(0, new Map(fleet.map(({ id }) => [id, history])));
      await refreshWith(DAY);
      expect(asked.slice(3)).toEqual(["2026-11-17"]);
    });
  });

  describe("with a schedule", () => {
    const hours = createLocalHours();
    const scheduled = (id: string, useUploadingSchedule = true, timezone = "Europe/London") =>
      aRecording(id, { locationId: "north", useUploadingSchedule, timezone });
    const refreshOver = (clock: { at: number }, served: Served) => {
      const refresh = createRefreshUptime(uptimeOver(testStore().store, clock, served));
      return () => refresh(0, UNBROKEN);
    };
    const stateAt = (id: string, at: number) => {
      const known = uptime.schedule(id);
      return known && scheduleState(known, at, (one) => hours.at(one, known.timezone));
    };

    /** Of two recordings one has a schedule. `weeksFail`: so many requests for weeks fail in passing. */
    async function learning({ refusesWeeks = false, weeksFail = 0 } = {}) {
      const fleet = [scheduled("a"), scheduled("b", false)];
      await inventory.saveRecordings(fleet);
      let failures = weeksFail;
      const asked: { start: string; recids: readonly string[] }[] = [];
      const clock = { at: NOW };
      const refresh = refreshOver(clock, {
        fleet,
        asked({ start, recids }) {
          asked.push({ start, recids });
          const isWeeks = NOW - Date.parse(start) > WEEK;
          if (isWeeks && failures-- > 0) throw new ServiceError("timeout", "too slow");
          if (isWeeks && refusesWeeks) throw new Error("too many days");
        },
        bucketsOf: (one: Recording, from) =>
          bucketsWithin((at) => !one.useUploadingSchedule || isOpen(at), from, clock.at),
      });
      return { refresh, asked, clock };
    }

    it("is asked for weeks once, of those alone who have one, and then for what is new", async () => {
      const { refresh, asked, clock } = await learning();
      await refresh();
      expect(asked).toEqual([
        { start: "2026-10-30", recids: ["a"] },
        { start: "2026-11-17", recids: ["b"] },
      ]);
      expect(stateAt("a", NOW + 4 * DAY)).toBe("within");
      expect(stateAt("a", NOW + 4 * DAY + 7 * HOUR)).toBe("outside");
      expect(stateAt("b", NOW), "it has none").toBeUndefined();
      clock.at += HOUR;
      await refresh();
      expect(asked.slice(2)).toEqual([{ start: "2026-11-20", recids: ["a", "b"] }]);
      expect(stateAt("a", NOW + 4 * DAY + 7 * HOUR)).toBe("outside");
    });

    const weeksOf = (asked: Awaited<ReturnType<typeof learning>>["asked"]) =>
      asked.flatMap(({ start, recids }) => (start === "2026-10-30" ? [recids] : []));

    it.each([
      ["are refused", { refusesWeeks: true }, 1],
      ["failed in passing, and they are asked for again", { weeksFail: 2 }, 3],
    ])("is learned day by day where weeks %s", async (_, service, tries) => {
      const { refresh, asked, clock } = await learning(service);
      for (let i = 1; i <= 4; i++) {
        await refresh();
        const isLearned = tries > 1 && i >= tries;
        expect(stateAt("a", NOW + 6 * DAY + 8 * HOUR), "Thursday was seen").toBe("outside");
        expect(stateAt("a", NOW + 2 * DAY + 8 * HOUR), "Sunday").toBe(isLearned ? "outside" : "unknown");
        clock.at += HOUR;
      }
      expect(weeksOf(asked)).toEqual(Array(tries).fill(["a"]));
    });

    it("takes weeks that fail again and again for refused", async () => {
      const { refresh, asked, clock } = await learning({ weeksFail: 100 });
      for (let i = 0; i < 5; i++) {
        await refresh();
        clock.at += HOUR;
      }
      expect(weeksOf(asked)).toHaveLength(3);
    });

    it.each([365, 14, 7, 4, 1])("is known from the beginning of a service that gives %d days at most", async (most) => {
      const fleet = [scheduled("a", true, "UTC")];
      await inventory.saveRecordings(fleet);
      const clock = { at: NOW };
      const refresh = refreshOver(clock, {
        fleet,
        asked({ start, end }) {
          const days = (Date.parse(end) - Date.parse(start)) / DAY + 1;
          if (days > most) throw new ServiceError("bad_request", "too many days");
        },
        bucketsOf: (_, from) => bucketsWithin(isOpen, from, clock.at),
      });
      const wrong: string[] = [];
      for (; clock.at < NOW + 1.5 * DAY; clock.at += 20 * MINUTE) {
        await refresh();
        for (let at = clock.at + MINUTE; at <= clock.at + 20 * MINUTE; at += MINUTE)
          if (!isOpen(at) && stateAt("a", at) !== "outside") wrong.push(new Date(at).toISOString().slice(5, 16));
      }
      // Nights of which the first minutes of each hour count as within, so that every camera is reported offline.
      expect(wrong).toEqual([]);
    });

    it.each([
      ["until now", 10],
      ["of the whole of today", 23],
    ])("goes by what the service reports for the present hour, where it serves buckets %s", async (_, lastHour) => {
      const today = Date.UTC(2026, 10, 20);
      const clock = { at: today + 10 * HOUR + 5 * MINUTE };
      const fleet = [scheduled("a", true, "UTC")];
      await inventory.saveRecordings(fleet);
      const withoutToday = (at: number) => at < today && isOpen(at);
      await refreshOver(clock, {
        fleet,
        bucketsOf: (_, from) => bucketsWithin(withoutToday, from, today + lastHour * HOUR),
      })();
      const { uptime, inventory: known } = testStore().store;
      expect(createScheduleLookup(uptime, known)(clock.at).scheduleOf("a"), "a holiday").toBe("outside");
    });
  });
});
