import { expect, test } from "vitest";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { createStaleness } from "../../src/deliver/stale.ts";
import type { Attempt } from "../../src/health/attempt.ts";
import { firing, HOUR, over, T0 } from "../store/fixtures.ts";
import { aRecording } from "../support/fixtures.ts";

const I = 10_000;
const NOW = T0 + 14 * HOUR;
const read = (goodAt: number): Attempt => ({ goodAt, attemptedAt: goodAt });

/** Which of the shards 1 and 2 is stale for each alert, in a process that runs since then. */
async function shardsOf(
  alerts: Parameters<ReturnType<typeof createStaleness>>[0],
  attempts: Record<string, Attempt>,
  runsSince = 0,
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
  const deps = { shards: { attemptsOf }, assigned, inventory, statusIntervalMs: I, runsSince: () => runsSince };
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

test("a recording that moved waits for the shard that it is in now", async () => {
  const fleet = read(NOW - 1);
  const since = NOW - I;
  expect(
    await shardsOf([about("moved", "south")], { fleet, "shard:1": read(NOW - 1), "shard:2": read(T0) }, since),
  ).toEqual([undefined]);
  expect(
    await shardsOf([about("moved", "south")], { fleet, "shard:1": read(T0), "shard:2": read(NOW - 1) }, since),
  ).toEqual(["shard:1"]);
});

test("after a start, however soon, everything waits until it was read since", async () => {
  const fleet = { ...read(NOW - I), since: 0 };
  const alerts = [about("a", "north"), about("b", "south")];
  const attempts = { fleet, "shard:1": read(NOW - 1), "shard:2": read(NOW - 3) };
  expect(await shardsOf(alerts, attempts)).toEqual([undefined, undefined]);
  expect(await shardsOf(alerts, attempts, NOW - 2)).toEqual([undefined, "shard:2"]);
});

test("an alert of a location that is assigned to no shard any more waits for every shard", async () => {
  const gone = [about("a", "gone")];
  const fleet = read(T0);
  expect(await shardsOf(gone, { fleet, "shard:1": read(NOW - 1), "shard:2": read(T0) })).toEqual(["shard:2"]);
  expect(await shardsOf(gone, { fleet, "shard:1": read(NOW - 1), "shard:2": read(NOW - 1) })).toEqual([undefined]);
});
