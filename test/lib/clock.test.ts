import { expect, test } from "vitest";
import { correctedClock, steadyClock } from "../../src/lib/clock.ts";

const T0 = Date.UTC(2026, 2, 2, 8);
const HOUR = 3_600_000;

function machine() {
  let time = T0;
  const clock = correctedClock({ now: () => time });
  const set = (to: number) => {
    time = to;
  };
  return { clock, set };
}

test("it follows the other clock, in whole milliseconds", () => {
  const { clock, set } = machine();
  clock.correct(T0 + 5_000.4);
  expect(clock.now()).toBe(T0 + 5_000);
  set(T0 + 1_000);
  expect(clock.now()).toBe(T0 + 6_000);
});

test("a small correction back makes it stand still, not go back", () => {
  const { clock, set } = machine();
  clock.correct(T0 + 5_000);
  expect(clock.now()).toBe(T0 + 5_000);
  clock.correct(T0 + 2_000);
  expect(clock.now()).toBe(T0 + 5_000);
  set(T0 + 4_000);
  expect(clock.now()).toBe(T0 + 6_000);
});

test("one that was not used yet goes back at once", () => {
  const { clock, set } = machine();
  expect(clock.now()).toBe(T0);
  clock.begin(T0 - 30_000.4);
  expect(clock.now()).toBe(T0 - 30_000);
  set(T0 + 1_000);
  expect(clock.now()).toBe(T0 - 29_000);
});

test("a clock that was far ahead does not stand still until time has caught up", () => {
  const { clock } = machine();
  clock.correct(T0 + 48 * HOUR);
  expect(clock.now()).toBe(T0 + 48 * HOUR);
  clock.correct(T0);
  expect(clock.now()).toBe(T0);
});

test("the steady clock shows the machine's time in whole milliseconds", () => {
  const clock = steadyClock();
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000);
  expect(Number.isInteger(clock.now())).toBe(true);
});
