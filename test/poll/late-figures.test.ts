import { expect, it } from "vitest";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import type { Recording, UptimeBucket } from "../../src/health/recording.ts";
import { figuresOf } from "../../src/health/uptime.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createCommit } from "../../src/poll/commit.ts";
import { createScheduleLookup } from "../../src/poll/schedule-lookup.ts";
import { createSweep } from "../../src/poll/sweep.ts";
import { createRefreshUptime } from "../../src/poll/uptime.ts";
import { rule, uptimeRule } from "../health/shard-history.ts";
import { rootRoute } from "../http/serve.ts";
import { HOUR, integration, SECOND, useTestStore } from "../store/fixtures.ts";
import { anUptimeBucket, aRecording } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";

const STEP = 30 * SECOND;
const MINUTE = 60 * SECOND;
const DAY = 24 * HOUR;
const notUploading = rule(
  "RecordingNotUploading",
  { kind: "segments_received", below: 0.05, clearAbove: 0.5, overMs: HOUR },
  { forMs: 20 * MINUTE },
);

describeWithRedis("figures that are late", () => {
  const testStore = useTestStore();
  it.each([
    [2, "made up for", [uptimeRule(), notUploading]],
    [3, "made up for", [uptimeRule()]],
    [2, "never made up for", [uptimeRule()]],
    [3, "never made up for", [uptimeRule(), notUploading]],
  ])(
    "by %d h, and %s: 30 recordings, open 08 to 20, all online, have no low uptime",
    async (lateHours, then, rules) => {
      const store = testStore().replica();
      const fleet: Recording[] = Array.from({ length: 30 }, (_, i) =>
        aRecording(`r${i}`, { locationId: "north", useUploadingSchedule: true, timezone: "UTC" }),
      );
      await store.inventory.saveRecordings(fleet);
      const stall = Date.UTC(2026, 10, 20, 15);
      const clock = { at: stall - 3 * HOUR };
      const assigned = createAssigned(() => store.assignments.read());
      assigned.set(new Map([["north", 0]]));
      const served = (from: number): UptimeBucket[] => {
        const all: UptimeBucket[] = [];
        for (let at = from; at <= clock.at; at += HOUR) {
          const hour = (at % DAY) / HOUR;
          const within = hour >= 8 && hour < 20;
          // From 15:00 on the service's pipeline is behind: nothing is counted until it has caught up.
          const over = stall + lateHours * HOUR;
          const isLost = at >= stall && (clock.at < over + 20 * MINUTE || (then === "never made up for" && at < over));
          const came = !isLost;
          all.push(
            anUptimeBucket(at, within && came ? 1 : 0, {
              withinSchedule: within,
              segmentsExpected: within ? 60 : 0,
              segmentsReceived: within && came ? 60 : 0,
            }),
          );
        }
        return all;
      };
      const watch = { statusIntervalMs: STEP, uptimeIntervalMs: 10 * MINUTE };
      const refresh = createRefreshUptime({
        clock: { now: () => clock.at },
        watch,
        log: silentLogger,
        service: {
          uptimes: async ({ start, recids = [] }) => ({
            results: fleet
              .filter(({ id }) => recids.includes(id))
              .map((recording) => ({ recording, buckets: served(Date.parse(start)) })),
            dropped: 0,
          }),
        },
        store: store.shards,
        uptime: store.uptime,
        inventory: store.inventory,
        figures: figuresOf(rules),
        retainMs: 3 * DAY,
        indexTimezone: "recording",
      });
      const sweep = createSweep({
        clock: { now: () => clock.at },
        log: silentLogger,
        service: {
          statusUptime: async () => ({
            readings: fleet.map(({ id }) => ({
              recordingId: id,
              locationId: "north",
              status: "online" as const,
              lastSeenAt: clock.at,
              averageQuality: 1,
            })),
            unreadable: [],
            unidentified: 0,
          }),
        },
        store: store.shards,
        assigned,
        inventory: store.inventory,
        nameThem: (ids) => store.inventory.know(ids),
        uptime: store.uptime,
        schedules: createScheduleLookup(store.uptime, store.inventory),
        rules,
        watch: { exclude: [], forgetAfterMs: DAY, ...watch, locationsPerRequest: 50 },
        commit: createCommit({
          log: silentLogger,
          route: { ...rootRoute, groupWaitMs: 0, groupIntervalMs: 0, repeatIntervalMs: HOUR },
          integrations: [integration("ops/slack/0")],
          wake: async () => {},
        }),
        swept: () => {},
      });
      const first = new Map<string, string>();
      for (let i = 0; clock.at < stall + 5 * HOUR - 20 * MINUTE; i++) {
        await sweep(0);
        if (i % 20 === 0) await refresh(0, new AbortController().signal);
        if (i % 20 === 5) {
          for (const { ruleId, subject } of await store.shards.alerts()) {
            const key = `${ruleId}`;
            if (!first.has(`${key} ${subject.id}`))
              first.set(`${key} ${subject.id}`, new Date(clock.at).toISOString().slice(11, 16));
          }
        }
        clock.at += STEP;
      }
      expect([...first.keys()].filter((key) => key.startsWith("LowUptime"))).toEqual([]);
    },
  );
});
