import { expect, test } from "vitest";
import { noteOnline, type OnlineSpan } from "../../src/health/online-span.ts";
import { onlineArrived } from "../../src/health/uptime.ts";
import { anUptimeBucket } from "../support/fixtures.ts";
import { FleetStory } from "./fleet-story.ts";
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
  const story = new FleetStory(partly);
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
    story.now = now;
    heard.push(...story.tick(() => ({ shards: [story.good()], uptimes: [{ goodAt, attemptedAt: goodAt }] }), 0));
  }
  expect(heard).not.toEqual([]);
});
