import { expect, it } from "vitest";
import { createDigestSchedule } from "../../src/digest/schedule.ts";
import { silentLogger } from "../../src/lib/log.ts";
import type { DigestDue } from "../../src/store/digests.ts";
import { HOUR, MINUTE } from "../store/fixtures.ts";

/** Queues that only write down what they were asked to do. */
function notebook() {
  const calls: unknown[][] = [];
  return {
    took: () => calls.splice(0),
    queues: {
      add: async (queue: string, data: object, options: object = {}) => void calls.push(["add", queue, data, options]),
    },
  };
}

const daily = { name: "daily ops", cron: "0 8 * * *", timezone: "Europe/London" };
const EIGHT = Date.parse("2026-03-28T08:00:00Z");
const DAY = 24 * HOUR;

function digestsOf(digests: readonly (typeof daily)[], due: [string, DigestDue][] = []) {
  const { queues, took } = notebook();
  const stored = new Map(due);
  const clock = { at: EIGHT - HOUR };
  const look = createDigestSchedule({
    clock: { now: () => clock.at },
    log: silentLogger,
    queues,
    store: {
      schedule: async () => new Map(stored),
      reschedule: async (name, entry) => void stored.set(name, entry),
      unschedule: async (name) => void stored.delete(name),
    },
    digests,
  });
  return { look, took, stored, clock };
}

it("a digest is due by its cron and zone, once, also over a clock change", async () => {
  const { look, took, clock } = digestsOf([daily]);
  const jobs: number[] = [];
  for (; clock.at <= EIGHT + 2 * DAY; clock.at += 30 * MINUTE) {
    await look();
    jobs.push(...took().map(([, , data]) => (data as { at: number }).at));
  }
  expect(jobs).toEqual([EIGHT, EIGHT + DAY - HOUR, EIGHT + 2 * DAY - HOUR]);
});

it("one missed while nobody was there is made up for; of several the latest", async () => {
  const entry = { spec: "0 8 * * * Europe/London", dueAt: EIGHT - 5 * DAY };
  const { look, took, stored, clock } = digestsOf([daily], [["daily ops", entry]]);
  clock.at = EIGHT + 2 * HOUR;
  await look();
  await look();
  expect(took()).toEqual([["add", "digest", { digest: "daily ops", at: EIGHT }, { id: expect.any(String) }]]);
  expect(stored.get("daily ops")?.dueAt).toBe(EIGHT + DAY - HOUR);
});

it("a new digest, or another cron, sends nothing of the past; a removed one is deleted", async () => {
  const old = { spec: "0 7 * * * Europe/London", dueAt: EIGHT - DAY };
  const { look, took, stored } = digestsOf(
    [daily],
    [
      ["daily ops", old],
      ["gone", old],
    ],
  );
  await look();
  expect(took()).toEqual([]);
  expect([...stored]).toEqual([["daily ops", { spec: "0 8 * * * Europe/London", dueAt: EIGHT }]]);
});

it("one that can never be due blocks no other", async () => {
  const never = { ...daily, name: "never", cron: "0 0 31 2 *" };
  const { look, stored } = digestsOf([never, daily]);
  await look();
  expect([...stored.keys()]).toEqual(["daily ops"]);
});
