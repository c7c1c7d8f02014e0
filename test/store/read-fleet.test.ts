import { expect, test } from "vitest";
import { knownOverview, type ShardOverview } from "../../src/health/shard-overview.ts";
import { readOverview } from "../../src/store/read-fleet.ts";

const NOW = 1_000_000;

test("the overview of the fleet is of the shards that are assigned, at this moment, with names as they are stored now", async () => {
  const stored: ShardOverview = {
    ...{ at: NOW - 10, gapMs: 30, mark: 1, alerting: 0, offline: {}, readAt: NOW - 10 },
    locations: [["L1", 2, 1]],
  };
  const left = knownOverview(2, { ...stored, locations: [["gone", 5]] });
  let followed = 0;
  const inventory = { follow: async () => void followed++, location: () => undefined };
  const store = {
    shards: {
      overviews: async () =>
        new Map([
          ["1", knownOverview(1, stored)],
          ["2", left],
        ]),
      attempts: async () => new Map(),
    },
    inventory,
  };
  const intervals = { intervalMs: 10, requestTimeoutMs: 1, uptimeIntervalMs: 10, inventoryIntervalMs: 10 };
  const assigned = { shards: () => [1] };
  const at = (now: number) => readOverview({ store: store as never, assigned, intervals, clock: { now: () => now } });
  const fleet = await at(NOW);
  expect([...fleet.locations.keys()]).toEqual(["L1"]);
  expect(fleet).toMatchObject({ now: NOW, counts: { online: 2, offline: 1 }, inventory, evidence: { known: 1 } });
  expect(followed).toBe(1);
  expect((await at(NOW + 21)).counts).toEqual({ online: 0, offline: 0, degraded: 0, unknown: 3 });
});
