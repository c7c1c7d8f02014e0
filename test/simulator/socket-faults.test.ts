import { once } from "node:events";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { FaultInput, FaultName } from "../../src/simulator/faults.ts";
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
const sendAll = () => client.send("status", "status/uptime", { entities: locationIds(sim), entityType: "location" });
async function frames(count: number) {
  sendAll();
  return Promise.all(Array.from({ length: count }, () => client.next()));
}

describe("connections", () => {
  test("drop_sockets cuts the open ones at once and later ones at their next request", async () => {
    const cut = once(client.ws, "close");
    sim.faults.set("drop_sockets", {});
    expect((await cut)[0]).toBe(1006);
    client = await connect(sim);
    const again = once(client.ws, "close");
    sendAll();
    await again;
  });

  test("drop_sockets can give a close code, and be meant once", async () => {
    const cut = once(client.ws, "close");
    sim.faults.set("drop_sockets", { code: 1012, times: 1 });
    expect((await cut)[0]).toBe(1012);
    client = await connect(sim);
    expect(await all()).toHaveLength(12);
  });

  test("half_open reads and sends nothing, neither reply nor pong, and ends in a cut", async () => {
    const silence: string[] = [];
    client.ws.on("message", () => silence.push("message"));
    client.ws.on("pong", () => silence.push("pong"));
    sim.faults.set("half_open", {});
    const heard = once(sim.events, "request");
    client.ws.ping();
    sendAll();
    expect((await heard)[0]).toMatchObject({ endpoint: "status/uptime", outcome: "ignored" });
    const later = await connect(sim);
    later.ws.on("pong", () => silence.push("pong"));
    later.ws.ping();
    const heardToo = once(sim.events, "request");
    later.send("status", "status/uptime", { entities: [], entityType: "location" });
    expect((await heardToo)[0]).toMatchObject({ outcome: "ignored" });
    const cuts = Promise.all([once(client.ws, "close"), once(later.ws, "close")]);
    sim.faults.clear("half_open");
    await cuts;
    expect(silence).toEqual([]);
  });

  test("no_reply leaves one request unanswered and serves the next", async () => {
    sim.faults.set("no_reply", { times: 1 });
    sendAll();
    client.send("status", "status/uptime", { entities: [], entityType: "location" }, "second");
    expect((await client.next()).id).toBe("second");
  });

  test("a ping is answered as long as nothing is wrong", async () => {
    client.ws.ping("hello");
    expect(String((await once(client.ws, "pong"))[0])).toBe("hello");
  });

  test("slow holds back the routes it names and no other", async () => {
    sim.faults.set("slow", { ms: 40, endpoint: "status/uptime" });
    sendAll();
    client.send(
      "detail",
      "detail/list",
      { entities: [], entityType: "location", returnEntityType: "area_context" },
      "quick",
    );
    expect([(await client.next()).id, (await client.next()).id]).toEqual(["quick", "r1"]);
  });
});

describe("frames", () => {
  type Kind = NonNullable<FaultInput<"garbage_frames">["kind"]>;
  test.each<[Kind, RegExp]>([
    ["no_pipes", /^[^|]*$/],
    ["bad_json", /^r1\|0\|0\|\[\{"recording_id":"5$/],
    ["unknown_id", /^nobody-asked-this\|0\|0\|\[\]$/],
    ["bad_numbers", /^r1\|one\|-1\|\[\]$/],
  ])("garbage_frames of kind %s", async (kind, raw) => {
    sim.faults.set("garbage_frames", { kind });
    const [frame] = await frames(1);
    expect(frame?.raw).toMatch(raw);
  });

  test("garbage_frames of kind binary", async () => {
    sim.faults.set("garbage_frames", { kind: "binary" });
    sendAll();
    const [, isBinary] = await once(client.ws, "message");
    expect(isBinary).toBe(true);
  });

  test.each([0, 1] as const)("multi_part cuts the text in parts counted from %i", async (base) => {
    const whole = await all();
    sim.faults.set("multi_part", { parts: 4, base });
    const parts = await frames(4);
    expect(parts.map(({ n, m }) => `${n}/${m}`)).toEqual([0, 1, 2, 3].map((i) => `${i + base}/4`));
    expect(JSON.parse(parts.map(({ text }) => text).join(""))).toEqual(whole);
    expect(() => JSON.parse(parts[0]?.text ?? "")).toThrow();
  });

  test("multi_part can send JSON arrays of their own, last first", async () => {
    const whole = await all();
    sim.faults.set("multi_part", { parts: 3, split: "arrays", reversed: true });
    const parts = await frames(3);
    expect(parts.map(({ n }) => n)).toEqual(["3", "2", "1"]);
    expect(parts.reverse().flatMap(({ text }) => JSON.parse(text))).toEqual(whole);
  });

  test("multi_part can lose the last part", async () => {
    sim.faults.set("multi_part", { parts: 2, lose_last: true, times: 1 });
    sendAll();
    client.send("status", "status/uptime", { entities: [], entityType: "location" }, "after");
    expect([await client.next(), await client.next()].map(({ id, n, m }) => [id, n, m])).toEqual([
      ["r1", "1", "2"],
      ["after", "0", "0"],
    ]);
  });

  test("duplicate_frames sends each frame again", async () => {
    sim.faults.set("duplicate_frames", { copies: 3 });
    const same = await frames(3);
    expect(new Set(same.map(({ raw }) => raw)).size).toBe(1);
  });

  test.each(["error", "errors"] as const)("error_payload is an object with %s in place of the rows", async (key) => {
    sim.faults.set("error_payload", { key, message: "no", endpoint: "status/uptime" });
    const [frame] = await frames(1);
    expect(frame?.raw).toBe(`r1|0|0|{"${key}":{"message":"no"}}`);
  });
});

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
    ["extra_fields", {}, [1, null], (rows) => (rows[0] as unknown as { nested: { deep: unknown } }).nested.deep],
    ["null_quality", {}, [null], (rows) => [...new Set(rows.map((row) => row.average_quality))]],
    ["no_location_id", {}, false, (rows) => rows.some((row) => "location_id" in row)],
    [
      "no_zone_suffix",
      { every: 2 },
      [false, true, false],
      (rows) => rows.slice(0, 3).map((row) => row.last_seen_utc.endsWith("Z")),
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
    sim.faults.set("null_quality", { every: 2 });
    sim.faults.set("missing_rows", { every: 4 });
    const rows = await all();
    expect(rows).toHaveLength(9);
    expect(rows.filter((row) => row.average_quality === null)).toHaveLength(3);
  });
});
