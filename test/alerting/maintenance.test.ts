import fc from "fast-check";
import { expect, test } from "vitest";
import { type Maintenance, maintenanceOf, windowsIn } from "../../src/alerting/maintenance.ts";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { isWithin, type NamedInterval, type TimeInterval } from "../../src/alerting/time-interval.ts";

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

function maintenance(name: string, matchers: string, ...timeIntervals: NamedInterval[]): Maintenance {
  return { name, matchers: parseMatchers(matchers), timeIntervals, comment: `${name} of the shop` };
}

const daily = (from: number, to: number, location = "UTC", rest: Partial<TimeInterval> = {}): NamedInterval => ({
  name: `${from}-${to}`,
  intervals: [{ times: [{ from: from * 60, to: to * 60 }], location, ...rest }],
});

const at = (text: string) => Date.parse(text);

test("what matches is suppressed to the millisecond from the window's begin to its end, by its name", () => {
  const night = maintenance("stock-take", "organisation=acme", daily(22, 24), daily(0, 6));
  const of = (text: string, organisation = "acme") => maintenanceOf([night], [{ organisation }], at(text));
  expect(of("2026-03-02T21:59:59.999Z")).toBeUndefined();
  expect(of("2026-03-02T22:00:00Z")).toEqual({
    reason: "maintenance",
    by: "stock-take",
    comment: "stock-take of the shop",
    since: at("2026-03-02T22:00:00Z"),
    until: at("2026-03-03T06:00:00Z"),
  });
  expect(of("2026-03-03T05:59:59.999Z")).toMatchObject({ until: at("2026-03-03T06:00:00Z") });
  expect(of("2026-03-03T06:00:00Z")).toBeUndefined();
  expect(of("2026-03-03T01:00:00Z", "other")).toBeUndefined();
});

test("of several maintenances the one that lasts longest is named, one without a known end before all", () => {
  const all = [
    maintenance("short", "a=b", daily(0, 2)),
    maintenance("long", "a=b", daily(1, 5)),
    maintenance("always", "c=d", { name: "always", intervals: [{ location: "UTC" }] }),
  ];
  const of = (labels: Record<string, string>) => maintenanceOf(all, [labels], at("2026-03-02T01:30:00Z"));
  expect(of({ a: "b" })).toMatchObject({ by: "long", until: at("2026-03-02T05:00:00Z") });
  expect(of({ a: "b", c: "d" })).toEqual({ reason: "maintenance", by: "always", comment: "always of the shop" });
});

test.each([
  ["skipped", "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z"],
  ["twice", "2026-10-24T23:30:00Z", "2026-10-25T02:00:00Z"],
])("a window over an hour that clocks have %s goes by the clock on the wall", (_, from, to) => {
  const night = { name: "night", intervals: [{ times: [{ from: 30, to: 120 }], location: "Europe/London" }] };
  const bounds = { from: at(from) - 12 * 60 * MINUTE, to: at(to) + 12 * 60 * MINUTE };
  expect(windowsIn(maintenance("w", "a=b", night), bounds)).toEqual([{ from: at(from), to: at(to) }]);
});

const zones = ["UTC", "Europe/London", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe", "America/Havana"];
const interval = fc.record(
  {
    location: fc.constantFrom(...zones),
    times: fc.array(
      fc
        .tuple(fc.nat(1_439), fc.integer({ min: 1, max: 1_440 }))
        .map(([a, b]) => ({ from: Math.min(a, b - 1), to: b })),
      { minLength: 1, maxLength: 2 },
    ),
    weekdays: fc.constantFrom([{ from: 0, to: 0 }], [{ from: 1, to: 6 }]),
    daysOfMonth: fc.constantFrom([{ from: -1, to: -1 }], [{ from: 25, to: 31 }]),
  },
  { requiredKeys: ["location"] },
);

test("the windows are the instants inside the intervals, also on days on which clocks change", () => {
  const days = fc.constantFrom("2026-03-08", "2026-03-28", "2026-04-04", "2026-10-24", "2026-10-31", "2026-11-01");
  fc.assert(
    fc.property(fc.array(interval, { minLength: 1, maxLength: 2 }), days, (intervals, day) => {
      const named = { name: "n", intervals };
      const bounds = { from: at(`${day}T07:13:00Z`), to: at(`${day}T07:13:00Z`) + 2 * DAY };
      const windows = windowsIn(maintenance("w", "a=b", named), bounds);
      for (let now = bounds.from; now < bounds.to; now += 17 * MINUTE) {
        const isInside = windows.some(({ from, to }) => from <= now && now < to);
        expect(isInside).toBe(isWithin(named, now));
      }
      for (const edge of windows.flatMap(({ from, to }) => [from, to])) {
        const isEdge =
          isWithin(named, edge) !== isWithin(named, edge - 1) || edge === bounds.from || edge === bounds.to;
        expect(isEdge).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});
