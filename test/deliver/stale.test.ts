import { expect, test } from "vitest";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { createStaleness } from "../../src/deliver/stale.ts";
import type { Subject } from "../../src/health/alert.ts";
import type { Attempt } from "../../src/health/attempt.ts";
import { firing, HOUR, over, T0 } from "../store/fixtures.ts";
import { aRecording } from "../support/fixtures.ts";

const I = 10_000;
const NOW = T0 + 14 * HOUR;
const read = (goodAt: number): Attempt => ({ goodAt, attemptedAt: goodAt });

/** Which of the shards 1 and 2 is stale for each alert, in a process that runs since then. The shards have all but `lacking`. */
async function shardsOf(
  alerts: Parameters<ReturnType<typeof createStaleness>>[0],
  attempts: Record<string, Attempt>,
  runsSince = 0,
  lacking: Readonly<Record<number, readonly string[]>> = {},
) {
  const assigned = createAssigned();
  assigned.set(
    new Map([
      ["north", 1],
      ["south", 2],
    ]),
  );
  const attemptsOf = async (subjects: readonly string[]) =>
    new Map(Object.entries(attempts).filter(([subject]) => subjects.includes(subject)));
  const inventory = {
    recording: (id: string) => (id === "moved" ? aRecording(id, { locationId: "north" }) : undefined),
  };
  const holding = async (places: readonly { readonly shard: number; readonly subject: Subject }[]) =>
    places.map(({ shard, subject }) => !lacking[shard]?.includes(subject.id));
  const deps = {
    shards: { attemptsOf, holding },
    assigned,
    inventory,
    statusIntervalMs: I,
    runsSince: () => runsSince,
  };
  const stale = await createStaleness(deps)(alerts, NOW);
  return alerts.map((alert) => stale(alert)?.by);
}

const about = (name: string, locationId?: string, kind: "recording" | "external" = "recording") => ({
  ...firing(name, T0, locationId === undefined ? {} : { location_id: locationId }),
  subject: { kind, id: name },
});
const location = { ...about("south"), subject: { kind: "location", id: "south" } } as const;
const service = { ...about("service"), subject: { kind: "service", id: "analytics" } } as const;

test("after a pause what is not read waits by shard; ends, external alerts and those about the service do not", async () => {
  const attempts = { fleet: read(T0), "shard:1": read(NOW - 1), "shard:2": read(T0) };
  const ended = over(about("ended", "south"), T0 + 1);
  const alerts = [about("a", "north"), about("b", "south"), location, ended, about("c", "south", "external"), service];
  expect(await shardsOf(alerts, attempts)).toEqual([undefined, "shard:2", "shard:2", undefined, undefined, undefined]);
});

test("what a good sweep did not read waits from when it was read last: a recording, or all of a location", async () => {
  const partly = (unread: Record<string, number>): Attempt => ({ ...read(NOW - 1), unread });
  const missing = { ...about("m", "south"), facts: { timezone: "UTC", problem: "missing" as const } };
  const alerts = [about("a", "south"), about("b", "south"), missing, location, about("c", "north")];
  const fleet = { ...read(NOW - 1), since: T0 };
  const staleBy = async (unread: Record<string, number>) => {
    const found = await shardsOf(alerts, { fleet, "shard:2": partly(unread), "shard:1": read(NOW - 1) });
    return alerts.flatMap(({ subject }, i) => (found[i] ? [subject.id] : []));
  };
  expect(await staleBy({ a: T0 - 1, m: T0 - 1 })).toEqual(["a"]);
  expect(await staleBy({ a: NOW - 4 * I })).toEqual(["a"]);
  expect(await staleBy({ a: NOW - 2 * I })).toEqual([]);
  expect(await staleBy({ south: NOW - 4 * I })).toEqual(["a", "b", "m", "south"]);
  expect(await staleBy({ south: NOW - 2 * I, b: NOW - 4 * I })).toEqual(["b"]);
});

test("a group waits until it was evaluated by what was read since", async () => {
  const group = { ...about("camera_server/edge-7"), subject: { kind: "group", id: "camera_server/edge-7" } } as const;
  const staleBy = async (fleet: Attempt) => (await shardsOf([group], { fleet, "shard:1": read(NOW - 1) }, NOW - I))[0];
  const unread = (at: number) => ({ ...read(NOW - 1), unread: { "camera_server/edge-7": at } });
  expect(await staleBy(read(NOW - I - 1))).toBe("fleet");
  expect(await staleBy(unread(0))).toBe("fleet");
  expect(await staleBy(unread(NOW - I - 1))).toBe("fleet");
  expect(await staleBy(unread(NOW - 2))).toBeUndefined();
  expect(await staleBy(read(NOW - 1))).toBeUndefined();
});

test("what its shard does not have waits there, though all else is read; what it left has it until then", async () => {
  const attempts = { fleet: read(NOW - 1), "shard:1": read(NOW - 1), "shard:2": read(NOW - 1) };
  const alerts = [about("moved", "south"), about("a", "south"), location];
  expect(await shardsOf(alerts, attempts)).toEqual([undefined, undefined, undefined]);
  const neither = { 1: ["moved"], 2: ["moved", "a", "south"] };
  expect(await shardsOf(alerts, attempts, 0, neither)).toEqual(["shard:1", "shard:2", "shard:2"]);
  expect(await shardsOf(alerts, attempts, 0, { 1: ["moved"] })).toEqual([undefined, undefined, undefined]);
  expect(await shardsOf(alerts, { ...attempts, "shard:2": read(T0) }, NOW - I, { 1: ["moved"] })).toEqual([
    "shard:1",
    "shard:2",
    "shard:2",
  ]);
});

test("a recording that moved waits until the shard that it is in now, or was in, has read it", async () => {
  const fleet = read(NOW - 1);
  const moved = [about("moved", "south")];
  const readIn = async (one: number, two: number, lacking: readonly string[] = []) =>
    (await shardsOf(moved, { fleet, "shard:1": read(one), "shard:2": read(two) }, NOW - I, { 2: lacking }))[0];
  expect(await readIn(NOW - 1, T0)).toBeUndefined();
  expect(await readIn(T0, NOW - 1)).toBeUndefined();
  expect(await readIn(T0, NOW - 1, ["moved"])).toBe("shard:1");
});

test("after a start, however soon, everything waits until it was read since", async () => {
  const fleet = { ...read(NOW - I), since: 0 };
  const alerts = [about("a", "north"), about("b", "south")];
  const attempts = { fleet, "shard:1": read(NOW - 1), "shard:2": read(NOW - 3) };
  expect(await shardsOf(alerts, attempts)).toEqual([undefined, undefined]);
  expect(await shardsOf(alerts, attempts, NOW - 2)).toEqual([undefined, "shard:2"]);
});

test("an alert of a location that is assigned to no shard any more waits for the shard that has it", async () => {
  const gone = [about("a", "gone")];
  const attempts = { fleet: read(T0), "shard:1": read(NOW - 1), "shard:2": read(T0) };
  expect(await shardsOf(gone, attempts, NOW - I, { 1: ["a"] })).toEqual(["shard:1"]);
  expect(await shardsOf(gone, attempts, NOW - I, { 2: ["a"] })).toEqual([undefined]);
});
