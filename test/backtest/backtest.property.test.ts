import fc from "fast-check";
import { expect, test } from "vitest";
import type { TimeSpan } from "../../src/backtest/setup.ts";
import type { Transition } from "../../src/health/evaluation.ts";
import type { Rule } from "../../src/health/model.ts";
import type { RecordingUptime } from "../../src/health/recording.ts";
import { rule } from "../health/shard-history.ts";
import { bruteForce, type Episode } from "./brute-force.ts";
import { bucketsOf, DAY, HOUR, type Kind, MINUTE, MONDAY, recording, replayed, setupOf } from "./histories.ts";

/** Begins between two sweeps. */
const SPAN: TimeSpan = { from: MONDAY + 17 * MINUTE + 1, to: MONDAY + 3 * DAY };
const LEAD_HOURS = 12;
const HOURS = LEAD_HOURS + 3 * 24;
const kind = fc.constantFrom<Kind>("fine", "fine", "fine", "poor", "dark", "dark", "outside", "null", "none");
const kinds = fc
  .array(fc.tuple(kind, fc.integer({ min: 1, max: 14 })), { minLength: 4, maxLength: 20 })
  .map((runs) => runs.flatMap(([one, length]) => Array<Kind>(length).fill(one)))
  .map((some) => [...some, ...Array<Kind>(HOURS).fill("fine")].slice(0, HOURS));

const minutes = (...choices: number[]) => fc.constantFrom(...choices).map((count) => count * MINUTE);
const timing = fc.record({
  forMs: minutes(0, 5, 7, 60, 90, 300),
  keepFiringForMs: minutes(0, 1, 10, 61, 240),
  respectSchedule: fc.boolean(),
});
const share = fc.constantFrom(0.3, 0.5, 0.75, 1);

const statusRule = timing.map((more) => rule("Offline", { kind: "status", status: "offline" }, more));
const uptimeRule = fc
  .record({
    below: fc.constantFrom(0.5, 0.9, 0.95),
    margin: fc.constantFrom(0, 0.03),
    hours: fc.integer({ min: 1, max: 12 }),
  })
  .chain(({ below, margin, hours }) =>
    timing.map((more) =>
      rule("LowUptime", { kind: "overall_uptime", below, clearAbove: below + margin, overMs: hours * HOUR }, more),
    ),
  );
const locationRule = fc
  .record({ atLeast: share, least: share, min: fc.integer({ min: 1, max: 3 }) })
  .chain(({ atLeast, least, min }) =>
    timing.map((more) =>
      rule(
        "LocationOffline",
        { kind: "location_offline", atLeast, clearBelow: Math.min(least, atLeast), minRecordings: min },
        more,
      ),
    ),
  );

const made = fc.record({
  histories: fc.array(kinds, { minLength: 1, maxLength: 3 }),
  rules: fc.tuple(statusRule, uptimeRule, locationRule),
  statusIntervalMs: minutes(5, 7),
  uptimeIntervalMs: minutes(5, 10, 60),
  scheduled: fc.boolean(),
});

function uptimesOf(histories: readonly (readonly Kind[])[], useUploadingSchedule: boolean): RecordingUptime[] {
  return histories.map((one, i) => ({
    recording: recording(`r${i}`, "l1", { useUploadingSchedule }),
    buckets: bucketsOf(one, MONDAY - LEAD_HOURS * HOUR),
  }));
}

function episodesOf(transitions: readonly Transition[]): Episode[] {
  const ended = new Map(
    transitions.flatMap(({ kind: what, alert }) => (what === "resolved" ? [[alert.id, alert.updatedAt]] : [])),
  );
  return transitions
    .filter(({ kind: what }) => what === "firing")
    .map(({ alert }) => ({
      rule: alert.ruleId,
      subject: alert.subject.id,
      firedAt: alert.firedAt,
      endedAt: ended.get(alert.id),
    }));
}

const inOrder = (episodes: readonly Episode[]) =>
  episodes
    .map(({ rule: name, subject, firedAt, endedAt }) =>
      [name, subject, iso(firedAt), endedAt === undefined ? "goes on" : iso(endedAt)].join(" "),
    )
    .sort();
const iso = (at: number) => new Date(at).toISOString().slice(0, 16);

test("of any history exactly those episodes fire that looking at every sweep finds", () => {
  let found = 0;
  fc.assert(
    fc.property(made, ({ histories, rules, scheduled, ...intervals }) => {
      const uptimes = uptimesOf(histories, scheduled);
      const setup = setupOf(rules as readonly Rule[], intervals);
      const expected = bruteForce(uptimes, setup, SPAN);
      found += expected.length;
      expect(inOrder(episodesOf(replayed(uptimes, setup, SPAN)))).toEqual(inOrder(expected));
    }),
    { numRuns: 35 },
  );
  expect(found).toBeGreaterThan(150);
});
