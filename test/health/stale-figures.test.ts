import { expect, test } from "vitest";
import { evaluateSelf, type SelfAlertState } from "../../src/health/evaluate-self.ts";
import { noteOnline, type OnlineSpan } from "../../src/health/online-span.ts";
import { onlineArrived } from "../../src/health/uptime.ts";
import { anUptimeBucket } from "../support/fixtures.ts";
import { HOUR, MINUTE, rule, START } from "./shard-history.ts";

/** A round over all shards takes 45 minutes, since the Core API is slow; each request succeeds. */
const ROUND = 45 * MINUTE;

test("uptime that is read every 45 minutes instead of 10 is reported, or does not keep RecordingNotUploading from firing", () => {
  const every = { statusIntervalMs: 30_000, uptimeIntervalMs: 10 * MINUTE };
  const partly = rule(
    "ServicePartlyUnreachable",
    { kind: "service", state: "partly_unreachable" },
    { forMs: 10 * MINUTE },
  );
  let self: SelfAlertState = {};
  let online: OnlineSpan | undefined;
  const heard: string[] = [];
  for (let now = START; now < START + 24 * HOUR; now += 30_000) {
    const goodAt = now - ((now - START) % ROUND);
    if (goodAt === now) {
      online = noteOnline(online, { status: "online", since: START - 24 * HOUR, readAt: now }, now, every);
      const silent = [...Array(24).keys()].map((i) =>
        anUptimeBucket(START + i * HOUR, 0, { withinSchedule: true, segmentsExpected: 60, segmentsReceived: 0 }),
      );
      const arrived = onlineArrived(
        silent.filter(({ startAt }) => startAt <= now),
        { now, overMs: HOUR, onlineSince: online?.from },
      );
      if (arrived === 0) heard.push("no segments arrive");
    }
    const good = { goodAt: now, attemptedAt: now };
    const evidence = { shards: [good], inventory: good, uptimes: [{ goodAt, attemptedAt: goodAt }], integrations: [] };
    const out = evaluateSelf(self, evidence, {
      now,
      rules: [partly],
      intervalMs: 30_000,
      ...every,
      inventoryIntervalMs: HOUR,
      requestTimeoutMs: 20_000,
    });
    self = out.next;
    heard.push(...out.transitions.map(({ alert }) => alert.key));
  }
  expect(heard).not.toEqual([]);
});

test("uptime that nobody has read for two days is reported", () => {
  const partly = rule("ServicePartlyUnreachable", { kind: "service", state: "partly_unreachable" });
  const good = { goodAt: START, attemptedAt: START };
  const old = { goodAt: START - 48 * HOUR, attemptedAt: START - 48 * HOUR };
  const evidence = { shards: [good], inventory: good, uptimes: [old], integrations: [] };
  const out = evaluateSelf({}, evidence, {
    now: START,
    rules: [partly],
    intervalMs: 30_000,
    uptimeIntervalMs: 10 * MINUTE,
    inventoryIntervalMs: HOUR,
    requestTimeoutMs: 20_000,
  });
  expect(out.transitions).toHaveLength(1);
});
