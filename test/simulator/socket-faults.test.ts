import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { FaultName } from "../../src/simulator/faults.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { type Client, connect, handClock, locationIds, type StatusRow, snapshot, startSmall } from "./client.ts";

let sim: Simulator;
let client: Client;
beforeAll(async () => {
  sim = await startSmall({ clock: handClock() });
});
beforeEach(async () => {
  client = await connect(sim);
});
afterEach(() => {
  sim.faults.clearAll();
  client.ws.terminate();
});
afterAll(() => sim.close());

const ids = () => sim.world.recordings.map(({ id }) => id);
const all = () => snapshot(client, locationIds(sim));

describe("status rows", () => {
  const places = (rows: StatusRow[]) => rows.map((row) => ids().indexOf(row.recording_id));
  const wrong = (rows: StatusRow[]) =>
    rows.slice(0, 5).map((row) => Object.values(row).find((one) => typeof one !== "string" && !(one > 0 && one < 1)));
  test.each<[FaultName, object, unknown, (rows: StatusRow[]) => unknown]>([
    ["missing_rows", { every: 3 }, [1, 2, 4, 5, 7, 8, 10, 11], places],
    ["missing_rows", { every: 1, times: 1 }, [], places],
    ["empty_snapshot", {}, [], places],
    ["wrong_types", {}, [42, ["not", "an", "id"], 1, 1_700_000_000, undefined], wrong],
    ["wrong_types", {}, "0.9", (rows) => rows[4]?.average_quality],
    ["wrong_types", { field: "row", every: 12 }, "not a row", (rows) => rows[0]],
    [
      "unknown_status",
      { status: "rebooting", every: 12 },
      ["rebooting", "online"],
      (rows) => rows.slice(0, 2).map(({ status }) => status),
    ],
  ])("%s with %j gives %j, and all is as it was once it is cleared", async (name, params, expected, shown) => {
    const before = await all();
    sim.faults.set(name, params);
    expect(shown(await all())).toEqual(expected);
    sim.faults.clearAll();
    expect(await all()).toEqual(before);
  });

  test("faults can be of recordings by id", async () => {
    sim.faults.set("missing_rows", { recordings: ids().slice(1, 3) });
    expect(places(await all())).toEqual([0, ...Array.from({ length: 9 }, (_, i) => i + 3)]);
  });

  test("several at once each do their part", async () => {
    sim.faults.set("unknown_status", { every: 2 });
    sim.faults.set("missing_rows", { every: 4 });
    const rows = await all();
    expect(rows).toHaveLength(9);
    expect(rows.filter(({ status }) => status === "maintenance")).toHaveLength(3);
  });
});
