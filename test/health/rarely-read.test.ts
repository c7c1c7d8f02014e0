import { expect, test } from "vitest";
import type { Attempt } from "../../src/health/attempt.ts";
import { lateMs } from "../../src/health/rhythm.ts";
import { FleetStory } from "./fleet-story.ts";
import { HOUR, INTERVAL, MINUTE, offlineRule, rule, START, Story } from "./shard-history.ts";

const rules = [
  rule(
    "ServiceUnreachable",
    { kind: "service", state: "unreachable" },
    { forMs: 3 * MINUTE, keepFiringForMs: 3 * MINUTE },
  ),
  rule("ServicePartlyUnreachable", { kind: "service", state: "partly_unreachable" }, { forMs: 10 * MINUTE }),
];

/** Of `shards` one is answered when `isAnswered` says so, and says offline for 6 h: what is heard, and after how long. */
function hear(shards: number, isAnswered: (sweep: number) => boolean) {
  const story = new Story(offlineRule({ forMs: 2 * MINUTE, keepFiringForMs: 5 * MINUTE }));
  story.unbroken = true;
  story.sweep({ a: "online" });
  const began = story.now;
  const self = new FleetStory(...rules);
  self.requestTimeoutMs = 20_000;
  self.startedAt = START - HOUR;
  let own: Attempt = { goodAt: story.now, attemptedAt: story.now };
  const heard = new Map<string, number>();
  let now = story.now;
  const note = (fired: string[]) => {
    for (const key of fired) if (!heard.has(key)) heard.set(key, (now - began) / MINUTE);
  };
  for (let i = 1; i <= 6 * 120; i++) {
    now += INTERVAL;
    if (isAnswered(i)) {
      story.now = now - INTERVAL;
      note(story.sweep({ a: "offline" }));
      own = { goodAt: now, attemptedAt: now, known: 1, lateMs: lateMs(story.state.gaps, INTERVAL) };
    } else own = { ...own, attemptedAt: now, error: "got no reply within 20 s" };
    self.now = now;
    self.tick(() => ({ shards: [own, ...Array(shards - 1).fill(self.good())], inventory: self.good() }), 0);
    note(self.last.transitions.flatMap(({ kind, alert }) => (kind === "firing" ? alert.ruleId : [])));
  }
  return heard;
}

test.each([1, 20])(
  "of %d shards one is answered every nth time: the outage fires by that rhythm, and the service is said to be late",
  (shards) => {
    for (let nth = 4; nth <= 20; nth++) {
      const heard = hear(shards, (i) => i % nth === 0);
      expect(heard.get("firing RecordingOffline/recording/a"), `every ${nth}th`).toBeLessThanOrEqual(nth * 2.5);
      const service = Math.min(...rules.map(({ id }) => heard.get(id) ?? Number.POSITIVE_INFINITY));
      expect(service, `every ${nth}th`).toBeLessThanOrEqual(30);
    }
  },
);

/** Numbers of a fixed sequence, 0–1. */
function randoms(seed: number): () => number {
  let at = seed;
  return () => {
    at = (at * 1_103_515_245 + 12_345) % 2 ** 31;
    return at / 2 ** 31;
  };
}

test.each([
  [0.7, 10, 120],
  [0.9, 60, 45],
])(
  "where %d of the requests of a shard fail by chance, the outage fires, and somebody hears of the service",
  (fails, outage, service) => {
    const runs = Array.from({ length: 20 }, (_, seed) => {
      const random = randoms(seed + 1);
      return hear(1, () => random() >= fails);
    });
    const median = (of: (heard: ReadonlyMap<string, number>) => number) => runs.map(of).sort((a, b) => a - b)[10];
    expect(median((heard) => heard.get("firing RecordingOffline/recording/a") ?? Infinity)).toBeLessThanOrEqual(outage);
    const ofService = (heard: ReadonlyMap<string, number>) =>
      Math.min(...rules.map(({ id }) => heard.get(id) ?? Infinity));
    expect(median(ofService)).toBeLessThanOrEqual(service);
    expect(Math.max(...runs.map(ofService))).toBeLessThan(360);
  },
);

test("of sweeps two minutes and 30 s apart in turns an outage fires within five minutes, and they are said to be slow", () => {
  const story = new Story(offlineRule({ forMs: 2 * MINUTE }));
  story.unbroken = true;
  story.sweep({ a: "online" });
  const began = story.now;
  const self = new FleetStory(...rules);
  const said: string[] = [];
  let firedAfter = Number.POSITIVE_INFINITY;
  for (let i = 0; story.now < began + HOUR; i++) {
    const gap = i % 2 === 0 ? 4 * INTERVAL : INTERVAL;
    const tick = (at: number) => {
      self.now = at;
      const own = { goodAt: story.now, attemptedAt: story.now, known: 1, lateMs: lateMs(story.state.gaps, INTERVAL) };
      said.push(...self.tick(() => ({ shards: [own], inventory: self.good() }), 0));
    };
    for (let at = story.now + INTERVAL; at < story.now + gap; at += INTERVAL) tick(at);
    if (story.sweep({ a: "offline" }, {}, gap).length > 0) firedAfter = Math.min(firedAfter, story.now - began);
    tick(story.now);
  }
  expect(firedAfter).toBeLessThanOrEqual(5 * MINUTE);
  expect(said).toEqual(["firing ServicePartlyUnreachable/service/analytics"]);
});
